"""What files held when the agent was done with them, so that nobody else's work is taken for the agent's."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path


class LeftAs:
    """Of one session, on disk: the last word about a path counts. Blocks; raises OSError only where it writes."""

    def __init__(self, index: Path, largest: int) -> None:
        self._index = index
        self._largest = largest
        self._known: dict[str, str] | None = None

    def note(self, paths: Iterable[str]) -> None:
        """The agent changed these, and is done."""
        known = self._load()
        now = {path: self._digest(path) for path in paths}
        fresh = {path: digest for path, digest in now.items() if known.get(path, "") != digest}
        if fresh:
            known |= fresh
            self._write("".join(json.dumps(item) + "\n" for item in fresh.items()))

    def forget(self) -> None:
        """A call was cut short: what it changed nobody knows."""
        if self._load():
            self._load().clear()
            self._write(json.dumps(["", ""]) + "\n")

    def differs(self, path: str) -> bool:
        """Whether somebody else changed the file since. False where that is not known."""
        left = self._load().get(path, "")
        return bool(left) and self._digest(path) != left

    def _load(self) -> dict[str, str]:
        if self._known is None:
            self._known = {}
            for path, digest in self._lines():
                if path:
                    self._known[path] = digest
                else:
                    self._known.clear()
        return self._known

    def _lines(self) -> Iterator[tuple[str, str]]:
        """Of an index that was cut, what can be read."""
        with contextlib.suppress(OSError):
            for line in self._index.read_text("utf-8", "surrogateescape").splitlines():
                with contextlib.suppress(ValueError, TypeError):
                    path, digest = json.loads(line)
                    yield path, digest

    def _write(self, text: str) -> None:
        with self._index.open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)

    def _digest(self, path: str) -> str:
        """Empty for what cannot be told: directories, and what is too large to be kept anyway."""
        try:
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                return f"link {Path(path).readlink()}"
            if not stat.S_ISREG(status.st_mode) or status.st_size > self._largest:
                return ""
            return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()
        except (FileNotFoundError, NotADirectoryError):
            return "absent"
        except OSError:
            return ""

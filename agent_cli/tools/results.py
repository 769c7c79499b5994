"""Whole results that were too long for the conversation: one file for each call, in the session's own directory."""

from __future__ import annotations

import os
import re
from pathlib import Path

LARGEST = 10_000_000
"""Bytes of one file; what is beyond is lost."""
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Results:
    """`directory` is made when something is kept; only its owner can look into it."""

    def __init__(self, directory: Path) -> None:
        self.directory = Path(os.path.realpath(directory))

    def keep(self, call_id: str, text: str) -> str:
        """Writes the result of that call; its path, "" where it cannot be written."""
        path = self.path_of(call_id)
        raw = text.encode(errors="replace")[:LARGEST]
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.directory.parent.chmod(0o700)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                file.write(raw)
        except OSError:
            return ""
        return str(path)

    def path_of(self, call_id: str) -> Path:
        """Services choose the ids: one that is no plain name becomes one."""
        if _PLAIN.fullmatch(call_id):
            return self.directory / f"{call_id}.txt"
        from hashlib import sha256

        return self.directory / f"{sha256(call_id.encode(errors='replace')).hexdigest()[:32]}.txt"

    def names(self) -> list[str]:
        """The calls of which there is one, newest first."""
        try:
            with os.scandir(self.directory) as found:
                files = sorted(found, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
        except OSError:
            return []
        return [entry.name.removesuffix(".txt") for entry in files]

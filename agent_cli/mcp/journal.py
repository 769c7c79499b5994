"""What a server says on its standard error: in a file that stays small, and its last lines in memory."""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

LARGEST = 1_000_000
"""Bytes of a file; then it begins anew."""
LAST = 20
LONGEST = 2_000
"""Characters of one line."""


class Journal:
    """`file` is "" where nothing is to be on disk. Nothing of it ever raises."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._rest = b""
        self._lines: deque[str] = deque(maxlen=LAST)

    @property
    def last(self) -> str:
        """The last line that says something, "" for none."""
        return next((line for line in reversed(self._lines) if line.strip()), "")

    def feed(self, data: bytes) -> None:
        """Bytes as they come."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            self.note(line.decode("utf-8", "replace"))

    def note(self, line: str) -> None:
        plain = "".join(char if char.isprintable() or char == "\t" else "?" for char in line.rstrip("\r"))[
            :LONGEST
        ]
        self._lines.append(plain)
        if self._file:
            with suppress(OSError):
                self._write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {plain}\n")

    def _write(self, line: str) -> None:
        path = Path(self._file)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        large = path.exists() and path.stat().st_size > LARGEST
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if large else os.O_APPEND)
        with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8", errors="replace") as out:
            out.write(line)

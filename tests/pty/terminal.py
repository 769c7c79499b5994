"""The installed command in a real pseudo-terminal, read through a terminal emulator."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import pexpect
import pyte

WAIT = 20.0


class Terminal:
    """`screen` is what a person would see. Waiting is for what appears, never for time."""

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        env: dict[str, str],
        columns: int = 80,
        rows: int = 24,
        program: list[str] | None = None,
    ) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        command = program or [sys.executable, "-m", "agent_cli"]
        self.child = pexpect.spawn(
            command[0],
            [*command[1:], *arguments],
            cwd=str(cwd),
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **env},
            dimensions=(rows, columns),
            timeout=WAIT,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.child.close(force=True)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def _read(self, seconds: float) -> bool:
        try:
            chunk = self.child.read_nonblocking(65_536, seconds)
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            return False
        self.raw += chunk
        self._stream.feed(chunk)
        return True

    def until(self, seen: str | Callable[[str], bool]) -> str:
        """Reads until the screen shows that; returns the screen."""
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            if seen in self.text if isinstance(seen, str) else seen(self.text):
                return self.text
            if not self._read(0.05) and not self.child.isalive():
                self._read(0.05)
                break
        if seen in self.text if isinstance(seen, str) else seen(self.text):
            return self.text
        raise AssertionError(f"never seen: {seen!r}; the screen is\n{self.text}")

    def rest(self, seconds: float = 0.4) -> None:
        """Reads until nothing has come for that long, as a person looks before the next key."""
        while self._read(seconds):
            pass

    def type(self, text: str) -> None:
        self.child.send(text)

    def line(self, text: str) -> None:
        self.child.send(text + "\r")

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def ended(self) -> int:
        """Waits for the end; returns the exit code (128 + signal where one killed it)."""
        deadline = time.monotonic() + WAIT
        while self.child.isalive() and time.monotonic() < deadline:
            self._read(0.05)
        while self._read(0.05):
            pass
        self.child.close()
        return (
            self.child.exitstatus
            if self.child.exitstatus is not None
            else 128 + (self.child.signalstatus or 0)
        )

"""A program on a real pseudo-terminal: keys in, bytes out, each with its time."""

from __future__ import annotations

import os
import re
import select
import signal
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from bench import MEGABYTE, BenchmarkFailed

SIZE = (30, 100)
GLYPHS = [chr(code) for code in range(0x0400, 0x0500) if chr(code).isalpha() and code != 0x0482]
"""Letters that nothing else on the screen is written with, so that one of them in the output is a key's echo."""

ASKED = {
    re.compile(rb"\x1b\[\?2026\$p"): b"\x1b[?2026;2$y",
    re.compile(rb"\x1b\[6n"): b"\x1b[1;1R",
    re.compile(rb"\x1b\[c"): b"\x1b[?62;22c",
}
"""What programs ask a terminal, and what one answers that can do synchronized output."""


class Terminal:
    """The terminal itself echoes nothing. `began` is the moment of exec on the clock of `time.monotonic`."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.written = bytearray()
        self.began = time.monotonic()
        self.pid, self._fd = os.forkpty()
        if self.pid == 0:
            try:
                _quiet()
                os.chdir(cwd)
                os.execvpe(command[0], list(command), dict(env))
            finally:
                os._exit(127)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        os.close(self._fd)
        os.waitpid(self.pid, 0)

    def press(self, keys: str) -> float:
        """When it was pressed."""
        now = time.monotonic()
        os.write(self._fd, keys.encode())
        return now

    def read(self, seconds: float) -> bool:
        """Takes what comes within that time, at once when something is there. False where nothing came."""
        ready, _, _ = select.select([self._fd], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError as problem:
            raise BenchmarkFailed(f"the program ended:\n{self.tail()}") from problem
        self.written += data
        for question, answer in ASKED.items():
            for _ in question.findall(data):
                os.write(self._fd, answer)
        return True

    def drain(self, seconds: float) -> None:
        """Reads for that long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.read(left)

    def await_text(self, text: str, *, since: int = 0, timeout: float = 30.0) -> float:
        """When it was written to the screen, after that many bytes. Raises BenchmarkFailed."""
        wanted, until = text.encode(), time.monotonic() + timeout
        while wanted not in self.written[since:]:
            if time.monotonic() > until:
                raise BenchmarkFailed(f"'{text}' did not show within {timeout:g} s:\n{self.tail()}")
            self.read(0.5)
        return time.monotonic()

    def await_output(self) -> float:
        """When the first byte came."""
        until = time.monotonic() + 30
        while not self.written:
            if time.monotonic() > until:
                raise BenchmarkFailed("the program wrote nothing within 30 s")
            self.read(0.5)
        return time.monotonic()

    def await_key(self, *, timeout: float = 30.0) -> float:
        """When the first of the keys shows that are pressed every 20 ms from the first output on.

        All are taken back then.
        """
        until = self.await_output() + timeout
        pressed = 0
        while time.monotonic() < until:
            self.press(GLYPHS[pressed % len(GLYPHS)])
            pressed += 1
            self.drain(0.02)
            if any(glyph.encode() in self.written for glyph in GLYPHS):
                shown = time.monotonic()
                self.press("\x7f" * pressed)
                return shown
        raise BenchmarkFailed(f"no key was taken:\n{self.tail()}")

    def cpu(self) -> float:
        """Seconds of processor time so far, in ticks of 10 ms."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Resident, in MB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024 / MEGABYTE

    def tail(self) -> str:
        return re.sub(
            r"\x1b[\[\]()?=><][0-9;:?$ ]*[a-zA-Z@`]?", " ", self.written[-3000:].decode("utf-8", "replace")
        )


def _quiet() -> None:
    """The terminal's size, and no echo of its own that would pass for the program's."""
    termios.tcsetwinsize(0, SIZE)
    settings = termios.tcgetattr(0)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, settings)

"""The output of a program: head and tail in bounded memory, plain text without terminal codes."""

from __future__ import annotations

import asyncio
import codecs
import re

from agent_cli.ports import Say

KEPT = 512_000
"""Bytes kept of the head, and as many of the tail."""
_PERIOD = 0.1
_LIVE = 8_000
_CODES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Capture:
    """Takes bytes as they come; `text` is what the model reads of them."""

    def __init__(self, kept: int = KEPT) -> None:
        self.total = 0
        self._kept = kept
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._kept - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        if len(self._tail) > 2 * self._kept:
            del self._tail[: -self._kept]

    def text(self) -> str:
        tail = self._tail[-self._kept :]
        left_out = self.total - len(self._head) - len(tail)
        if left_out <= 0:
            return plain((self._head + tail).decode(errors="replace"))
        head, rest = self._head.decode(errors="replace"), tail.decode(errors="replace")
        return f"{plain(head)}\n[… {left_out:,} of {self.total:,} bytes left out here …]\n{plain(rest)}"


def plain(text: str) -> str:
    """Without colours and other codes; of a line that was drawn over, the last state."""
    if "\x1b" in text:
        text = _CODES.sub("", text)
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", text)


class Live:
    """Shows output while it comes, at most ten times a second and a bounded piece at a time."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._waiting = ""
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def add(self, chunk: bytes) -> None:
        self._waiting = (self._waiting + self._decode(chunk[-_LIVE:]))[-_LIVE:]
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        wait = self._next - loop.time()
        if wait <= 0:
            self._flush()
        else:
            self._timer = loop.call_later(wait, self._flush)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._waiting:
            self._flush()

    def _flush(self) -> None:
        self._timer = None
        self._next = asyncio.get_running_loop().time() + _PERIOD
        text, self._waiting = plain(self._waiting), ""
        if text:
            self._say(text)

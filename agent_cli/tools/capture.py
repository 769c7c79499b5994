"""The output of a program: all of it up to a bound, in bounded memory; plain text without terminal codes.

Output that is no text is described.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import re
from typing import IO

from agent_cli.ports import Say
from agent_cli.tools.kinds import binary_kind
from agent_cli.tools.text import form_of

KEPT = 512_000
"""Bytes kept of the head, and as many of the tail."""
WHOLE = 9_900_000
"""Bytes of an output that is kept whole: a little less than what the file of a result holds."""
_PERIOD = 0.1
_LIVE = 8_000
_CODES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SAMPLE = 65_536
_FEW = 50
"""One byte in so many, of control codes and of bytes that are no UTF-8 each, is more than text in any encoding has."""
_SOME = 4
_NEVER_TEXT = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27})


class Capture:
    """Takes bytes as they come; `text` is what the model reads of them, `close` lets go of them.

    `kept` bytes of the head and as many of the tail stay in memory; between them up to `beyond` bytes wait in a file
    that has no name. Where no file can be written, they are left out.
    """

    def __init__(self, kept: int = KEPT, beyond: int = 0) -> None:
        self.total = 0
        self._kept = kept
        self._head = bytearray()
        self._tail = bytearray()
        self._room = beyond
        self._file: IO[bytes] | None = None

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._kept - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        if len(self._tail) > 2 * self._kept:
            self._put_by(bytes(self._tail[: -self._kept]))
            del self._tail[: -self._kept]

    def text(self) -> str:
        tail = self._tail[-self._kept :]
        self._put_by(bytes(self._tail[: -self._kept]))
        self._tail = tail
        if _is_binary(bytes(self._head[:_SAMPLE])):
            return f"[{binary_kind(bytes(self._head[:32]))}, {self.total:,} bytes; no text to show]"
        head = self._head + self._middle()
        left_out = self.total - len(head) - len(tail)
        if left_out <= 0:
            return plain((head + tail).decode(errors="replace"))
        first, rest = head.decode(errors="replace"), tail.decode(errors="replace")
        return f"{plain(first)}\n[… {left_out:,} of {self.total:,} bytes left out here …]\n{plain(rest)}"

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._room = 0

    def _put_by(self, piece: bytes) -> None:
        """Behind the head, as far as there is room."""
        piece = piece[: self._room]
        if not piece:
            return
        import tempfile  # only what is too long needs it, and it costs every start 2 ms

        try:
            self._file = self._file or tempfile.TemporaryFile(prefix="agent-cli-")  # noqa: SIM115 - closed by close
            self._file.write(piece)
            self._room -= len(piece)
        except OSError:
            self._room = 0  # what is written stands; nothing may come behind a gap

    def _middle(self) -> bytes:
        if self._file is None:
            return b""
        with contextlib.suppress(OSError):
            self._file.seek(0)
            return self._file.read()
        return b""


def _is_binary(sample: bytes) -> bool:
    """Whether both control codes and bytes that are no UTF-8 are frequent: an older encoding has only the latter."""
    codes = len(sample) - len(sample.translate(None, _NEVER_TEXT))
    if codes < _SOME or codes * _FEW <= len(sample) or form_of(sample) is not None:
        return False
    return sample.decode(errors="replace").count("\ufffd") * _FEW > len(sample)


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

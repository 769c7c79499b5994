"""The lines that come in on a descriptor, handed to the event loop one by one."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress

LONGEST = 10_000_000
"""Bytes of one line; a longer one is told as an empty line would be: it cannot be read."""


class Lines:
    """`take` gets the number of each line and its bytes, None of one that is too long; `over` is called once, at the end."""

    def __init__(
        self, take: Callable[[int, bytes | None], None], over: Callable[[], None], descriptor: int = 0
    ) -> None:
        self._take = take
        self._over = over
        self._descriptor = descriptor
        self._held = bytearray()
        self._number = 0
        self._skipping = False

    def start(self) -> None:
        """Reads in a thread: a descriptor may be a file or a terminal, which no event loop watches everywhere."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True).start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            with suppress(OSError):
                while chunk := os.read(self._descriptor, 1 << 16):
                    self._split(chunk, loop)
            if self._held:
                self._split(b"\n", loop)
            loop.call_soon_threadsafe(self._over)

    def _split(self, chunk: bytes, loop: asyncio.AbstractEventLoop) -> None:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._held += piece
            self._hand_over(loop)
        self._held += rest
        if len(self._held) > LONGEST:
            self._held.clear()
            self._skipping = True

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        self._number += 1
        line = bytes(self._held).strip()
        too_long = self._skipping or len(line) > LONGEST
        self._held.clear()
        self._skipping = False
        if line or too_long:
            loop.call_soon_threadsafe(self._take, self._number, None if too_long else line)

"""A standard stream that is never allowed to stop the run: its reader may be slow, or go away.

Writing waits for nothing. What a slow reader has not taken yet is kept and handed over as it reads.
"""

from __future__ import annotations

import asyncio
import os
import select

ATOMIC = 4096
"""A pipe that reports room takes this many bytes without blocking."""


class Stream:
    """`failure` is set once the descriptor takes no more; writing is silent from then on.

    A BrokenPipeError there means that the reader went away; anything else that output was lost.
    """

    def __init__(self, descriptor: int) -> None:
        self.terminal = os.isatty(descriptor)
        self.failure: OSError | None = None
        self._descriptor = descriptor
        self._left = bytearray()
        self._room = select.poll() if hasattr(select, "poll") else None
        if self._room is not None:
            self._room.register(descriptor, select.POLLOUT)
        self._watching: asyncio.AbstractEventLoop | None = None
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def gone(self) -> bool:
        """The reader closed its end."""
        return isinstance(self.failure, BrokenPipeError)

    def write(self, text: str | bytes) -> None:
        if self.failure is None:
            self._left += text if isinstance(text, bytes) else text.encode("utf-8", "replace")
            self._push()

    async def drained(self) -> None:
        """Returns when everything was taken, or nothing more will be."""
        await self._empty.wait()

    def _push(self) -> None:
        """Hands over what fits. Outside of an event loop it waits for the reader, as any program does."""
        loop = _running_loop()
        while self._left and self.failure is None:
            if self._room is not None and not self._room.poll(None if loop is None else 0):
                break
            try:
                taken = os.write(self._descriptor, self._left[:ATOMIC])
            except BlockingIOError:
                break
            except OSError as problem:
                self.failure = problem
                self._left.clear()
            else:
                del self._left[:taken]
        self._settle(loop)

    def _settle(self, loop: asyncio.AbstractEventLoop | None) -> None:
        if self._left and loop is not None:
            self._empty.clear()
            if self._watching is None:
                loop.add_writer(self._descriptor, self._push)
                self._watching = loop
            return
        if self._watching is not None:
            self._watching.remove_writer(self._descriptor)
            self._watching = None
        self._empty.set()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None

"""One wall-clock deadline a turn, over retries; time spent waiting for a person is not counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext

from agent_cli.ports import Clock


class Deadline:
    """Calls `expire` once, `seconds` after `start`, pauses excluded. What is paused here is paused `above`, too."""

    def __init__(
        self, clock: Clock, seconds: float | None, expire: Callable[[], None], above: Deadline | None = None
    ) -> None:
        self._above = above
        self._clock = clock
        self._left = seconds
        self._expire = expire
        self._since = 0.0
        self._timer: asyncio.Task[None] | None = None
        self._pauses = 0

    def start(self) -> None:
        if self._left is None:
            return
        self._since = self._clock.monotonic()
        self._timer = asyncio.create_task(self._run(self._left))

    def stop(self) -> None:
        if self._timer is not None and self._left is not None:
            self._timer.cancel()
            self._timer = None
            self._left = max(0.0, self._left - (self._clock.monotonic() - self._since))

    @contextmanager
    def paused(self) -> Generator[None]:
        with self._above.paused() if self._above else nullcontext():
            yield from self._paused()

    def _paused(self) -> Generator[None]:
        self._pauses += 1
        if self._pauses == 1:
            self.stop()
        try:
            yield
        finally:
            self._pauses -= 1
            if self._pauses == 0:
                self.start()

    async def _run(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._timer = None
        self._expire()

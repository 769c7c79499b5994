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
        self._used = 0.0
        self._running = False

    @property
    def used(self) -> float:
        """Seconds since the first start, pauses excluded."""
        running = self._clock.monotonic() - self._since if self._running else 0.0
        return self._used + running

    def start(self) -> None:
        self._since, self._running = self._clock.monotonic(), True
        if self._left is None:
            return
        self._timer = asyncio.create_task(self._run(self._left))

    def stop(self) -> None:
        passed = self._clock.monotonic() - self._since if self._running else 0.0
        self._used, self._running = self._used + passed, False
        if self._timer is not None and self._left is not None:
            self._timer.cancel()
            self._timer = None
            self._left = max(0.0, self._left - passed)

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
        """What kept it from beginning counts, too."""
        await self._clock.sleep(max(0.0, seconds - (self._clock.monotonic() - self._since)))
        self._timer = None
        self._expire()

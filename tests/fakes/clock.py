"""A clock that a test moves."""

from __future__ import annotations

import asyncio
import heapq
import itertools


class FakeClock:
    """Time stands until `advance`; sleepers wake in the order of their deadlines."""

    def __init__(self, now: float = 1_796_000_000.0) -> None:
        self._start = now
        self._passed = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = itertools.count()
        self.slept: list[float] = []

    def now(self) -> float:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed

    @property
    def waiting(self) -> int:
        """Sleepers that time would wake."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def sleep(self, seconds: float, /) -> None:
        self.slept.append(seconds)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._passed + seconds, next(self._count), future))
        await future

    async def advance(self, seconds: float) -> None:
        """Moves time on and lets everything that waited run."""
        self._passed += seconds
        while self._sleepers and self._sleepers[0][0] <= self._passed:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)
        await settle()


async def settle(rounds: int = 20) -> None:
    """Lets all tasks that can run do so."""
    for _ in range(rounds):
        await asyncio.sleep(0)


class InstantClock(FakeClock):
    """Every sleep is over at once; the time it would have taken passes."""

    async def sleep(self, seconds: float, /) -> None:
        self.slept.append(seconds)
        self._passed += seconds
        await asyncio.sleep(0)

"""The agents that run now, as everybody in the run's tree knows them."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Protocol


class Hand(Protocol):
    """One of them. `why` says why it is stopped, "" where the operator stops it."""

    why: str

    @property
    def label(self) -> str: ...


class Crew:
    """`running` are all of them by what they are called, `beside` the tasks of those that nobody waits for."""

    def __init__(self) -> None:
        self.running: dict[str, Hand] = {}
        self._beside: dict[str, asyncio.Task[Any]] = {}
        self.starting = 0
        self._number = 0

    def number(self, past: int) -> int:
        """One that no other has; `past` are those that the session had."""
        self._number = max(self._number, past) + 1
        return self._number

    @contextmanager
    def about_to_start(self) -> Generator[None]:
        """It counts before it has begun."""
        self.starting += 1
        try:
            yield
        finally:
            self.starting -= 1

    def tasks(self) -> list[asyncio.Task[Any]]:
        return list(self._beside.values())

    @contextmanager
    def at_work(self, hand: Hand) -> Generator[None]:
        """Somebody waits for it as long as that lasts."""
        self.running[hand.label] = hand
        try:
            yield
        finally:
            self.running.pop(hand.label, None)

    def start(self, hand: Hand, task: asyncio.Task[Any]) -> None:
        """It runs from now on in that task, beside everything else."""
        name = hand.label
        self.running[name], self._beside[name] = hand, task
        task.add_done_callback(lambda done: self._over(name))

    def task(self, name: str) -> asyncio.Task[Any] | None:
        """Of one that runs beside."""
        return self._beside.get(name)

    def stop(self, name: str, why: str = "") -> asyncio.Task[Any] | None:
        """Cancels one that runs beside; None where there is none of that name."""
        task, hand = self._beside.get(name), self.running.get(name)
        if task is None or hand is None:
            return None
        hand.why = hand.why or why
        # a task that was cancelled before its first step would never say that it ended
        asyncio.get_running_loop().call_soon(task.cancel)
        return task

    def stop_all(self, why: str = "") -> None:
        for name in list(self._beside):
            self.stop(name, why)

    async def close(self) -> None:
        """Stops those that run beside, and waits until they have said what they had."""
        self.stop_all()
        await asyncio.gather(*self.tasks(), return_exceptions=True)

    def _over(self, name: str) -> None:
        self._beside.pop(name, None)
        self.running.pop(name, None)

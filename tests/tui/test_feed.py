"""Events are applied as they come and shown a few times a second."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable

import pytest

from agent_cli.kernel import events as ev
from agent_cli.tui.feed import INTERVAL, Feed, Rate


class Clockwork:
    """Timers that a test fires."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.drawn = 0
        self.applied: list[ev.Event] = []
        self.feed = Feed(self.later, lambda act: act(), self.applied.append, self.draw)

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        self.timers.append((seconds, act))

    def draw(self) -> None:
        self.drawn += 1

    def fire(self) -> None:
        timers, self.timers = self.timers, []
        for _, act in timers:
            act()


async def words(count: int) -> AsyncIterator[ev.Event]:
    for number in range(count):
        yield ev.TextDelta(f"{number} ")


async def test_many_events_are_one_frame():
    work = Clockwork()
    await work.feed.follow(words(2_000))
    assert len(work.applied) == 2_000
    assert len(work.timers) == 1
    work.fire()
    assert (work.drawn, work.timers) == (1, [])


async def test_the_first_is_shown_at_once_and_the_next_after_a_pause():
    work = Clockwork()
    work.feed.wake()
    assert work.timers[0][0] < 0.01
    work.fire()
    work.feed.wake()
    assert INTERVAL * 0.5 < work.timers[0][0] <= INTERVAL


async def test_a_slow_frame_is_followed_by_a_long_pause():
    work = Clockwork()
    work.feed.wake()
    work.fire()
    work.feed.cost = 0.03
    work.feed.wake()
    assert work.timers[0][0] > 0.2
    work.feed.cost = 10.0
    work.fire()
    work.feed.cost = 10.0
    work.feed.wake()
    assert work.timers[0][0] <= 0.5


async def test_a_long_backlog_lets_keys_through(monkeypatch: pytest.MonkeyPatch):
    work = Clockwork()
    time = itertools.count(0.0, 0.001)
    monkeypatch.setattr("agent_cli.tui.feed.monotonic", lambda: next(time))
    turns = 0

    async def keys() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(keys())
    await work.feed.follow(words(1_000))
    task.cancel()
    assert 20 < turns < 60


def test_the_rate_is_what_came_lately():
    rate = Rate()
    assert rate.mark(0.0, 0) == 0
    assert rate.mark(1.0, 400) == 100
    assert rate.mark(2.0, 800) == 100
    for second in range(3, 9):
        last = rate.mark(float(second), 800)
    assert last == 0

"""The wall clock of a turn."""

from __future__ import annotations

from agent_cli.engine.deadline import Deadline
from tests.fakes.clock import FakeClock, settle


async def test_what_kept_the_timer_from_beginning_counts_too():
    """Something blocked everything right behind the start, as the first import of a service's library does."""
    clock, expired = FakeClock(), list[float]()
    deadline = Deadline(clock, 3.0, lambda: expired.append(clock.monotonic()))
    deadline.start()
    clock._passed += 1.0
    await settle()
    await clock.advance(1.5)
    assert expired == []
    await clock.advance(0.5)
    assert expired == [3.0]

"""Silence is told once a step, and only where it is silence."""

from __future__ import annotations

import asyncio

from agent_cli.headless.patience import Patience
from agent_cli.kernel import events as ev

STEP = ev.Entry("s", 1, 0.0, 1, 1, ev.StepStarted("m"))


async def test_a_step_that_does_not_begin_is_told_with_its_model():
    told: asyncio.Queue[str] = asyncio.Queue()
    Patience(told.put_nowait, 0.0).feed(STEP)
    assert await asyncio.wait_for(told.get(), 5) == "waiting for m …"


async def test_whatever_comes_ends_the_silence():
    told: list[str] = []
    patience = Patience(told.append, 0.0)
    patience.feed(STEP)
    patience.feed(ev.TextDelta("x"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert told == []

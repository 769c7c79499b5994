"""While nothing moves, nothing wakes: counted, not timed."""

from __future__ import annotations

import asyncio

from agent_cli.engine.clock import SystemClock
from agent_cli.kernel.switching import KillSwitch
from tests.fakes.models import Playing, says
from tests.fakes.screen import comes_to_rest, nothing_wakes, screen, sees, shown, strike
from tests.fakes.sessions import open_session


class Board:
    """Switches as somebody else turns them."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    def __call__(self) -> tuple[KillSwitch, ...]:
        return tuple(KillSwitch(scope, "an incident", "ann", 5.0) for scope in self.scopes)


async def test_no_timer_runs_before_the_first_message_nor_after_a_turn():
    session = open_session(Playing(says("hello")), clock=SystemClock(), switches=Board())
    async with screen(session) as (app, pilot):
        await comes_to_rest()
        strike(app, "hi")
        await pilot.press("enter")
        await sees(pilot, "── done")
        await comes_to_rest()
        frames = app.conversation.feed.frames
        assert await nothing_wakes()
        assert app.conversation.feed.frames == frames


async def test_a_timer_at_rest_would_be_seen():
    async with screen() as (app, _pilot):
        await comes_to_rest()
        app.set_interval(0.02, lambda: None)
        await asyncio.sleep(0)
        assert not await nothing_wakes()


async def test_a_switch_that_was_turned_at_rest_is_shown_with_the_next_key_and_holds_for_the_next_message():
    board = Board()
    provider = Playing(says("one"), says("two"))
    session = open_session(provider, clock=SystemClock(), switches=board)
    async with screen(session) as (app, pilot):
        strike(app, "hi")
        await pilot.press("enter")
        await sees(pilot, "── done")
        await sees(pilot, "○ ready")
        board.scopes = ["all"]
        strike(app, "go")
        await sees(pilot, "■ halted")
        await sees(pilot, "by ann: an incident")
        await pilot.press("enter")
        await sees(pilot, "↳ go")
        board.scopes = []
        await sees(pilot, "two")
        await sees(pilot, "○ ready")
        assert "■ halted" not in shown(app)
        assert len(provider.asked) == 2

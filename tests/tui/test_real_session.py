"""The screen on the real engine, with a provider that plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from agent_cli.kernel.errors import AuthFailed, Overloaded
from agent_cli.kernel.events import Finished, Piece, TextDelta, ToolReturned
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text, text_of
from agent_cli.kernel.usage import Usage
from agent_cli.permissions.book import judge
from agent_cli.ports import Facts
from agent_cli.tui import grace
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.screen import screen, sees, shown, strike, until
from tests.fakes.sessions import ask_writes, open_session
from tests.fakes.tools import FakeTool
from tests.tui.samples import MARKDOWN


async def test_a_question_and_an_answer():
    session = open_session(Playing(says(MARKDOWN)))
    async with screen(session, size=(100, 60)) as (app, pilot):
        strike(app, "hi")
        await pilot.press("enter")
        await sees(pilot, "── done")
        await sees(pilot, "a paragraph in the nested one")
        await sees(pilot, "○ ready")


async def test_a_call_is_asked_for_answered_and_shown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grace, "QUIET", 0.0)
    log = ListLog()
    provider = Playing(wants(("write", {"path": "a.py"}), text="I write it."), says("Written."))
    session = open_session(provider, FakeTool("write", read_only=False), log=log, judge=ask_writes)
    async with screen(session) as (app, pilot):
        strike(app, "go")
        await pilot.press("enter")
        await sees(pilot, "write asks for permission")
        await pilot.press("y")
        await sees(pilot, "✓ write")
        await sees(pilot, "Written.")
        assert app.focused is app.conversation.composer
        results = [entry.event for entry in log.read() if isinstance(entry.event, ToolReturned)]
        assert [result.executed for result in results] == [True]


async def test_denying_with_a_message_reaches_the_model(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grace, "QUIET", 0.0)
    provider = Playing(wants(("write", {"path": "a.py"})), says("I see."))
    session = open_session(provider, FakeTool("write", read_only=False), judge=ask_writes)
    async with screen(session) as (app, pilot):
        strike(app, "go")
        await pilot.press("enter")
        await sees(pilot, "write asks for permission")
        await pilot.press("N")
        await sees(pilot, "why not?")
        strike(app, "not there")
        await pilot.press("enter")
        await sees(pilot, "✗ write")
        await sees(pilot, "I see.")
        assert "not there" in str(provider.asked[1].messages)


async def test_a_failed_attempt_leaves_no_text_behind():
    async def breaks(_provider: Playing) -> AsyncGenerator[Piece | Finished, None]:
        yield TextDelta("This will be lost")
        raise Overloaded("The service is overloaded.")

    session = open_session(Playing(breaks, says("All is well.")))
    async with screen(session) as (app, pilot):
        strike(app, "hi")
        await pilot.press("enter")
        await sees(pilot, "All is well.")
        await sees(pilot, "── done")
        assert "will be lost" not in shown(app)
        await sees(pilot, "The service is overloaded.")


async def test_a_refused_key_is_told():
    session = open_session(Playing(AuthFailed("The key was refused: check ANTHROPIC_API_KEY.", status=401)))
    async with screen(session) as (app, pilot):
        strike(app, "hi")
        await pilot.press("enter")
        await sees(pilot, "check ANTHROPIC_API_KEY")
        await sees(pilot, "○ ready")


async def test_escape_stops_a_turn_and_what_was_said_stays():
    held = asyncio.Event()

    async def slow(_provider: Playing) -> AsyncGenerator[Piece | Finished, None]:
        yield TextDelta("Half an ans")
        await held.wait()
        yield Finished((Text("Half an answer"),), Usage(input=1, output=1), "fake-1")

    session = open_session(Playing(slow))
    async with screen(session) as (app, pilot):
        strike(app, "hi")
        await pilot.press("enter")
        await sees(
            pilot, "Half an"
        )  # the last word is shown when it is over: it could be the beginning of a secret
        await pilot.press("escape")
        await sees(pilot, "── interrupted")
        await sees(pilot, "Half an ans")
        await until(pilot, lambda: not session.state.running)


async def test_messages_typed_meanwhile_steer_and_wait_in_sight():
    provider = Playing(says("One."), says("Two."), says("Three."))
    provider.hold = asyncio.Event()
    session = open_session(provider)
    async with screen(session) as (app, pilot):
        strike(app, "first")
        await pilot.press("enter")
        await sees(pilot, "One.")
        strike(app, "later")
        await pilot.press("alt+enter")
        await sees(pilot, "↳ later  after this turn")
        provider.hold.set()
        await sees(pilot, "▌ later")
        await sees(pilot, "Two.")
        await until(pilot, lambda: "↳" not in shown(app))
        assert text_of(provider.asked[1].messages[-1].parts) == "later"


async def test_a_resumed_session_shows_what_was():
    log = ListLog()
    session = open_session(Playing(says("The first answer.")), log=log)
    async with screen(session) as (app, pilot):
        strike(app, "hi")
        await pilot.press("enter")
        await sees(pilot, "── done")
        await pilot.press("ctrl+d")
        await until(pilot, lambda: app.return_value)
        assert app.return_value is not None
        assert app.return_value.session == session.id
    again = open_session(Playing(says("The second answer.")), log=log)
    async with screen(again) as (app, pilot):
        await sees(pilot, "The first answer.")
        strike(app, "more")
        await pilot.press("enter")
        await sees(pilot, "The second answer.")


async def test_a_model_nobody_knows_is_told():
    session = open_session(Playing())
    async with screen(session) as (app, pilot):
        app.conversation.composer.insert("/model nothing")
        await pilot.press("enter")
        await sees(pilot, "unknown model 'nothing'")


async def test_rules_that_are_typed_hold_from_the_next_call_on(monkeypatch: pytest.MonkeyPatch):
    """A call that is asked about, /allow for it, the same call without a question, /deny, and its refusal."""
    monkeypatch.setattr(grace, "QUIET", 0.0)
    write = wants(("write", {"path": "a.py"}))
    provider = Playing(write, says("One."), write, says("Two."), write, says("Three."))
    facts = Facts("ask", True, (("/p", "rw"),))
    session = open_session(provider, FakeTool("write", read_only=False), judge=judge, facts=facts)
    async with screen(session, size=(100, 40)) as (app, pilot):

        async def types(line: str, then: str) -> None:
            strike(app, line)
            await until(pilot, lambda: app.conversation.composer.text == line)
            await pilot.press("enter")
            await sees(pilot, then)

        await types("go", "write asks for permission")
        await pilot.press("n")
        await sees(pilot, "One.")
        await types("/allow write:*", "for this session: write:*")
        await types("again", "Two.")
        await types("/deny write", "deny rule, for this session: write")
        await types("and again", "Three.")
        assert "Refused (deny: write)" in str(provider.asked[-1].messages)
        await types("/deny wrte:x", "no tool wrte")
        await types("/permissions", "write:*")
        text = shown(app)
    executed = [
        entry.event.executed
        for entry in session.past(0, session.state.seq)
        if isinstance(entry.event, ToolReturned)
    ]
    assert executed == [False, True, False], text


async def test_a_halt_stays_on_the_screen_until_a_reset_that_adds_enough():
    dear = Usage(input=1_000, output=50_000)
    provider = Playing(wants(("read", {"path": "a"}), usage=dear), says("on it"))
    session = open_session(provider, FakeTool("read"), limits=Limits(max_session_cost=0.05))
    async with screen(session, size=(140, 50)) as (app, pilot):
        strike(app, "go")
        await pilot.press("enter")
        await sees(pilot, "■ The session is halted")
        await sees(pilot, "this session cost $0.1010, ceiling is $0.0500")
        strike(app, "are you there?")
        await pilot.press("enter")
        await sees(pilot, "after a reset")
        assert len(provider.asked) == 1
        strike(app, "/guardrail")
        await pilot.press("enter")
        await sees(pilot, "/guardrail reset cost_ceiling +0.06")
        await sees(pilot, "Reset what?")
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is app.conversation.composer)
        strike(app, "/guardrail reset")
        await pilot.press("enter")
        await sees(pilot, "Add at least $0.06")
        await sees(pilot, "■ The session is halted")
        strike(app, "/guardrail reset +0.06")
        await pilot.press("enter")
        await sees(pilot, "on it")
        await until(pilot, lambda: "■ The session is halted" not in shown(app))
        assert [part.text for part in provider.asked[-1].messages[-1].parts if isinstance(part, Text)] == ["are you there?"]  # fmt: skip

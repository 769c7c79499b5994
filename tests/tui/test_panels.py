"""Each panel at four widths, as text and as a picture: what opens it, and what it shows."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text
from agent_cli.talk.door import Sources
from agent_cli.tui.app import AgentApp
from tests.fakes.screen import WELCOME, comes_to_rest, pictured, screen, sees, shown, strike
from tests.fakes.session import NOON, FakeSession
from tests.tui.samples import asks, whole_turn
from tests.tui.test_app import Ways, keyless, todo
from tests.tui.test_project_commands import Desk
from tests.tui.test_sessions import Shelf

SIZES = [(40, 20), (80, 24), (120, 32), (200, 40)]
MODELS = ("anthropic/claude-sonnet-5", "google/gemini-3-pro", "openai/gpt-5.2", "scripted/scripted-1")
FILES = ("src/parser.py", "src/printer.py", "tests/test_parser.py", "docs/a page.md")


@dataclass
class Panel:
    """`keys` are pressed and `seen` waited for, by turns, in a session to which `before` happened."""

    steps: list[tuple[str, str]]
    before: Callable[[FakeSession], None] = whole_turn
    limits: Limits = field(default_factory=Limits)


def quiet(session: FakeSession) -> None:
    """Nothing was said."""


def question(session: FakeSession) -> None:
    session.play(
        ev.TurnStarted("m"),
        ev.ApprovalRequested(
            "q1", "ask_user", "Which parser?", "a question", "question", ev.Shown("Which parser is to be kept?"), "", True,
            options=("the old one, which is slow and right", "the new one"),
        ),
    )  # fmt: skip


def plan(session: FakeSession) -> None:
    shown = ev.Shown("# Plan\n\n1. Read the parser\n2. Write a test that fails\n3. Mend it\n")
    session.play(
        ev.TurnStarted("m"),
        ev.ApprovalRequested(
            "p1", "record_plan", "Plan", "you agree to each plan first", "plan-approval", shown, "", True, editable=True
        ),
    )  # fmt: skip


def halted(session: FakeSession) -> None:
    whole_turn(session)
    session.play(
        ev.GuardrailTrip(
            "watchdog", "repeated-call", "halt", "session", "The same call five times.", halted_turn=True
        )
    )
    session.halted = "watchdog: The same call five times."


def queued(session: FakeSession) -> None:
    session.play(ev.TurnStarted("m"), ev.OperatorMessage((Text("Mend the parser."),)))
    session.play(ev.MessageQueued((Text("And its tests, too."),), "steer"))
    session.play(ev.MessageQueued((Text("Then write the changelog."),), "after"))


def things(session: FakeSession) -> None:
    whole_turn(session)
    session.play(*todo(("Read the parser", "done"), ("Mend it", "in_progress"), ("Run the tests", "pending")))


PANELS = {
    "opening": Panel([("", "Say what is to be done")], quiet),
    "approval-command": Panel([("", "1 of 2")], asks),
    "approval-diff": Panel([("", "1 of 2"), ("j", "2 of 2")], asks),
    "approval-reason": Panel([("", "1 of 2"), ("N", "why not?")], asks),
    "question": Panel([("", "the agent asks you")], question),
    "plan": Panel([("", "change it, then agree")], plan),
    "queue": Panel([("", "takes the last one back")], queued),
    "halted": Panel([("", "The session is halted")], halted),
    "guardrail": Panel([("/guardrail", "reset watchdog")], halted),
    "commands": Panel([("slash q", "/quit")]),
    "files": Panel([("at p", "src/printer.py")]),
    "models": Panel([("ctrl+l", "google/gemini-3-pro")]),
    "sessions": Panel([("/resume", "the last of 01OLD")]),
    "rewind": Panel([("/rewind", "parser.py +3 -2")]),
    "themes": Panel([("/theme", "Which colours?")]),
    "todo": Panel([("ctrl+t", "1 of 3 done")], things),
    "search": Panel([("tab slash", "find")]),
    "usage": Panel([("/usage", "at most")]),
    "diff": Panel([("/diff", "big.bin")]),
}


@asynccontextmanager
async def opened(panel: Panel) -> AsyncIterator[tuple[AgentApp, Pilot[Any]]]:
    session = FakeSession(limits=panel.limits)
    panel.before(session)
    sources = Sources(
        models=lambda: MODELS,
        files=lambda: FILES,
        sessions=Shelf(),
        workplace=Desk(),
        watchdog=lambda: "enforce",
    )
    async with screen(session, SIZES[-1], replace(WELCOME, motion=False), sources=sources) as (app, pilot):
        yield app, pilot


async def at_every_width(
    app: AgentApp, pilot: Pilot[Any], words: SnapshotAssertion, picture: SnapshotAssertion
) -> None:
    for width, height in SIZES:
        await pilot.resize_terminal(width, height)
        await comes_to_rest()
        text = shown(app)
        assert all(len(line) <= width for line in text.split("\n"))
        assert text == words(name=str(width))
        assert pictured(app) == picture(name=str(width))


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ages are the same every day and everywhere, and a key counts at once."""
    monkeypatch.setattr("agent_cli.tui.grace.QUIET", 0.0)
    monkeypatch.setattr("agent_cli.tui.offers.HOLD", 0.0)
    monkeypatch.setattr("agent_cli.tui.conversation.WARM", 0.001)
    monkeypatch.setattr(time, "time", lambda: NOON)
    monkeypatch.setattr(time, "localtime", time.gmtime)
    monkeypatch.setattr("agent_cli.tui.footer.time", lambda: NOON + 72)


@pytest.mark.parametrize("name", PANELS)
async def test_panel(name: str, words: SnapshotAssertion, picture: SnapshotAssertion):
    panel = PANELS[name]
    async with opened(panel) as (app, pilot):
        for typed, seen in panel.steps:
            if typed.startswith("/"):
                strike(app, typed)
                await pilot.press("enter")
            else:
                await pilot.press(*typed.split())
            await sees(pilot, seen)
            await comes_to_rest()
        await at_every_width(app, pilot, words, picture)


@pytest.mark.parametrize(("key", "seen"), [("", "quit"), ("k", "Anthropic key"), ("l", "Download 0.5 GB")])
async def test_first_run(key: str, seen: str, words: SnapshotAssertion, picture: SnapshotAssertion):
    app = keyless(Ways())
    async with app.run_test(size=SIZES[-1]) as pilot:
        await sees(pilot, "How shall we start?")
        if key:
            await pilot.press(key)
        await sees(pilot, seen)
        await at_every_width(app, pilot, words, picture)

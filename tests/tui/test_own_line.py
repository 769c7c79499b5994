"""The operator's own status line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_cli.talk.door import Welcome
from agent_cli.tui import own_line
from agent_cli.tui.own_line import ask, facts_of
from agent_cli.tui.repository import Repository
from agent_cli.tui.status import Activity
from tests.fakes.screen import answer, screen, sees, shown, turn, until
from tests.fakes.session import FakeSession
from tests.tui.samples import whole_turn

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


def test_what_the_command_is_told():
    session = FakeSession()
    whole_turn(session)
    activity = Activity(watchdog="warn", alerts=1, repository=Repository("trunk", dirty=True))
    facts = json.loads(facts_of(session.state, activity, "m", "ask"))
    assert facts["session"] == "01SESSION"
    assert facts["model"] == "scripted-1"
    assert facts["branch"] == "trunk"
    assert facts["dirty"] is True
    assert facts["cost"]["session_usd"] == pytest.approx(0.0447)
    assert facts["context"]["window"] == 200_000
    assert facts["turn"] == {"number": 1, "steps": 3, "max_steps": None, "calls": 3, "max_calls": None}
    assert json.loads(facts_of(None, Activity(), "m", "plan"))["mode"] == "plan"


def test_the_first_line_of_its_output_counts_without_control_codes():
    assert ask("cat", "told\nmore", "") == "told"
    assert ask(r"printf '\n\033[31mred\033[0m \033]0;title\007x\n'", "{}", "") == "red x"
    assert ask("true", "{}", "") == ""


def test_it_runs_where_the_session_is(tmp_path: Path):
    assert ask("pwd", "{}", str(tmp_path)) == str(tmp_path)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo broken >&2; exit 3", "it ended with 3: broken"),
        ("exit 1", "it ended with 1: it said nothing"),
        ("sleep 60", "it took longer than 0.2 s and was stopped"),
        ("sleep 60 & sleep 60", "it took longer than 0.2 s and was stopped"),
    ],
)
def test_why_there_is_no_line(command: str, why: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(own_line, "PATIENCE", 0.2)
    with pytest.raises(ValueError, match="^" + why):
        ask(command, "{}", "")


def test_a_directory_that_is_gone_is_told():
    with pytest.raises(ValueError, match="cannot be started"):
        ask("true", "{}", "/nowhere/at/all")


async def test_it_is_shown_and_follows_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(own_line, "PAUSE", 0.0)
    runs = tmp_path / "runs"
    command = f"echo x >> {runs}; grep -o '\"number\":[0-9]*'"
    session = FakeSession()
    session.state.cwd = str(tmp_path)
    async with screen(session, size=(60, 16), welcome=Welcome(status_command=command)) as (app, pilot):
        await sees(pilot, '"number":0')
        turn(session)
        answer(session, "done")
        await sees(pilot, '"number":1')
        assert shown(app).splitlines()[-1].strip() == '"number":1'
        count = runs.read_text()
        app.conversation.refresh_facts()
        frames = app.conversation.feed.frames
        await until(pilot, lambda: app.conversation.feed.frames > frames)
        assert runs.read_text() == count, "nothing changed, so it is not asked again"


async def test_a_command_that_fails_is_told_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(own_line, "PAUSE", 0.0)
    session = FakeSession()
    async with screen(session, welcome=Welcome(status_command="echo no >&2; exit 2")) as (app, pilot):
        await sees(pilot, "ui.status_command: it ended with 2: no")
        turn(session)
        answer(session, "done")
        await sees(pilot, "── done")
        assert shown(app).count("ui.status_command") == 1

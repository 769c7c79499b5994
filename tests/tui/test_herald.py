"""What the terminal is told for somebody who looks elsewhere."""

from __future__ import annotations

import pytest

from agent_cli.kernel import events as ev
from agent_cli.tui.herald import Herald, Notify, best
from tests.fakes.screen import answer, screen, turn, until
from tests.fakes.session import FakeSession
from tests.tui.samples import HOSTILE, asks


def entry(event: ev.Recorded, branch: str = "") -> ev.Entry:
    return ev.Entry("s", 1, 0.0, 1, 1, event, branch=branch)


def told(
    how: Notify, event: ev.Recorded, *, focused: bool = False, branch: str = "", term: str = "xterm"
) -> list[str]:
    written: list[str] = []
    herald = Herald(written.append, lambda: focused, {"TERM": term})
    herald.how = how
    herald.heed(entry(event, branch))
    return written


ASKS = ev.ApprovalRequested("c", "bash", "ls", "why", "rule")
DONE = ev.TurnCompleted("completed", "stop")


@pytest.mark.parametrize(
    ("how", "codes"),
    [
        ("osc9", "\x1b]9;agent-cli: bash asks for permission\x07"),
        ("osc777", "\x1b]777;notify;agent-cli;agent-cli: bash asks for permission\x07"),
        ("bell", "\x07"),
        ("auto", "\x07"),
    ],
)
def test_an_approval_is_told_of(how: Notify, codes: str):
    assert told(how, ASKS) == [codes]


def test_who_looks_or_wants_no_signal_gets_none():
    assert told("bell", ASKS, focused=True) == []
    assert told("off", ASKS) == []
    assert told("bell", ev.ModeSwitched("plan")) == []
    assert told("bell", DONE, branch="s:sub:x-1") == []
    assert told("osc9", DONE) == ["\x1b]9;agent-cli: the turn ended: done\x07"]


@pytest.mark.parametrize(
    ("environ", "how"),
    [
        ({"TERM_PROGRAM": "WezTerm"}, "osc9"),
        ({"TERM_PROGRAM": "WezTerm", "TMUX": "/x"}, "bell"),
        ({"TERM": "xterm-kitty"}, "osc9"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "xterm-256color"}, "bell"),
    ],
)
def test_what_a_terminal_is_known_to_show(environ: dict[str, str], how: str):
    assert best(environ) == how


def test_the_title_is_written_when_it_changes_and_holds_no_control_code():
    written: list[str] = []
    herald, session = Herald(written.append, lambda: True, {"TERM": "xterm"}), FakeSession()
    herald.stand(None, "/src/parser")
    herald.stand(session.state, "/src/parser")
    turn(session)
    herald.stand(session.state, "/src/parser")
    asks(session)
    herald.stand(session.state, "/src/parser")
    answer(session, "so be it")
    herald.stand(session.state, "/src/parser", halted=True)
    signs = ("ready", "* works", "? asks", "! halted")
    assert written == [f"\x1b]2;{sign} - parser - agent-cli\x07" for sign in signs]
    herald.stand(session.state, f"/src/{HOSTILE.replace('/', '')}")
    assert "\x1b" not in written[-1][1:]
    assert "\x07" not in written[-1][:-1]
    plain: list[str] = []
    Herald(plain.append, lambda: True, {"TERM": "linux"}).stand(None, "/x")
    assert plain == []


async def test_on_the_screen_only_what_happens_now_is_told():
    session, written = FakeSession(), list[str]()
    turn(session)
    session.play(DONE)
    async with screen(session) as (app, pilot):
        app.app_focus = False
        app.herald.how = "osc9"
        app.herald._write = written.append
        asks(session)
        await until(pilot, lambda: len([codes for codes in written if "asks for permission" in codes]) == 2)
        assert not any("ended" in codes for codes in written)

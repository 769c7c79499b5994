"""The status bar says what matters at every width."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from agent_cli.engine.state import ModelRow, State
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Say
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.tui.repository import Repository
from agent_cli.tui.status import Activity, fitted, gauge, held_up, money, pieces, tokens
from tests.fakes.screen import INK
from tests.fakes.session import CARD, FakeSession
from tests.tui.samples import asks, whole_turn


def bar(state: State | None, width: int, activity: Activity | None = None) -> str:
    line = fitted(pieces(state, activity or Activity(), "scripted-1", "ask", INK), width)
    return "".join(segment.text for segment in line)


def running(limits: Limits | None = None) -> State:
    session = FakeSession(limits=limits)
    session.play(ev.TurnStarted("m"), ev.StepStarted("m"))
    session.play(ev.UsageReported("m", Usage(input=9_000, cache_read=36_000, output=500), 0.12))
    return session.state


def done() -> State:
    session = FakeSession()
    whole_turn(session)
    return session.state


def waiting() -> State:
    session = FakeSession()
    asks(session)
    return session.state


def compacting_at(limit: int) -> State:
    state = running(LIMITS)
    state.context_limit = limit
    return state


LIMITS = Limits(max_steps=40, max_tool_calls=100, max_session_cost=0.14)
MOVING = Activity(connecting=False, rate=52.4, elapsed=72.0, beat=1)
EVERYTHING = Activity(
    connecting=False,
    rate=52.4,
    elapsed=72.0,
    beat=1,
    queued=2,
    watchdog="enforce",
    alerts=3,
    repository=Repository("a-branch-of-mine", dirty=True),
)
SAMPLES = {
    "opening": (None, Activity()),
    "failed": (None, Activity(connecting=False)),
    "running": (running(LIMITS), MOVING),
    "retrying": (running(), Activity(elapsed=3.0, waiting="waits 12s: overloaded")),
    "done": (done(), Activity(below=True)),
    "waiting": (waiting(), Activity()),
    "waiting for long": (waiting(), Activity(held=" 4m 12s, holds up 2 more calls and 1 message")),
    "everything": (compacting_at(170_000), EVERYTHING),
    "compacting": (compacting_at(40_000), Activity(connecting=False, work="compacting …", elapsed=4.0)),
    "halted": (done(), Activity(connecting=False, halted=True)),
    "hint": (done(), Activity(hint="copied the block through the terminal (OSC 52)")),
}


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 240])
@pytest.mark.parametrize("name", SAMPLES)
def test_bar(name: str, width: int, words: SnapshotAssertion):
    state, activity = SAMPLES[name]
    text = bar(state, width, activity)
    assert cell_len(text) <= width or width < 30
    assert text == words


def test_the_seconds_of_a_wait_are_shown_also_where_its_reason_has_no_room():
    reason = "waits 12s: Anthropic is overloaded (529): Overloaded. It said so to request req_0123456789"
    for width in (60, 80, 100, 160, 240):
        assert "waits 12s" in bar(running(), width, Activity(elapsed=3.0, waiting=reason))


@pytest.mark.parametrize("activity", [MOVING, EVERYTHING], ids=["moving", "everything"])
@pytest.mark.parametrize("width", range(36, 240))
def test_it_fits_from_forty_columns_on_and_always_says_how_full_the_window_is(width: int, activity: Activity):
    text = bar(compacting_at(170_000), width, activity)
    assert cell_len(text) <= width
    assert "23%" in text


@pytest.mark.parametrize(
    ("used", "limit", "cells"),
    [
        (0, None, "╌╌╌╌╌╌╌╌"),
        (1, None, "╌╌╌╌╌╌╌╌"),
        (7, None, "━╌╌╌╌╌╌╌"),
        (50, 85, "━━━━╌╌┿╌"),
        (50, 35, "━━┿━╌╌╌╌"),
        (120, 99, "━━━━━━━┿"),
        (50, 100, "━━━━╌╌╌╌"),
    ],
)
def test_the_gauge_marks_where_compaction_begins(used: int, limit: int | None, cells: str):
    assert "".join(gauge(used, 100, limit, 8)) == cells


def test_the_distance_to_the_next_compaction():
    assert "compacts in 124k" in bar(compacting_at(170_000), 240)
    assert "compaction due" in bar(compacting_at(40_000), 240)
    assert "compact" not in bar(running(), 240)


def test_a_server_that_is_waited_for_is_told_also_between_turns():
    lost = Activity(connecting=False, waiting="waits 5s: The attach server at http://h:1 cannot be asked.")
    assert "! waits 5s: The attach server at" in bar(done(), 120, lost)
    assert "! waits 5s" in bar(done(), 40, lost)
    assert "ready" not in bar(done(), 120, lost)


def test_both_ceilings_of_cost_are_shown_and_parts_of_cents_too():
    text = bar(running(Limits(max_turn_cost=0.5, max_session_cost=0.125)), 240)
    assert "turn $0.120 of $0.50 · $0.120 of $0.125" in text
    assert " of " not in bar(running(), 240).split("$", 1)[1].split("compacts")[0]


def test_alerts_outlive_the_branch_and_the_mode_of_the_watchdog():
    state = compacting_at(170_000)
    assert "a-branch-of-mine*" in bar(state, 240, EVERYTHING)
    narrow = bar(state, 80, EVERYTHING)
    assert "!3" in narrow
    assert "a-branch" not in narrow
    assert "enforce" not in narrow


@pytest.mark.parametrize(
    "name", ["running", "done", "waiting", "waiting for long", "everything", "compacting"]
)
def test_the_cost_of_the_session_stays_at_forty_columns(name: str):
    state, activity = SAMPLES[name]
    assert state is not None
    assert money(state.total) in bar(state, 40, activity)


def test_an_unknown_window_is_said():
    session = FakeSession(ModelCard("m", "p"))
    session.play(ev.TurnStarted("m"), ev.UsageReported("m", Usage(input=4_500), None))
    assert "context 4.5k / unknown" in bar(session.state, 120)
    assert "unpriced" in bar(session.state, 120)


def test_an_estimate_is_marked():
    session = FakeSession(CARD)
    session.play(ev.TurnStarted("m"), ev.ToolReturned("c", "t", ev.Output(())))
    assert "~" in bar(session.state, 120)


def test_a_full_window_is_marked_without_colour():
    session = FakeSession(ModelCard("m", "p", window=1_000))
    session.play(ev.TurnStarted("m"), ev.UsageReported("m", Usage(input=950), 0.0))
    assert "95%!" in bar(session.state, 120)


def test_the_ceiling_counts_what_was_added():
    state = running(LIMITS)
    assert "$0.120 of $0.14" in bar(state, 160)
    state.halts.added_usd = 1.0
    assert "$0.120 of $1.14" in bar(state, 160)


def test_yolo_is_marked_without_colour():
    session = FakeSession()
    session.play(ev.ModeSwitched("yolo"))
    assert "! yolo" in bar(session.state, 120)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (ModelRow("m"), "$0"),
        (ModelRow("m", cost=0.00042), "$0.0004"),
        (ModelRow("m", cost=0.042), "$0.042"),
        (ModelRow("m", cost=4.2), "$4.20"),
        (ModelRow("m", cost=1.5, estimated=True), "~$1.50"),
        (ModelRow("m", unpriced=True), "unpriced"),
        (ModelRow("m", cost=1.5, unpriced=True), "$1.50 + unpriced"),
    ],
)
def test_money(row: ModelRow, text: str):
    assert money(row) == text


def test_tokens():
    assert [tokens(count) for count in (7, 1_234, 45_678, 1_234_567)] == ["7", "1.2k", "46k", "1.2M"]


def test_the_kind_of_work_is_named_where_it_was_said():
    state = running()
    assert "debug" not in bar(state, 240)
    state.task_class = "debug"
    assert "debug work" in bar(state, 240)
    assert "debug" not in bar(state, 40)


def test_a_question_that_waits_for_long_says_what_it_holds_up():
    state = waiting()
    assert held_up(state, 9.0) == ""
    state.open_calls, state.waiting = len(state.pending) + 2, {7: Say((Text("and then"),))}
    assert held_up(state, 252.0) == " 4m 12s, holds up 2 more calls and 1 message"
    state.open_calls, state.waiting = len(state.pending), {}
    assert held_up(state, 75.0) == " 1m 15s"


def test_one_call_is_no_calls():
    session = FakeSession()
    session.play(ev.TurnStarted("m"), ev.StepStarted("m"))
    session.state.turn_calls = 1
    assert "1 call  " in bar(session.state, 240, MOVING)
    session.state.turn_calls = 2
    assert "2 calls  " in bar(session.state, 240, MOVING)

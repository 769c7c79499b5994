"""/usage: the latest requests one by one, with what came from a cache."""

from __future__ import annotations

from agent_cli.engine.state import State
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.talk.ledger import LATEST, LATEST_TURNS, Ledger
from agent_cli.talk.views import sparkline, stats


def report(step: int, usage: Usage, cost: float | None) -> ev.Entry:
    return ev.Entry("s", step, 0.0, 1, step, ev.UsageReported("m", usage, cost))


def rows(ledger: Ledger) -> dict[str, str]:
    state = State("s", ModelCard("m", "p"), Limits())
    return dict(stats(state, ledger).rows)


def test_each_request_shows_its_cached_share_and_its_cost():
    ledger = Ledger()
    ledger.feed(report(1, Usage(input=2_000, output=10), 0.004))
    ledger.feed(report(2, Usage(input=500, cache_read=1_500, output=20), None))
    shown = rows(ledger)
    assert "0% cached" in shown["turn 1 step 1"]
    assert "$0.0040" in shown["turn 1 step 1"]
    assert "75% cached" in shown["turn 1 step 2"]
    assert "unpriced" in shown["turn 1 step 2"]


def test_only_the_latest_are_kept():
    ledger = Ledger()
    for step in range(1, LATEST + 5):
        ledger.feed(report(step, Usage(input=1), 0.0))
    shown = rows(ledger)
    assert "turn 1 step 1" not in shown
    assert f"turn 1 step {LATEST + 4}" in shown


def test_each_turn_and_each_model_show_what_caches_saved_and_subtasks_count():
    ledger, state = Ledger(), State("s", ModelCard("m", "p"), Limits())
    for turn, saved, branch in ((1, -0.01, ""), (2, 0.25, ""), (2, 0.5, "s:sub:a")):
        used = ev.UsageReported("m", Usage(input=10, cache_read=1_000), 0.1, "step", saved)
        entry = ev.Entry("s", turn, 0.0, turn, 1, used, branch)
        ledger.feed(entry)
        state.feed(entry)
    shown = dict(stats(state, ledger).rows)
    assert "caches saved $0.740" in shown["m"]
    assert "caches cost $0.010 more" in shown["turn 1"]
    assert "$0.200" in shown["turn 2"]
    assert "caches saved $0.750" in shown["turn 2"]


def test_of_many_turns_the_latest_are_kept():
    ledger = Ledger()
    for turn in range(1, LATEST_TURNS + 3):
        ledger.feed(ev.Entry("s", turn, 0.0, turn, 1, ev.UsageReported("m", Usage(input=1), 0.0)))
    assert list(ledger.turns) == list(range(3, LATEST_TURNS + 3))


def test_the_sparkline_shows_every_turn_and_the_highest_in_full():
    assert sparkline([1, 400, 0, 800]).startswith("▁▄ █  at most ")
    assert sparkline([7]).startswith("█  ")
    assert sparkline([]) == ""

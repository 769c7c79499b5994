"""/usage: the latest requests one by one, with what came from a cache."""

from __future__ import annotations

from agent_cli.engine.state import State
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.tui.ledger import LATEST, Ledger
from agent_cli.tui.views import stats


def report(step: int, usage: Usage, cost: float | None) -> ev.Entry:
    return ev.Entry("s", step, 0.0, 1, step, ev.UsageReported("m", usage, cost))


def rows(ledger: Ledger) -> dict[str, str]:
    state = State("s", ModelCard("m", "p"), Limits())
    return dict(stats(state, ledger)._rows)


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

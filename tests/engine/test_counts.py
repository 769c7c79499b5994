"""What the state counts of alerts and reductions."""

from __future__ import annotations

from agent_cli.kernel import events as ev
from tests.fakes.session import FakeSession

ALERT = ev.GuardrailFinding("repeated-call", "behaviour", "warn", "The same call five times.")


def alerts(*events: ev.Recorded) -> int:
    session = FakeSession()
    session.play(*events)
    return session.state.counts.alerts


def test_only_what_the_watchdog_found_is_an_alert():
    assert alerts(ALERT, ALERT, ev.GuardrailFinding("secrets", "output", "block", "A key.")) == 2


def test_a_reset_of_the_watchdog_begins_again():
    assert alerts(ALERT, ev.GuardrailReset("watchdog"), ALERT) == 1
    assert alerts(ALERT, ev.GuardrailReset("all")) == 0
    assert alerts(ALERT, ev.GuardrailReset("cost_ceiling", 5.0)) == 1


def test_reductions_and_what_they_cleared():
    session = FakeSession()
    last = ev.CompactionPerformed("summary", 9_000, 800)
    session.play(
        ev.CompactionPerformed("prune", 9, 5, ("c1", "c2")),
        ev.CompactionPerformed("prune", 9, 4, ("c1", "c3")),
        last,
    )
    counts = session.state.counts
    assert (counts.reductions, counts.last, len(counts.cleared)) == (3, last, 3)

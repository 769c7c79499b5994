"""What is counted of the log."""

from __future__ import annotations

from agent_cli.kernel import events as ev
from agent_cli.tui.ledger import Ledger

ALERT = ev.GuardrailFinding("repeated-call", "behaviour", "warn", "The same call five times.")


def told(*events: ev.Recorded, branch: str = "") -> Ledger:
    ledger = Ledger()
    for seq, event in enumerate(events, 1):
        ledger.feed(ev.Entry("s", seq, 0.0, 1, 1, event, branch))
    return ledger


def test_only_what_the_watchdog_found_is_an_alert():
    assert told(ALERT, ALERT, ev.GuardrailFinding("secrets", "output", "block", "A key.")).alerts == 2


def test_a_reset_of_the_watchdog_begins_again():
    assert told(ALERT, ev.GuardrailReset("watchdog"), ALERT).alerts == 1
    assert told(ALERT, ev.GuardrailReset("all")).alerts == 0
    assert told(ALERT, ev.GuardrailReset("cost_ceiling", 5.0)).alerts == 1


def test_what_a_subtask_did_is_not_counted():
    assert told(ALERT, ev.CompactionPerformed("prune", 9, 1), branch="b") == Ledger()


def test_reductions_and_what_they_cleared():
    last = ev.CompactionPerformed("summary", 9_000, 800)
    ledger = told(
        ev.CompactionPerformed("prune", 9, 5, ("c1", "c2")),
        ev.CompactionPerformed("prune", 9, 4, ("c1", "c2", "c3")),
        last,
    )
    assert (ledger.reductions, ledger.last, len(ledger.cleared)) == (3, last, 3)

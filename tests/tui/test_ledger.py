"""What is counted of the log."""

from __future__ import annotations

from agent_cli.kernel import events as ev
from agent_cli.kernel.usage import Usage
from agent_cli.talk.ledger import LATEST, Ledger


def test_the_latest_requests_of_the_session_itself_are_kept():
    ledger = Ledger()
    for seq in range(1, LATEST + 3):
        ledger.feed(ev.Entry("s", seq, 0.0, 1, 1, ev.UsageReported("m", Usage(input=seq), 0.1)))
    ledger.feed(ev.Entry("s", seq + 1, 0.0, 1, 1, ev.UsageReported("m", Usage(input=1), 0.1), "a-branch"))
    assert [entry.seq for entry in ledger.spent] == list(range(3, LATEST + 3))

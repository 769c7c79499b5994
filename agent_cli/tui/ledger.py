"""What the log tells that the state of the session does not keep."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from agent_cli.kernel import events as ev

LATEST = 40
"""Requests whose figures are kept, the newest."""


@dataclass(slots=True)
class Ledger:
    """Fed each entry once, of a long session the latest. `spent` are the latest requests with what they took."""

    spent: deque[ev.Entry] = field(default_factory=lambda: deque(maxlen=LATEST))

    def feed(self, entry: ev.Entry) -> None:
        if not entry.branch and isinstance(entry.event, ev.UsageReported):
            self.spent.append(entry)

"""What the log tells that the state of the session does not keep."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from agent_cli.kernel import events as ev

LATEST = 12
"""Requests whose figures are kept, the newest."""


@dataclass(slots=True)
class Ledger:
    """Fed each entry once. `alerts` are the watchdog's since its last reset; `cleared` are the calls whose results went;
    `spent` are the latest requests with what they took.
    """

    alerts: int = 0
    reductions: int = 0
    last: ev.CompactionPerformed | None = None
    cleared: set[str] = field(default_factory=set)
    spent: deque[ev.Entry] = field(default_factory=lambda: deque(maxlen=LATEST))

    def feed(self, entry: ev.Entry) -> None:
        if entry.branch:
            return
        match entry.event:
            case ev.GuardrailFinding(surface="behaviour"):
                self.alerts += 1
            case ev.GuardrailReset("watchdog" | "all"):
                self.alerts = 0
            case ev.CompactionPerformed(cleared=cleared):
                self.reductions += 1
                self.last = entry.event
                self.cleared.update(cleared)
            case ev.UsageReported():
                self.spent.append(entry)
            case _:
                pass  # decided: the rest is in the state, or in the transcript

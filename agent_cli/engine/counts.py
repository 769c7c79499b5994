"""What happened how often: alerts of the watchdog, and reductions of the context."""

from __future__ import annotations

import msgspec

from agent_cli.kernel import events as ev


class Counts(msgspec.Struct):
    """`alerts` are those since the last reset of the watchdog; `cleared` are the calls whose results went."""

    alerts: int = 0
    reductions: int = 0
    last: ev.CompactionPerformed | None = None
    cleared: set[str] = msgspec.field(default_factory=set)

    def feed(self, event: ev.Recorded) -> None:
        """A fact of the session itself."""
        match event:
            case ev.GuardrailFinding(surface="behaviour"):
                self.alerts += 1
            case ev.GuardrailReset("watchdog" | "all"):
                self.alerts = 0
            case ev.CompactionPerformed(cleared=cleared):
                self.reductions += 1
                self.last = event
                self.cleared.update(cleared)
            case _:
                pass  # decided: nothing else is counted here

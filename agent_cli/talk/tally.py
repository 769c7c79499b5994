"""What a turn took, in the words of its last line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_cli.kernel import events as ev
from agent_cli.talk.amounts import dollars
from agent_cli.talk.remarks import OUTCOMES


@dataclass(slots=True)
class Tally:
    """Of the running turn so far. `started` is in epoch seconds, 0 where nobody saw it begin."""

    started: float = 0.0
    calls: int = 0
    cost: float = 0.0
    unpriced: bool = False
    estimated: bool = False

    def spent(self, report: ev.UsageReported) -> None:
        self.cost += report.cost or 0.0
        self.unpriced = self.unpriced or report.cost is None
        self.estimated = self.estimated or report.estimated

    def facts(self, outcome: ev.Outcome, time: float, seconds: Callable[[float], str]) -> list[str]:
        """How it ended, how long it took in the words of `seconds`, the calls and the money, where there were any."""
        facts = [OUTCOMES[outcome]]
        if self.started and time - self.started >= 1:
            facts.append(seconds(time - self.started))
        if self.calls:
            facts.append(f"{self.calls} call{'s' * (self.calls != 1)}")
        if self.cost or self.unpriced:
            facts.append("unpriced" if self.unpriced else "~" * self.estimated + dollars(self.cost))
        return facts

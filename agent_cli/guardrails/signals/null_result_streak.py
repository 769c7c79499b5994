"""Results that are empty or errors, one after the other: a question reworded again and again."""

from __future__ import annotations

from agent_cli.guardrails.recent import TURN, Stance
from agent_cli.kernel.events import Severity
from agent_cli.ports import Alert, Came

MANY = 3
"""Times the threshold: so many in a row trip however few steps asked for them, if it was more than one."""


class NullResultStreak:
    """Trips at `threshold` of them in a row. The model is told at two thirds of that, where `warns` says so.

    What is asked side by side is asked before any of it is answered: `a_step` results of one step count at most,
    up to `MANY` times the threshold.
    """

    name = "null-result-streak"

    def __init__(
        self, threshold: int = 12, stance: Stance = TURN, *, warns: bool = True, a_step: int = 2
    ) -> None:
        self._threshold = threshold
        self._warn_at = max(1, threshold * 2 // 3) if warns else 0
        self._stance = stance
        self._a_step = a_step
        self.forget()

    def forget(self) -> None:
        self._streak, self._step, self._of_step = 0, -1, 0
        self._all, self._steps, self._tripped = 0, 0, False

    began = forget

    def returned(self, result: Came) -> Alert | None:
        if result.call.waits or result.denied:
            return None
        if result.ok and (not result.empty or result.fresh):
            self.forget()
            return None
        if result.call.step != self._step:
            self._step, self._of_step = result.call.step, 0
            self._steps += 1
        self._of_step += 1
        self._all += 1
        counts = self._of_step <= self._a_step
        self._streak += counts
        if self._tripped:
            return None
        if self._streak >= self._threshold or self._are_many():
            self._tripped = True
            return self._alert(self._stance.severity)
        return self._alert("warn") if counts and self._streak == self._warn_at else None

    def _are_many(self) -> bool:
        return self._steps > 1 and self._all >= MANY * self._threshold

    def _alert(self, severity: Severity) -> Alert:
        return Alert(
            self.name,
            severity,
            self._stance.scope,
            f"{self._all} results in a row were empty or errors",
            f"Your last {self._all} calls found nothing or failed. Another wording will hardly help: take what you know "
            "as the answer that there is nothing, look somewhere else, or say what is missing. To wait for something, "
            "use wait_and_verify.",
        )

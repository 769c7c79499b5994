"""Results that are empty or errors, one after the other: a question reworded again and again."""

from __future__ import annotations

from agent_cli.guardrails.recent import TURN, Stance
from agent_cli.ports import Alert, Came


class NullResultStreak:
    """Trips at `threshold` of them in a row. The model is told at two thirds of that, where `warns` says so.

    What is asked side by side is asked before any of it is answered: `a_step` results of one step count at most.
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

    began = forget

    def returned(self, result: Came) -> Alert | None:
        if result.call.waits or result.denied:
            return None
        if result.ok and (not result.empty or result.fresh):
            self.forget()
            return None
        self._of_step = self._of_step + 1 if result.call.step == self._step else 1
        self._step = result.call.step
        if self._of_step > self._a_step:
            return None
        self._streak += 1
        if self._streak not in (self._warn_at, self._threshold):
            return None
        severity, scope = self._stance
        return Alert(
            self.name,
            severity if self._streak == self._threshold else "warn",
            scope,
            f"{self._streak} results in a row were empty or errors",
            f"Your last {self._streak} calls found nothing or failed. Another wording will hardly help: take what you know "
            "as the answer that there is nothing, look somewhere else, or say what is missing. To wait for something, "
            "use wait_and_verify.",
        )

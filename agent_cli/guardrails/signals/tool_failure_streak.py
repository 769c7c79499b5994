"""Nothing but errors for a while: whatever is said now, nothing has verified it."""

from __future__ import annotations

from agent_cli.guardrails.recent import WARN, Stance
from agent_cli.ports import Alert, Came


class ToolFailureStreak:
    """Trips at `threshold` steps in a row with nothing but errors, or calls where `by_step` is False.

    What a person refused does not count; one success begins again.
    """

    name = "tool-failure-streak"

    def __init__(self, threshold: int = 5, stance: Stance = WARN, *, by_step: bool = True) -> None:
        self._threshold = threshold
        self._stance = stance
        self._by_step = by_step
        self.forget()

    def forget(self) -> None:
        self._streak, self._told, self._failing = 0, False, False
        self._succeeded_in = -1

    began = forget

    def returned(self, result: Came) -> Alert | None:
        if result.ok and not result.denied:
            self._streak, self._told, self._failing = 0, False, False
            self._succeeded_in = result.call.step
        elif not result.denied and not (self._by_step and result.call.step == self._succeeded_in):
            self._failing = True
        if not self._failing or (self._by_step and not result.last):
            return None
        self._failing = False
        self._streak += 1
        if self._streak < self._threshold or self._told:
            return None
        self._told = True
        what = "steps" if self._by_step else "calls"
        return Alert(
            self.name,
            *self._stance,
            f"{self._streak} {what} in a row brought nothing but errors",
            f"Your last {self._streak} {what} brought nothing but errors, so nothing is verified since. Read the last "
            "error, change what it names, and do not report anything as done that no result shows.",
        )

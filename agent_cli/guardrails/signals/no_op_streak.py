"""Results that say themselves that nothing had to be done, one after the other."""

from __future__ import annotations

from agent_cli.guardrails.recent import TURN, Stance
from agent_cli.ports import Alert, Came


class NoOpStreak:
    """Trips at `threshold` of them in a row, at least 2; a failure neither counts nor clears, all else clears."""

    name = "no-op-streak"

    def __init__(self, threshold: int = 3, stance: Stance = TURN) -> None:
        self._threshold = max(2, threshold)
        self._stance = stance
        self.forget()

    def forget(self) -> None:
        self._streak, self._told = 0, False

    began = forget

    def returned(self, result: Came) -> Alert | None:
        if result.denied or not result.ok:
            return None
        if not result.no_op:
            self.forget()
            return None
        self._streak += 1
        if self._streak < self._threshold or self._told:
            return None
        self._told = True
        return Alert(
            self.name,
            *self._stance,
            f"{self._streak} calls in a row reported that they changed nothing (the last one: {result.call.name})",
            f"Your last {self._streak} calls each reported that there was nothing to do. It is done already: do not call "
            "again, in whatever words. Go on with what is left, or answer.",
        )

"""A circuit breaker: stops asking a dependency that keeps failing, and asks once whether it is back."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

FAILURES = 5
COOL_DOWN = 30.0

Standing: TypeAlias = Literal["closed", "open", "probing"]


class Breaker(msgspec.Struct):
    """One dependency. Times are monotonic seconds, given by the caller.

    `threshold` failures in a row open it for `cool_down` seconds; then exactly one caller may probe.
    A failure is one operation whose attempts are used up, not one attempt.
    """

    name: str
    threshold: int = FAILURES
    cool_down: float = COOL_DOWN
    failures: int = 0
    opened_at: float | None = None
    probing: bool = False

    def standing(self) -> Standing:
        if self.opened_at is None:
            return "closed"
        return "probing" if self.probing else "open"

    def admit(self, now: float) -> bool:
        """Whether this caller may ask now. True of an open breaker makes the caller the one probe."""
        if self.opened_at is None:
            return True
        if self.probing or now < self.opened_at + self.cool_down:
            return False
        self.probing = True
        return True

    def probes_in(self, now: float) -> float:
        """Seconds until the next probe; 0 where it may be now."""
        return 0.0 if self.opened_at is None else max(0.0, self.opened_at + self.cool_down - now)

    def succeeded(self) -> None:
        self.failures, self.opened_at, self.probing = 0, None, False

    def failed(self, now: float) -> None:
        self.failures += 1
        if self.probing or self.failures >= self.threshold:
            self.opened_at, self.probing = now, False

    def abandoned(self) -> None:
        """The probe was cancelled before it could tell: another caller may probe."""
        self.probing = False


class Breakers(msgspec.Struct):
    """One breaker a dependency, shared by everything in the process."""

    threshold: int = FAILURES
    cool_down: float = COOL_DOWN
    held: dict[str, Breaker] = msgspec.field(default_factory=dict)

    def of(self, name: str) -> Breaker:
        return self.held.setdefault(name, Breaker(name, self.threshold, self.cool_down))

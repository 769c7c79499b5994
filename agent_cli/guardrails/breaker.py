"""A circuit breaker: stops asking a dependency that keeps failing, and asks once whether it is back."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import msgspec

FAILURES = 5
COOL_DOWN = 30.0

Standing: TypeAlias = Literal["closed", "open", "probing"]


class Admitted(NamedTuple):
    """Leave to ask once. `probe` is the number of the one probe of an open breaker, 0 where it was closed."""

    probe: int = 0


class Breaker(msgspec.Struct):
    """One dependency. Times are monotonic seconds, given by the caller.

    `threshold` failures in a row open it for `cool_down` seconds; then exactly one caller may probe.
    A failure is one operation whose attempts are used up, not one attempt. Whoever was admitted before it opened says
    nothing about the probe, however late it ends.
    """

    name: str
    threshold: int = FAILURES
    cool_down: float = COOL_DOWN
    failures: int = 0
    opened_at: float | None = None
    probe: int = 0
    probes: int = 0

    def standing(self) -> Standing:
        if self.opened_at is None:
            return "closed"
        return "probing" if self.probe else "open"

    def admit(self, now: float) -> Admitted | None:
        """Leave to ask now, None for none."""
        if self.opened_at is None:
            return Admitted()
        if self.probe or now < self.opened_at + self.cool_down:
            return None
        self.probes += 1
        self.probe = self.probes
        return Admitted(self.probe)

    def probes_in(self, now: float) -> float:
        """Seconds until the next probe; 0 where it may be now."""
        return 0.0 if self.opened_at is None else max(0.0, self.opened_at + self.cool_down - now)

    def refusal(self, now: float) -> str:
        """Why nobody may ask now: its name, and when somebody may."""
        when = (
            "another request finds out now whether it is back"
            if self.probe
            else f"the next attempt is possible in {self.probes_in(now):.0f} s"
        )
        return f"{self.name} failed {self.failures} times in a row and is not asked now: {when}"

    def succeeded(self) -> None:
        self.failures, self.opened_at, self.probe = 0, None, 0

    def failed(self, now: float, admitted: Admitted | None = None) -> None:
        """By the probe it opens anew; what was under way when it opened changes nothing. Who asks one at a time need not
        say as what it was admitted.
        """
        if self.opened_at is not None and self._is_late(admitted):
            return
        self.failures += 1
        if self.probe or self.failures >= self.threshold:
            self.opened_at, self.probe = now, 0

    def abandoned(self, admitted: Admitted | None = None) -> None:
        """Cancelled before it could tell: if that was the probe, another caller may probe."""
        if not self._is_late(admitted):
            self.probe = 0

    def _is_late(self, admitted: Admitted | None) -> bool:
        return admitted is not None and (not admitted.probe or admitted.probe != self.probe)


class Breakers(msgspec.Struct):
    """One breaker a dependency, shared by everything in the process."""

    threshold: int = FAILURES
    cool_down: float = COOL_DOWN
    held: dict[str, Breaker] = msgspec.field(default_factory=dict)

    def of(self, name: str) -> Breaker:
        return self.held.setdefault(name, Breaker(name, self.threshold, self.cool_down))

"""How often somebody may ask: a bucket that fills evenly, for each who asks."""

from __future__ import annotations

import math

MOST_KNOWN = 10_000
"""Askers that are remembered; past that, those whose buckets are full again are forgotten."""


class Rates:
    """`per_minute` requests in the long run, `burst` at once. Time is given by the caller, in seconds."""

    def __init__(self, per_minute: float, burst: float) -> None:
        self._fill = per_minute / 60
        self._burst = burst
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, who: str, now: float) -> int:
        """0 where it may go on, else the seconds after which to ask again."""
        left = self._filled(who, now)
        if left < 1:
            return max(math.ceil((1 - left) / self._fill), 1)
        if len(self._left) >= MOST_KNOWN:
            self._forget(now)
        self._left[who] = (left - 1, now)
        return 0

    def empty(self, who: str, now: float) -> int:
        """The same without taking anything."""
        left = self._filled(who, now)
        return 0 if left >= 1 else max(math.ceil((1 - left) / self._fill), 1)

    def _filled(self, who: str, now: float) -> float:
        left, since = self._left.get(who, (self._burst, now))
        return min(self._burst, left + (now - since) * self._fill)

    def _forget(self, now: float) -> None:
        self._left = {who: held for who, held in self._left.items() if self._filled(who, now) < self._burst}

"""How fast this machine is now, so that a bound on time is one on work."""

from __future__ import annotations

import time

QUIET = 0.03
"""Seconds that the loop takes on a quiet machine of two cores."""


def slowness() -> float:
    """How many times longer a fixed loop takes than there, at least 1. The worst of three."""
    took: list[float] = []
    for _ in range(3):
        begun = time.perf_counter()
        sum(len(str(number)) for number in range(150_000))
        took.append(time.perf_counter() - begun)
    return max(1.0, max(took) / QUIET)

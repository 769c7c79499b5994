"""Keys that answer come after a moment without keys: what was being typed must not decide anything."""

from __future__ import annotations

from time import monotonic

QUIET = 0.3
"""Seconds."""


class Grace:
    """Runs from `restart`; each stray key restarts it."""

    def __init__(self) -> None:
        self._since = 0.0

    def restart(self) -> None:
        self._since = self.now()

    @property
    def over(self) -> bool:
        return self.now() - self._since >= QUIET

    def now(self) -> float:
        return monotonic()

"""One behaviour, one alert: across the signals that read calls, and as long as it lasts."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import TypeGuard

import msgspec

from agent_cli.ports import Alert

FADES = 12
"""A behaviour is over when for so many calls no signal has seen it: the longest window that one looks at."""


class _Behaviour(msgspec.Struct):
    """What was told of, by whom, and when it was last seen."""

    about: frozenset[str]
    signal: str
    seen: int


class Told:
    """Signals say what they see on every call; this says what of it is new."""

    def __init__(self, signals: Iterable[str]) -> None:
        self._lasting: dict[str, frozenset[str]] = dict.fromkeys(signals, frozenset())
        self._told: list[_Behaviour] = []
        self._calls = 0

    def forget(self) -> None:
        self._lasting = dict.fromkeys(self._lasting, frozenset())
        self._told = []

    def count(self) -> None:
        """One more call."""
        self._calls += 1
        self._told = [held for held in self._told if self._calls - held.seen <= FADES]

    def admits(self, alert: Alert | None, signal: str, claimed: AbstractSet[str]) -> TypeGuard[Alert]:
        """Whether to tell it. `claimed` are the calls that more specific signals see a pattern of."""
        if alert is None:
            self._lasting[signal] = frozenset()
            return False
        if not alert.about:
            return True
        lasted = bool(self._lasting[signal] & alert.about)
        known = [held for held in self._told if held.about & alert.about]
        for held in known:
            held.seen = self._calls
        others = [held for held in known if held.signal != signal]
        if lasted:
            self._lasting[signal] = alert.about
        if lasted or others or claimed & alert.about or not alert.reason:
            return False
        self._lasting[signal] = alert.about
        self._told.append(_Behaviour(alert.about, signal, self._calls))
        return True

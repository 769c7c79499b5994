"""Calls that bring nothing that was not there already, whatever they ask."""

from __future__ import annotations

from collections import deque

from agent_cli.guardrails.recent import TURN, Stance
from agent_cli.ports import Alert, Came

REMEMBERED = 4_096


class NoNews:
    """Trips when `threshold` of the last `window` results were there before, since a file last changed.

    Results are compared exactly; one that cannot be told from others is news. Where a result is empty, or of a tool
    that does not say what it found or did, only the same call brings the same.
    """

    name = "no-news"

    def __init__(self, threshold: int = 10, stance: Stance = TURN, *, window: int = 12) -> None:
        self._threshold = threshold
        self._stance = stance
        self._window = max(window, threshold)
        self.forget()

    def forget(self) -> None:
        self._known: dict[str, None] = {}
        self._old: deque[bool] = deque(maxlen=self._window)
        self._told = False

    began = forget

    def returned(self, result: Came) -> Alert | None:
        if result.call.waits or result.denied:
            return None
        if result.fresh:
            self.forget()
        payload = result.digest
        if payload and (result.empty or not result.call.reports):
            payload = f"{result.call.key} {payload}"
        self._old.append(payload in self._known and not result.fresh)
        if payload:
            self._known[payload] = None
            if len(self._known) > REMEMBERED:
                del self._known[next(iter(self._known))]
        old = sum(self._old)
        if len(self._old) < self._window or old < self._threshold:
            self._told = False
            return None
        if self._told:
            return None
        self._told = True
        return Alert(
            self.name,
            *self._stance,
            f"{old} of the last {self._window} calls brought a result that was already there since a file last changed",
            f"{old} of your last {self._window} calls brought what you had already, and no file changed. You know what "
            "you can know this way: decide with it, change something, or say what you are stuck on. To wait for "
            "something, use wait_and_verify.",
        )

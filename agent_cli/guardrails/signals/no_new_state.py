"""Results that this turn has seen already, one after the other."""

from __future__ import annotations

from collections import OrderedDict

from agent_cli.guardrails.recent import WARN, Stance
from agent_cli.ports import Alert, Came

REMEMBERED = 64


class NoNewState:
    """Trips at `threshold` successful results in a row that the same call brought before in this turn.

    `by_call` False compares results alone, whatever brought them. Failures and no-ops neither count nor clear; a
    result that cannot be told from others clears.
    """

    name = "no-new-state"

    def __init__(self, threshold: int = 6, stance: Stance = WARN, *, by_call: bool = True) -> None:
        self._threshold = threshold
        self._stance = stance
        self._by_call = by_call
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._run, self._told = 0, False

    def forget(self) -> None:
        self._seen.clear()
        self._run, self._told = 0, False

    began = forget

    def returned(self, result: Came) -> Alert | None:
        if result.call.waits or not result.ok or result.no_op:
            return None
        if not result.digest or not self._came_before(result) or (self._by_call and result.fresh):
            self._run, self._told = 0, False
            return None
        self._run += 1
        if self._run < self._threshold or self._told:
            return None
        self._told = True
        return Alert(
            self.name,
            *self._stance,
            f"{self._run} results in a row were already seen in this turn",
            f"Your last {self._run} calls brought results that you have already seen in this turn. Asking once more will "
            "not tell you more: work with them. To wait until something changes, use wait_and_verify.",
        )

    def _came_before(self, result: Came) -> bool:
        payload = f"{result.call.key} {result.digest}" if self._by_call else result.digest
        if payload in self._seen:
            return True
        self._seen[payload] = None
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return False

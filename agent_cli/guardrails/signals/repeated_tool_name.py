"""The same tool for a long time, with few different arguments."""

from __future__ import annotations

from collections import deque

from agent_cli.guardrails.recent import WARN, Stance
from agent_cli.ports import Alert, Called

IDENTICAL = 5
"""A tail of so many equal calls is another signal's."""


class RepeatedToolName:
    """Trips at `threshold` calls of one tool in a row of which less than the share `distinct` differ (1: any)."""

    name = "repeated-tool-name"

    def __init__(self, threshold: int = 15, stance: Stance = WARN, *, distinct: float = 0.5) -> None:
        self._threshold = threshold
        self._stance = stance
        self._distinct = distinct
        self._run: deque[Called] = deque(maxlen=threshold)
        self._length = 0

    def forget(self) -> None:
        self._run.clear()
        self._length = 0

    began = forget

    def called(self, call: Called) -> Alert | None:
        if call.waits:
            return None
        if self._run and self._run[-1].name != call.name:
            self.forget()
        self._run.append(call)
        self._length += 1
        if len(self._run) < self._threshold or self._is_one_call():
            return None
        different = len({held.key for held in self._run})
        if self._distinct < 1 and different >= self._distinct * len(self._run):
            return None
        return Alert(
            self.name,
            *self._stance,
            f"{call.name} was called {self._length} times in a row; {different} of the last {len(self._run)} differ",
            f"You called {call.name} {self._length} times in a row and nothing else. If you work through a list, say "
            "which one and how far you are; if not, say what blocks you. To wait for something, use wait_and_verify.",
            about=frozenset(held.place for held in self._run),
        )

    def _is_one_call(self) -> bool:
        tail = min(IDENTICAL, self._threshold)
        return len({self._run[-distance].key for distance in range(1, tail + 1)}) == 1

"""What the log tells that the state of the session does not keep."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from agent_cli.engine.state import ModelRow
from agent_cli.kernel import events as ev

LATEST = 40
"""Requests whose figures are kept, the newest."""
LATEST_TURNS = 12


@dataclass(slots=True)
class Ledger:
    """Fed each entry once, of a long session the latest. `spent` are the latest requests with what they took, `turns` the
    latest turns, by number, the requests of subtasks with them.
    """

    spent: deque[ev.Entry] = field(default_factory=lambda: deque(maxlen=LATEST))
    turns: dict[int, ModelRow] = field(default_factory=dict[int, ModelRow])

    def feed(self, entry: ev.Entry) -> None:
        if not isinstance(entry.event, ev.UsageReported):
            return
        self._of_turn(entry.turn).add(entry.event)
        if not entry.branch:
            self.spent.append(entry)

    def _of_turn(self, turn: int) -> ModelRow:
        row = self.turns.setdefault(turn, ModelRow(f"turn {turn}"))
        if len(self.turns) > LATEST_TURNS:
            del self.turns[min(self.turns)]
        return row

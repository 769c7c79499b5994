"""Subtasks in the transcript: each shows in the card of the call that it works for."""

from __future__ import annotations

from agent_cli.engine.state import SubtaskRow, begun, end
from agent_cli.kernel import events as ev
from agent_cli.talk.amounts import dollars


class Below:
    """Fed every entry once, in order."""

    def __init__(self) -> None:
        self._rows: dict[str, SubtaskRow] = {}

    def feed(self, entry: ev.Entry) -> SubtaskRow | None:
        """The subtask that went on, if one did."""
        match entry.event:
            case ev.SubtaskStarted(subtask=branch) if branch:
                self._rows[branch] = begun(entry, entry.event)
                return self._rows[branch]
            case ev.SubtaskCompleted(outcome=outcome, subtask=branch):
                row = self._rows.pop(branch, None)
                if row is not None:
                    end(row, outcome, entry.time)
                return row
            case event:
                row = self._rows.get(entry.branch)
                if row is not None:
                    row.feed(event)
                return row


def summary(row: SubtaskRow) -> str:
    """Its model and what it took, for the line of its card."""
    steps = f"{row.steps} step{'s' * (row.steps != 1)}"
    spent = "unpriced" if row.unpriced else dollars(row.cost)
    beside = (row.outcome or "in the background") if row.background else ""
    doing = row.doing if row.background else ""  # its call has a result that stands in the card
    parts = (beside, row.model, steps, spent if row.steps else "", doing)
    return " · ".join(part for part in parts if part)

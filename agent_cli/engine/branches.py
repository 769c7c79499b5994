"""Subtasks as the session that runs them sees them: what each does, took, and came to."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_cli.kernel import events as ev
from agent_cli.kernel.usage import Usage


class SubtaskRow(msgspec.Struct):
    """`call_id` is the call that started it, `outcome` "" while it runs, `doing` its last call as people read it.

    `cost` counts priced requests; `unpriced` says that some were not. Times are epoch seconds.
    """

    branch: str
    name: str
    model: str
    task: str
    call_id: str = ""
    started: float = 0.0
    ended: float = 0.0
    steps: int = 0
    calls: int = 0
    usage: Usage = msgspec.field(default_factory=Usage)
    cost: float = 0.0
    unpriced: bool = False
    doing: str = ""
    outcome: ev.Outcome | Literal[""] = ""

    def feed(self, event: ev.Recorded) -> None:
        """A fact of its own branch."""
        match event:
            case ev.StepStarted(model):
                self.model = model
                self.steps += 1
            case ev.UsageReported(_, usage, cost):
                self.usage += usage
                self.cost += cost or 0.0
                self.unpriced = self.unpriced or cost is None
            case ev.ToolCallProposed():
                self.calls += 1
            case ev.ToolCallStarted(tool=tool, subject=subject):
                self.doing = f"{tool} {subject}"
            case _:
                pass  # decided: the rest is between the subtask and its model


def begun(entry: ev.Entry, event: ev.SubtaskStarted) -> SubtaskRow:
    return SubtaskRow(event.subtask, event.name, event.model, event.task, event.call_id, entry.time)


def end(row: SubtaskRow, outcome: ev.Outcome, time: float) -> None:
    """The first end counts."""
    if not row.outcome:
        row.outcome, row.ended, row.doing = outcome, time, ""

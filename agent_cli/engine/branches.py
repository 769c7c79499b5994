"""Subtasks as the session that runs them sees them: what each does, took, and came to."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import text_of
from agent_cli.kernel.usage import Usage

SAID = 2_000
"""Characters that are kept of what a subtask said last."""


class SubtaskRow(msgspec.Struct):
    """`call_id` is the call that started it, `outcome` "" while it runs, `doing` its last call as people read it.

    `cost` counts priced requests; `unpriced` says that some were not. Times are epoch seconds. `agent` is the definition
    that it was started by, "" for none; `said` the end of what it said last; `digest` what came of it; `seq` the entry
    that it began with. `lost` says that the process died before its end.
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
    agent: str = ""
    background: bool = False
    place: str = ""
    said: str = ""
    digest: str = ""
    seq: int = 0
    lost: bool = False

    @property
    def label(self) -> str:
        """What people and models call it: its name with a number."""
        return self.branch.rpartition(":")[2]

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
            case ev.AssistantMessage(parts) if said := text_of(parts).strip():
                self.said = said[-SAID:]
            case ev.ToolCallProposed():
                self.calls += 1
            case ev.ToolCallStarted(tool=tool, subject=subject):
                self.doing = f"{tool} {subject}"
            case _:
                pass  # decided: the rest is between the subtask and its model


def begun(entry: ev.Entry, event: ev.SubtaskStarted) -> SubtaskRow:
    row = SubtaskRow(event.subtask, event.name, event.model, event.task, event.call_id, entry.time)
    row.agent, row.background, row.place, row.seq = event.agent, event.background, event.place, entry.seq
    return row


def end(row: SubtaskRow, outcome: ev.Outcome, time: float) -> None:
    """The first end counts."""
    if not row.outcome:
        row.outcome, row.ended, row.doing = outcome, time, ""

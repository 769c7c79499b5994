"""What was reduced, what is to be, and how it went: a fold of the log. Pure."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text
from agent_cli.kernel.values import Plain

MARK = "mark_task_done"
"""The tool by which a model says that a task is done."""


class Boundary(Plain, frozen=True):
    """One reduction. `time` is epoch seconds, `note` the operator's focus or what was done.

    `characters` are those of the text that stands for what was dropped, `cleared` the results that a prune cleared.
    """

    kind: Literal["compaction", "checkpoint"]
    mode: Literal["prune", "summary", "mechanical", "model", "operator", "heuristic"]
    time: float
    turn: int
    tokens_before: int
    tokens_after: int
    characters: int = 0
    cleared: int = 0
    note: str = ""
    cost: float | None = None


class Boundaries(msgspec.Struct):
    """Fed each entry of the conversation once, in order.

    `pending` says that a reduction is due; `crossed` is the limit whose crossing was told, 0 for none.
    `failures` of the summarizer in a row; it is not asked before turn `cool_until`, unless `probe` allows one attempt.
    `declared` is what the model said of the task that it marked as done, None where it did not.
    `unmeasured_bytes` are of tool results that no service has counted yet; `measured` that one ever counted anything.
    `assumed` are the models whose window was said to be a guess.
    """

    pending: bool = False
    crossed: int = 0
    failures: int = 0
    cool_until: int = 0
    probe: bool = False
    declared: str | None = None
    unmeasured_bytes: int = 0
    measured: bool = False
    answers: int = 0
    assumed: set[str] = msgspec.field(default_factory=set[str])
    made: list[Boundary] = msgspec.field(default_factory=list[Boundary])
    _asked: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    @property
    def uncounted(self) -> bool:
        """The service answers and never says what it counted: all is estimated."""
        return self.answers > 0 and not self.measured

    def feed(self, entry: ev.Entry) -> None:
        match entry.event:
            case ev.ToolCallProposed(call) if call.name == MARK:
                self._asked[call.call_id] = str((call.arguments or {}).get("detail", ""))
            case ev.ToolReturned():
                self._returned(entry.event)
            case ev.AssistantMessage(partial=False):
                self.answers += 1
            case ev.UsageReported(usage=usage, purpose="step", estimated=False) if usage.prompt:
                self.measured, self.unmeasured_bytes = True, 0
                self._sized(usage.prompt + usage.output)
            case ev.CompactionPerformed():
                self._compacted(entry, entry.event)
            case ev.CheckpointPerformed():
                self._recorded(entry, entry.event)
            case ev.ContextReductionPending(limit=limit):
                self.pending, self.crossed = True, limit
            case ev.ContextReductionDegraded("assumed-window", model):
                self.assumed.add(model)
            case ev.ContextReductionFailed():
                self._failed(entry.turn, entry.event)
            case _:
                pass  # decided: the rest neither fills the window nor reduces what is in it

    def _returned(self, event: ev.ToolReturned) -> None:
        self.unmeasured_bytes += sum(
            len(block.text.encode()) for block in event.output.for_model if isinstance(block, Text)
        )
        detail = self._asked.pop(event.call_id, None)
        if detail is not None and event.output.ok and not event.output.no_op:
            self.declared = detail

    def _sized(self, tokens: int) -> None:
        """A figure below the limit: the next crossing is a new one."""
        if tokens < self.crossed:
            self.pending, self.crossed = False, 0

    def _compacted(self, entry: ev.Entry, event: ev.CompactionPerformed) -> None:
        self.pending = False
        self._sized(event.tokens_after)
        if event.mode == "summary":
            self.failures, self.cool_until, self.probe = 0, 0, False
        elif event.mode == "mechanical":
            self.cool_until, self.probe = 0, True
        self.made.append(
            Boundary(
                "compaction", event.mode, entry.time, entry.turn, event.tokens_before, event.tokens_after,
                len(event.summary), len(event.cleared), event.focus, event.cost,
            )
        )  # fmt: skip

    def _recorded(self, entry: ev.Entry, event: ev.CheckpointPerformed) -> None:
        self.declared = None
        self._sized(event.tokens_after)
        self.made.append(
            Boundary(
                "checkpoint", event.by, entry.time, entry.turn, event.tokens_before, event.tokens_after,
                len(event.record), 0, event.note, event.cost,
            )
        )  # fmt: skip

    def _failed(self, turn: int, event: ev.ContextReductionFailed) -> None:
        if event.operation == "checkpoint":
            self.declared = None
            return
        self.pending, self.probe = False, False
        self.failures = event.consecutive_failures
        self.cool_until = turn + event.cooldown_turns


def degraded(event: ev.ContextReductionDegraded) -> str:
    """What happened, what it means and what can be done, for people."""
    model, window = event.model, event.window
    match event.operation:
        case "assumed-window":
            return (
                f"nobody knows the window of {model}: the conversation is reduced as if it had {window:,} tokens; "
                "--context-window says how large it is"
            )
        case "mechanical":
            return (
                "the conversation was shortened without a summary: of its older part calls and last words are left, of "
                "long messages their ends, and the model is told to look again instead of guessing"
            )
        case "turn-cut":
            return f"about {event.estimate:,} of the {window:,} tokens of {model} are used: the turn was cut"

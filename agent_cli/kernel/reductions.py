"""What happens to a conversation that grows too long, and at the end of a task."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.values import Value

DeclaredBy: TypeAlias = Literal["model", "operator", "heuristic"]
"""Who said that a task is done."""


class Shortened(Value, frozen=True):
    """A part of the operator's words of which the view has only head and tail from here on, `room` bytes of both.

    It is the one `at` that place among those of the entry `seq`. All `whole` bytes of it are in `path`, "" where they
    could not be kept, and `how` reads on there. A picture or document has no `room`: it is left out.
    """

    seq: int
    at: int
    room: int
    whole: int
    path: str = ""
    how: str = ""


class CompactionPerformed(Value, frozen=True, tag="compaction-performed"):
    """The view from here on: `summary` (empty for a prune) and what follows the entry `keeps_from`.

    `shortened` are words of the operator that do not fit the window as they are. `model` wrote the summary, at `cost`; both are empty where no model was asked.
    """

    mode: Literal["prune", "summary", "mechanical"]
    tokens_before: int
    tokens_after: int
    cleared: tuple[str, ...] = ()
    summary: str = ""
    keeps_from: int = 0
    focus: str = ""
    duration_s: float = 0.0
    cost: float | None = None
    model: str = ""
    shortened: tuple[Shortened, ...] = ()


class ContextReductionFailed(Value, frozen=True, tag="context-reduction-failed"):
    operation: Literal["compaction", "checkpoint"]
    reason: str
    consecutive_failures: int = 0
    cooldown_turns: int = 0


class ContextReductionDegraded(Value, frozen=True, tag="context-reduction-degraded"):
    operation: Literal["assumed-window", "turn-cut", "mechanical"]
    model: str
    estimate: int = 0
    window: int = 0
    unmeasured_bytes: int = 0


class ContextReductionPending(Value, frozen=True, tag="context-reduction-pending"):
    """The next prompt has grown past `limit`; it is reduced before the next request. Told once a crossing.

    `estimate` and `limit` are tokens; `unmeasured_bytes` are those of tool results that no service has counted yet.
    """

    model: str
    estimate: int
    limit: int
    unmeasured_bytes: int = 0


class CheckpointPerformed(Value, frozen=True, tag="checkpoint-performed"):
    """A task is done. The view from here on: `record` and what follows the entry `keeps_from`.

    `by` declared the task done; `model` wrote the record, at `cost`.
    """

    record: str
    keeps_from: int
    note: str = ""
    by: DeclaredBy = "operator"
    tokens_before: int = 0
    tokens_after: int = 0
    duration_s: float = 0.0
    cost: float | None = None
    model: str = ""

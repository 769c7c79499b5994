"""What happens in a session: `Recorded` facts, which stand in the log, and `Live` previews, which may be lost.

A fact is written before anybody sees it. Adding one to the union makes the type checker name every place
that must decide about it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.answers import Finished as Finished
from agent_cli.kernel.answers import FinishReason as FinishReason
from agent_cli.kernel.answers import SpentBeside as SpentBeside
from agent_cli.kernel.answers import UsageSoFar as UsageSoFar
from agent_cli.kernel.approvals import ApprovalDecided as ApprovalDecided
from agent_cli.kernel.approvals import ApprovalRequested as ApprovalRequested
from agent_cli.kernel.approvals import RuleAdded as RuleAdded
from agent_cli.kernel.commands import Mode
from agent_cli.kernel.guarded import BudgetWarning as BudgetWarning
from agent_cli.kernel.guarded import CheckRow as CheckRow
from agent_cli.kernel.guarded import Exhausted as Exhausted
from agent_cli.kernel.guarded import GuardrailChecked as GuardrailChecked
from agent_cli.kernel.guarded import GuardrailFinding as GuardrailFinding
from agent_cli.kernel.guarded import GuardrailReset as GuardrailReset
from agent_cli.kernel.guarded import GuardrailTrip as GuardrailTrip
from agent_cli.kernel.guarded import Severity as Severity
from agent_cli.kernel.guarded import StopScope as StopScope
from agent_cli.kernel.guarded import Surface as Surface
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Block, Effort, Said, ToolCall
from agent_cli.kernel.outcomes import Outcome as Outcome
from agent_cli.kernel.outputs import Display as Display
from agent_cli.kernel.outputs import FileDiff as FileDiff
from agent_cli.kernel.outputs import Output as Output
from agent_cli.kernel.outputs import Shown as Shown
from agent_cli.kernel.outputs import as_text as as_text
from agent_cli.kernel.reductions import CheckpointPerformed as CheckpointPerformed
from agent_cli.kernel.reductions import CompactionPerformed as CompactionPerformed
from agent_cli.kernel.reductions import ContextReductionDegraded as ContextReductionDegraded
from agent_cli.kernel.reductions import ContextReductionFailed as ContextReductionFailed
from agent_cli.kernel.reductions import ContextReductionPending as ContextReductionPending
from agent_cli.kernel.reductions import DeclaredBy as DeclaredBy
from agent_cli.kernel.reductions import Shortened as Shortened
from agent_cli.kernel.rewinding import Rewound as Rewound
from agent_cli.kernel.usage import Usage
from agent_cli.kernel.values import Plain, Value

# ── facts ────────────────────────────────────────────────────────────────────────────────────────────────


class SessionStarted(Value, frozen=True, tag="session-started"):
    """The facts that the system prompt is made from, so that it stays the same bytes after a resume."""

    cwd: str
    version: str
    platform: str
    day: str
    provider: str
    model: str
    mode: Mode


class TurnStarted(Value, frozen=True, tag="turn-started"):
    """`task_class` is the kind of work, `guards` the version, profile and mode of what watches it.

    `ceilings` are those that the session was opened with, without what was granted; null where nobody knows them.
    `prefix` are digests of the tools and of the system prompt that every request of it begins with, `TOOLS-SYSTEM`.
    """

    model: str
    task_class: str = ""
    guards: str = ""
    ceilings: Limits | None = None
    prefix: str = ""


class OperatorMessage(Value, frozen=True, tag="operator-message"):
    """`by` is "product" where we speak for the operator: to have a cut answer continued. It begins no turn.

    `queued` is the seq of the `MessageQueued` that this delivers, 0 for a message that did not wait. `subtask` is the
    branch whose report it brings, "" for none.
    """

    content: tuple[Block, ...]
    by: Literal["operator", "product"] = "operator"
    queued: int = 0
    subtask: str = ""


class MessageQueued(Value, frozen=True, tag="message-queued"):
    """A message of the operator's that waits: for the next step, the turn's end, or a reset. The model has not seen it."""

    content: tuple[Block, ...]
    when: Literal["steer", "after"] = "steer"


class MessageWithdrawn(Value, frozen=True, tag="message-withdrawn"):
    """The operator took a waiting message back. `queued` is the seq of its `MessageQueued`."""

    queued: int


class StepStarted(Value, frozen=True, tag="step-started"):
    model: str


class AssistantMessage(Value, frozen=True, tag="assistant-message"):
    """A complete answer. `partial` is set where it was cut by an interrupt or a lost connection."""

    parts: tuple[Said, ...]
    provider: str
    model: str
    finish_reason: FinishReason = "stop"
    native_reason: str = ""
    response_id: str = ""
    partial: bool = False


Purpose: TypeAlias = Literal["step", "summary", "subtask"]


class UsageReported(Value, frozen=True, tag="usage"):
    """Tokens and USD of one request, failed ones included; `cost` is None where the model has no price.

    `purpose` is "step" for the turn's own requests; others do not tell how full the window is. `saved` is what caches
    saved of it in USD, None where nobody knows. `estimated` is set where the answer was cut off before its service counted.
    """

    model: str
    usage: Usage
    cost: float | None
    purpose: Purpose = "step"
    saved: float | None = None
    estimated: bool = False


class ToolCallProposed(Value, frozen=True, tag="tool-call-proposed"):
    call: ToolCall


class ToolCallStarted(Value, frozen=True, tag="tool-call-started"):
    call_id: str
    tool: str
    subject: str
    rule: str


class ToolReturned(Value, frozen=True, tag="tool-result"):
    """The one result of a call. `executed` is False where it never ran (refused, invalid, cut off)."""

    call_id: str
    tool: str
    output: Output
    executed: bool = True
    duration_s: float = 0.0


class PlanRecorded(Value, frozen=True, tag="plan-recorded"):
    path: str
    plan: str


class PlanRevoked(Value, frozen=True, tag="plan-revoked"):
    path: str
    reason: str = ""


class Retry(Value, frozen=True, tag="retry"):
    """The request failed and is sent again after `delay_s`. Text shown from the failed attempt is withdrawn."""

    attempt: int
    attempts: int
    delay_s: float
    error_kind: str
    reason: str


class ModelSwitched(Value, frozen=True, tag="model-switched"):
    provider: str
    model: str
    reason: str = ""


class ModeSwitched(Value, frozen=True, tag="mode-switched"):
    mode: Mode


class EffortSwitched(Value, frozen=True, tag="effort-switched"):
    """`effort` is "" where the model thinks as much as it does by itself."""

    effort: Effort | Literal[""]


class SubtaskStarted(Value, frozen=True, tag="subtask-started"):
    """`subtask` is the branch where its own facts stand; `call_id` the call that it works for, "" where there is none.

    `agent` is the definition that it was started by, "" for none. In the `background` it outlives its call and its turn.
    `place` is the directory that it works in, "" for the session's own.
    """

    name: str
    model: str
    task: str
    subtask: str = ""
    call_id: str = ""
    agent: str = ""
    background: bool = False
    place: str = ""


class SubtaskCompleted(Value, frozen=True, tag="subtask-completed"):
    """`digest` is all that the one who started it gets. Tokens and USD were reported in the branch before.

    `report` says that no result of a call brings the digest: it joins the conversation with the next request. `agent` is
    the definition that it was started by, "" for none.
    """

    name: str
    outcome: Outcome
    digest: str
    usage: Usage
    cost: float | None
    model: str = ""
    subtask: str = ""
    report: bool = False
    agent: str = ""


class OperatorNote(Value, frozen=True, tag="operator-note"):
    """A line for the operator; the model never sees it. `detail` is one that only who asks for details is shown.
    `unread` is the kind of the entry of the log in whose place it stands, since that cannot be read; else "".
    """

    text: str
    level: Literal["detail", "info", "warning", "error"] = "info"
    unread: str = ""


class TurnError(Value, frozen=True, tag="turn-error"):
    """The turn ended without an answer.

    `error_kind` is "refusal" where the model did not want to answer, "content-filter" where its service stopped it, and
    "refused" where the turn never began.
    """

    error_kind: Literal["canceled", "overflow", "refused", "refusal", "content-filter", "provider", "error"]
    outcome: Outcome
    exit_code: int
    message: str
    exhausted: Exhausted | None = None


class TurnCompleted(Value, frozen=True, tag="turn-completed"):
    """The turn ended with an answer: the visible text of its last assistant message."""

    outcome: Outcome
    finish_reason: str
    exit_code: int = 0
    exhausted: Exhausted | None = None


class SessionEnded(Value, frozen=True, tag="session-ended"):
    """A process let go of the session; a later one may go on."""

    reason: str = ""


Recorded: TypeAlias = (
    SessionStarted
    | TurnStarted
    | OperatorMessage
    | MessageQueued
    | MessageWithdrawn
    | StepStarted
    | AssistantMessage
    | UsageReported
    | ToolCallProposed
    | GuardrailFinding
    | GuardrailChecked
    | ApprovalRequested
    | ApprovalDecided
    | ToolCallStarted
    | ToolReturned
    | GuardrailTrip
    | GuardrailReset
    | BudgetWarning
    | CompactionPerformed
    | ContextReductionPending
    | ContextReductionFailed
    | ContextReductionDegraded
    | CheckpointPerformed
    | PlanRecorded
    | PlanRevoked
    | Retry
    | ModelSwitched
    | ModeSwitched
    | RuleAdded
    | EffortSwitched
    | SubtaskStarted
    | SubtaskCompleted
    | Rewound
    | OperatorNote
    | TurnError
    | TurnCompleted
    | SessionEnded
)

TERMINAL = (TurnCompleted, TurnError)
"""Exactly one of these ends each turn."""


class Entry(Plain, frozen=True):
    """A fact with its place: `seq` counts from 1 without gaps, `time` is seconds since the epoch.

    `turn` and `step` count from 1 and are 0 outside of one; `branch` is "" or names a subtask.
    """

    session: str
    seq: int
    time: float
    turn: int
    step: int
    event: Recorded
    branch: str = ""


# ── previews ─────────────────────────────────────────────────────────────────────────────────────────────


class TextDelta(Value, frozen=True, tag="text-delta"):
    text: str


class ReasoningDelta(Value, frozen=True, tag="reasoning-delta"):
    text: str


class ArgumentsDelta(Value, frozen=True, tag="arguments-delta"):
    """A fragment of the JSON text of a call's arguments; `name` may still be empty."""

    call_id: str
    name: str
    text: str


class ToolProgress(Value, frozen=True, tag="tool-progress"):
    """Output of a running tool, as it comes."""

    call_id: str
    text: str


class Waiting(Value, frozen=True, tag="waiting"):
    """The engine sends a request again in `seconds`; told every second."""

    seconds: float
    reason: str


Live: TypeAlias = TextDelta | ReasoningDelta | ArgumentsDelta | ToolProgress | Waiting

Event: TypeAlias = Entry | Live
"""What a listener gets: facts with their place, and previews."""


# ── what a provider yields ───────────────────────────────────────────────────────────────────────────────


Piece: TypeAlias = TextDelta | ReasoningDelta | ArgumentsDelta | UsageSoFar | SpentBeside

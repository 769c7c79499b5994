"""Where a session stands: a fold of its log, for status bars and printers. Never a second truth."""

from __future__ import annotations

import contextlib
from typing import Literal, TypeAlias

import msgspec

from agent_cli.context import estimate
from agent_cli.context.boundaries import Boundaries
from agent_cli.context.system import source_of
from agent_cli.engine.branches import SubtaskRow, begun, end
from agent_cli.engine.counts import Counts
from agent_cli.guardrails.checks.past import Past
from agent_cli.guardrails.halts import Halts
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import CheckpointMode, Mode, Say
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Effort, ToolCall, calls_of, text_of
from agent_cli.kernel.rewinding import Spoken
from agent_cli.kernel.todo import TodoItem
from agent_cli.kernel.usage import ModelCard, Usage

TODO = "todo"
GOES_ON: frozenset[ev.FinishReason] = frozenset(("length", "pause", "other"))
"""Why a text may end before its end: the next one goes on with it. What stands before a call is none of the answer."""


class ModelRow(msgspec.Struct):
    """What one model did in this session. `requests` are its steps and those for summaries. `cost` counts priced requests;
    `unpriced` says that some were not.

    `saved` is what caches saved of it, as far as it is known; `estimated` says that part of it is our own estimate.
    """

    model: str
    steps: int = 0
    requests: int = 0
    usage: Usage = msgspec.field(default_factory=Usage)
    cost: float = 0.0
    unpriced: bool = False
    saved: float = 0.0
    estimated: bool = False

    def add(self, report: ev.UsageReported) -> None:
        self.steps += report.purpose == "step"
        self.requests += 1
        self.usage += report.usage
        self.cost += report.cost or 0.0
        self.saved += report.saved or 0.0
        self.unpriced = self.unpriced or report.cost is None
        self.estimated = self.estimated or report.estimated


class State(msgspec.Struct):
    """Up to date with the last recorded entry. Front ends read it and never write it.

    `context_tokens` is the size of the next prompt as far as known; `context_measured` of them a service
    counted; `context_estimated` says whether part of it is estimated. `context_limit` is where reduction begins (None: never by itself). `window` of the model is `card.window` (None: unknown). `turn_began` is the entry that began the turn, `turn_started` epoch seconds.
    `cwd` is where the session is opened now, `begun_in` where it was begun ("" before that).
    `task_class` is the kind of work that this run was started for, "" for none.
    `subtasks` are all of the session, by branch, in the order in which they started. Steps and calls of a turn are the
    session's own; tokens and cost are those of its subtasks, too, and `below` is the part of them. `reports` are what
    subtasks came to that the model was not told yet, by branch.
    `open_calls` counts calls of the step that have no result yet. `waiting` are messages that the model has not seen, by the seq of their entry. `budget_warned` are dimensions
    with their limits. `plan` is the text of the plan in force, in `plan_path`; `plan_revoked` why the last one is no more;
    `todo` what the last successful call of that tool set; `joined` are files of instructions that came in while it went
    on, with their sizes in bytes. `prefixes` are the digests of the last turn's tools and system prompt, by model.
    """

    session: str
    card: ModelCard
    limits: Limits
    mode: Mode = "ask"
    cwd: str = ""
    begun_in: str = ""
    title: str = ""
    effort: Effort | Literal[""] = ""
    task_class: str = ""
    seq: int = 0
    turn: int = 0
    step: int = 0
    running: bool = False
    turn_started: float = 0.0
    turn_began: int = 0
    turn_steps: int = 0
    turn_calls: int = 0
    turn_calls_below: int = 0
    turn_row: ModelRow = msgspec.field(default_factory=lambda: ModelRow(""))
    total: ModelRow = msgspec.field(default_factory=lambda: ModelRow(""))
    below: ModelRow = msgspec.field(default_factory=lambda: ModelRow(""))
    turn_below: ModelRow = msgspec.field(default_factory=lambda: ModelRow(""))
    models: dict[str, ModelRow] = msgspec.field(default_factory=dict)
    prefixes: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    branch: str = ""
    subtasks: dict[str, SubtaskRow] = msgspec.field(default_factory=dict)
    calls: int = 0
    context_tokens: int = 0
    context_measured: int = 0
    context_estimated: bool = False
    context_limit: int | None = None
    boundaries: Boundaries = msgspec.field(default_factory=Boundaries)
    checkpoint: CheckpointMode = "off"
    reports: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    pending: dict[str, ev.ApprovalRequested] = msgspec.field(default_factory=dict)
    open_calls: int = 0
    waiting: dict[int, Say] = msgspec.field(default_factory=dict)
    spoken: list[Spoken] = msgspec.field(default_factory=list)
    grants: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    plan: str = ""
    plan_path: str = ""
    plan_revoked: str = ""
    todo: tuple[TodoItem, ...] = ()
    joined: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    todo_asked: dict[str, ToolCall] = msgspec.field(default_factory=dict)
    halts: Halts = msgspec.field(default_factory=Halts)
    counts: Counts = msgspec.field(default_factory=Counts)
    past: Past = msgspec.field(default_factory=Past)
    budget_warned: set[tuple[ev.Exhausted, float]] = msgspec.field(default_factory=set)
    answer: str = ""
    answer_cut: str = ""
    ending: ev.TurnCompleted | ev.TurnError | None = None

    @property
    def started(self) -> bool:
        return self.seq > 0

    @property
    def queued(self) -> tuple[Say, ...]:
        """Messages that wait, in the order in which they go out."""
        return tuple(sorted(self.waiting.values(), key=lambda say: say.when != "steer"))

    def feed(self, entry: ev.Entry) -> None:
        self.seq = entry.seq
        if entry.branch != self.branch:
            _below(self, entry)
            return
        self.turn, self.step = entry.turn, entry.step
        self.halts.feed(entry.event)
        self.boundaries.feed(entry)
        self.counts.feed(entry.event)
        self.past.feed(entry.event)
        _apply(self, entry)

    def settle(self) -> None:
        """The log was read: no subtask of it runs any more."""
        for row in self.subtasks.values():
            row.lost = row.lost or not row.outcome
            end(row, "interrupted", row.started)
        self.past.cwd = self.cwd or self.past.cwd


def _apply(state: State, entry: ev.Entry) -> None:
    match entry.event:
        case ev.SessionStarted(cwd=cwd, mode=mode):
            state.begun_in, state.cwd, state.mode = cwd, state.cwd or cwd, mode
        case ev.TurnStarted():
            _begin_turn(state, entry, entry.event)
        case ev.MessageQueued() | ev.OperatorMessage() | ev.MessageWithdrawn():
            _hear(state, entry, entry.event)
        case ev.StepStarted():
            state.turn_steps += 1
        case ev.AssistantMessage(parts=parts, finish_reason=reason):
            _answer(state, text_of(parts), reason if reason in GOES_ON and not calls_of(parts) else "")
        case ev.UsageReported():
            _spend(state, entry.event)
        case ev.ToolCallProposed() | ev.ToolReturned() | ev.PlanRecorded() | ev.PlanRevoked():
            _work(state, entry.event)
        case ev.ApprovalRequested(call_id):
            state.pending[call_id] = entry.event
        case ev.ApprovalDecided(call_id, grant=grant):
            state.pending.pop(call_id, None)
            state.grants += (grant,) if grant else ()
        case ev.RuleAdded():
            _rule(state, entry.event)
        case ev.BudgetWarning(dimension, limit=limit):
            state.budget_warned.add((dimension, limit))
        case ev.CompactionPerformed(tokens_after=after) | ev.CheckpointPerformed(tokens_after=after):
            state.context_tokens, state.context_estimated, state.context_measured = after, True, 0
        case ev.Rewound(tokens_after=after, conversation=True):
            state.context_tokens, state.context_estimated, state.context_measured = after, True, 0
        case ev.ModeSwitched() | ev.EffortSwitched():
            _switch(state, entry.event)
        case ev.TurnError() | ev.TurnCompleted():
            state.running, state.ending = False, entry.event
            _leave_pending(state)
            state.open_calls = 0
            _leave(state, entry.time)
        case ev.SubtaskStarted() | ev.SubtaskCompleted():
            _branch(state, entry, entry.event)
        case silent:
            _nothing(silent)


Silent: TypeAlias = (
    ev.ToolCallStarted
    | ev.GuardrailFinding
    | ev.GuardrailChecked
    | ev.GuardrailTrip
    | ev.GuardrailReset
    | ev.ContextReductionPending
    | ev.ContextReductionFailed
    | ev.ContextReductionDegraded
    | ev.Retry
    | ev.ModelSwitched
    | ev.OperatorNote
    | ev.Rewound
    | ev.SessionEnded
)


def _nothing(event: Silent) -> None:
    """Decided: nothing of these is part of where the session stands, or a fold of its own has it. A new event fails the types here."""


def _switch(state: State, event: ev.ModeSwitched | ev.EffortSwitched) -> None:
    match event:
        case ev.ModeSwitched(mode):
            state.mode = mode
        case ev.EffortSwitched(effort):
            state.effort = effort


def _rule(state: State, added: ev.RuleAdded) -> None:
    match added.verdict:
        case "allow":
            state.grants += (added.rule,)
        case "deny":
            state.denials += (added.rule,)


def _hear(
    state: State, entry: ev.Entry, event: ev.MessageQueued | ev.OperatorMessage | ev.MessageWithdrawn
) -> None:
    match event:
        case ev.MessageQueued(content, when):
            state.waiting[entry.seq] = Say(content, when)
        case ev.MessageWithdrawn(queued):
            state.waiting.pop(queued, None)
        case ev.OperatorMessage(content, by, queued, branch):
            title = _title(text_of(content))
            state.waiting.pop(queued, None)
            state.reports.pop(branch, None)
            state.title = state.title or title
            if by == "operator":
                state.answer = ""
                state.spoken.append(Spoken(entry.seq, entry.turn, entry.time, title))
            elif joined := source_of(text_of(content)):
                state.joined[joined[0]] = joined[1]
            _estimate(state, estimate.tokens_of_content(content))


def _below(state: State, entry: ev.Entry) -> None:
    """A fact of a subtask: what it spends, asks and is granted is the session's; the rest is its own."""
    row = state.subtasks.get(entry.branch)
    if row is not None:
        row.feed(entry.event)
    match entry.event:
        case ev.UsageReported():
            of_model = state.models.setdefault(entry.event.model, ModelRow(entry.event.model))
            for counted in (of_model, state.total, state.turn_row, state.below, state.turn_below):
                counted.add(entry.event)
        case ev.ToolCallProposed():
            state.turn_calls_below += 1
        case ev.ApprovalRequested(call_id):
            state.pending[call_id] = entry.event
        case ev.ApprovalDecided(call_id, grant=grant):
            state.pending.pop(call_id, None)
            state.grants += (grant,) if grant else ()
        case ev.SubtaskStarted() | ev.SubtaskCompleted():
            _branch(state, entry, entry.event)
        case _:
            pass  # decided: a subtask has a state of its own


def _branch(state: State, entry: ev.Entry, event: ev.SubtaskStarted | ev.SubtaskCompleted) -> None:
    match event:
        case ev.SubtaskStarted(subtask=branch):
            state.subtasks[branch] = begun(entry, event)
        case ev.SubtaskCompleted(outcome=outcome, subtask=branch):
            row = state.subtasks.get(branch)
            if row is not None:
                end(row, outcome, entry.time)
                row.digest, row.lost = event.digest if row.agent else "", False
            if event.report:
                state.reports[branch] = event.digest


def _leave(state: State, time: float) -> None:
    """Only one in the background outlives its turn: another that did not end was cut with the process."""
    beside = _beside(state)
    for row in state.subtasks.values():
        if not row.branch.startswith(beside):
            row.lost = row.lost or not row.outcome
            end(row, "interrupted", time)


def _leave_pending(state: State) -> None:
    """What a subtask in the background asks stays asked."""
    beside = _beside(state)
    labels = {row.label for row in state.subtasks.values() if row.branch.startswith(beside)}
    state.pending = {call: asked for call, asked in state.pending.items() if asked.agent in labels}


def _beside(state: State) -> tuple[str, ...]:
    """The branches that go on without the turn, as beginnings of those below them."""
    return tuple(row.branch for row in state.subtasks.values() if row.background and not row.outcome)


def _begin_turn(state: State, entry: ev.Entry, event: ev.TurnStarted) -> None:
    state.prefixes[event.model] = event.prefix
    state.running, state.turn_began, state.turn_started, state.ending = True, entry.seq, entry.time, None
    state.turn_steps = state.turn_calls = state.turn_calls_below = 0
    state.turn_row, state.turn_below = ModelRow(""), ModelRow("")
    state.answer, state.answer_cut = "", ""


def _answer(state: State, text: str, cut: str) -> None:
    """The text of the last assistant message; one that was `cut` goes on in the next: after a pause with a new paragraph."""
    before = state.answer if state.answer_cut else ""
    if before.strip() and text.strip() and state.answer_cut != "length":
        before = f"{before.rstrip()}\n\n"
    state.answer, state.answer_cut = before + text, cut


def _spend(state: State, report: ev.UsageReported) -> None:
    row = state.models.setdefault(report.model, ModelRow(report.model))
    for counted in (row, state.total, state.turn_row):
        counted.add(report)
    if report.usage.prompt and report.purpose == "step" and not report.estimated:
        state.context_tokens = report.usage.prompt + report.usage.output
        state.context_measured = state.context_tokens
        state.context_estimated = False


def _work(
    state: State, event: ev.ToolCallProposed | ev.ToolReturned | ev.PlanRecorded | ev.PlanRevoked
) -> None:
    """Calls with their results, and what the agent has set itself to do."""
    match event:
        case ev.ToolCallProposed(call):
            state.turn_calls += 1
            state.open_calls += 1
            state.calls += 1
            if call.name == TODO:
                state.todo_asked[call.call_id] = call
        case ev.ToolReturned(call_id, output=output):
            state.open_calls = max(state.open_calls - 1, 0)
            _set_todo(state, state.todo_asked.pop(call_id, None), output)
            _estimate(state, estimate.tokens_of_result(output))
        case ev.PlanRecorded(path, plan):
            state.plan, state.plan_path, state.plan_revoked = plan, path, ""
        case ev.PlanRevoked(_, reason):
            state.plan, state.plan_path = "", ""
            state.plan_revoked = f"the plan was revoked by the operator{f' ({reason})' if reason else ''}"


def _set_todo(state: State, call: ToolCall | None, output: ev.Output) -> None:
    """The list as the call gave it, if the tool took it."""
    if call is not None and output.ok:
        with contextlib.suppress(msgspec.ValidationError):
            state.todo = msgspec.convert((call.arguments or {}).get("items"), tuple[TodoItem, ...])


def _estimate(state: State, tokens: int) -> None:
    state.context_tokens += tokens
    state.context_estimated = True


def _title(text: str) -> str:
    """The first line of the first message, at most 60 characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 60 else line[:59] + "…"

"""Recorded sessions as turns: what of each one says something about guardrails. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import text_of


@dataclass(slots=True)
class Turn:
    """One turn, as far as it is recorded; `below` are trips of its subtasks. Times are seconds since the epoch."""

    session: str
    number: int
    model: str
    task: str
    guards: str
    began: float
    ended: float = 0.0
    steps: int = 0
    calls: int = 0
    executed: int = 0
    tools: list[str] = field(default_factory=list[str])
    asked: str = ""
    trips: list[tuple[ev.GuardrailTrip, float]] = field(default_factory=list[tuple[ev.GuardrailTrip, float]])
    below: list[tuple[ev.GuardrailTrip, float]] = field(default_factory=list[tuple[ev.GuardrailTrip, float]])
    findings: list[ev.GuardrailFinding] = field(default_factory=list[ev.GuardrailFinding])
    checked: list[ev.CheckRow] = field(default_factory=list[ev.CheckRow])
    approvals: list[float] = field(default_factory=list[float])
    ending: ev.TurnCompleted | ev.TurnError | None = None

    @property
    def stopped(self) -> ev.GuardrailTrip | None:
        """What cut it."""
        return next((trip for trip, _ in self.trips if trip.halted_turn), None)


@dataclass(slots=True)
class Run:
    """One session. `resets` are the turns after which one came.

    `waiting` are the questions that nobody answered yet, `undone` the calls of the turn without a result, by id, and
    `queued` the messages that wait, by seq.
    """

    session: str
    cwd: str = ""
    turns: list[Turn] = field(default_factory=list[Turn])
    resets: list[int] = field(default_factory=list[int])
    waiting: dict[str, tuple[ev.ApprovalRequested, float]] = field(
        default_factory=dict[str, tuple[ev.ApprovalRequested, float]]
    )
    undone: set[str] = field(default_factory=set[str])
    queued: set[int] = field(default_factory=set[int])


def read(session: str, cwd: str, entries: Iterable[ev.Entry]) -> Run:
    """A recorded session as turns. Facts of subtasks count in the turn that they belong to."""
    run = Run(session, cwd)
    for entry in entries:
        event = entry.event
        _wait(run, entry)
        if isinstance(event, ev.TurnStarted) and not entry.branch:
            run.turns.append(
                Turn(session, entry.turn, event.model, event.task_class, event.guards, entry.time)
            )
        elif isinstance(event, ev.GuardrailReset):
            run.resets.append(len(run.turns))
        elif run.turns:
            _feed(run, run.turns[-1], entry)
    return run


def _wait(run: Run, entry: ev.Entry) -> None:
    """What has no answer, no result, and has not reached the model."""
    match entry.event:
        case ev.TurnStarted() if not entry.branch:
            run.waiting.clear()  # of a process that died
            run.undone.clear()
        case ev.ToolCallProposed(call):
            run.undone.add(call.call_id)
        case ev.ToolReturned(call_id):
            run.undone.discard(call_id)
        case ev.MessageQueued():
            run.queued.add(entry.seq)
        case ev.MessageWithdrawn(queued) | ev.OperatorMessage(queued=queued):
            run.queued.discard(queued)
        case _:
            pass  # nothing of the rest holds anything up


def _feed(run: Run, turn: Turn, entry: ev.Entry) -> None:
    match entry.event:
        case ev.OperatorMessage(content, by="operator") if not turn.asked:
            turn.asked = text_of(content)
        case ev.StepStarted():
            turn.steps += 1
        case ev.ToolCallProposed(call):
            turn.calls += 1
            turn.tools.append(call.name)
        case ev.ToolReturned(executed=True):
            turn.executed += 1
        case ev.GuardrailTrip():
            (turn.below if entry.branch else turn.trips).append((entry.event, entry.time))
        case ev.GuardrailFinding():
            turn.findings.append(entry.event)
        case ev.GuardrailChecked(rows):
            turn.checked += rows
        case ev.ApprovalRequested(call_id):
            run.waiting[call_id] = entry.event, entry.time
        case ev.ApprovalDecided(call_id):
            if (asked := run.waiting.pop(call_id, None)) is not None:
                turn.approvals.append(entry.time - asked[1])
        case ev.TurnCompleted() | ev.TurnError() if not entry.branch:
            turn.ending, turn.ended = entry.event, entry.time
        case _:
            pass  # nothing of the rest is about what stops

"""What a one-shot run says on stderr while it works: one line a fact, nothing that a terminal would obey."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from agent_cli.context.boundaries import degraded
from agent_cli.headless.plain import one_line, plain
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import ToolCall, calls_of, text_of
from agent_cli.kernel.outcomes import OUTCOME_UNKNOWN


class Level(IntEnum):
    """How much is said. Lines of a lower level are always part of a higher one."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


Line: TypeAlias = tuple[Level, str]

CUT = "the cancellation that follows is this cut, not a provider failure"
ONE_SHOT = (
    "Nothing starts another turn by itself: with somebody there the session goes on, and a one-shot (-p) run ends here "
    "with exit {code}."
)

ADMISSION = "admission"
LATER = "pool-calls"
"""A trip of the pool that ends with the exit code of what can be tried again later."""
NOT_ADMITTED = "A one-shot (-p) run ends here with exit 75."
NOT_HALTED = "The turn was stopped with its work unfinished; the session is NOT halted."


class Narrator:
    """Turns entries into lines. Fed every entry in order, since a result needs the call it belongs to."""

    def __init__(self, session: str) -> None:
        self._tag = f"agent: [session {session}]"
        self._subjects: dict[str, str] = {}
        self._begun: dict[str, str] = {}

    def operator(self, text: str) -> str:
        """A line of the operator's log."""
        return f"{self._tag} {one_line(text, 2_000)}"

    def tell(self, entry: ev.Entry) -> Line | None:
        if entry.branch:
            return self._tell_below(entry)
        match entry.event:
            case ev.AssistantMessage(parts):
                asked = calls_of(parts)  # those that no longer fit a ceiling are not even proposed
                self._subjects |= {call.call_id: _arguments(call) for call in asked}
                return _spoken(text_of(parts)) if asked else None
            case ev.ToolCallProposed(call):
                self._subjects[call.call_id] = _arguments(call)
            case ev.ToolCallStarted(call_id, tool, subject):
                self._subjects[call_id] = subject
                self._begun[call_id] = one_line(f"{tool} {subject}")
            case ev.ToolReturned():
                self._begun.pop(entry.event.call_id, None)
                return Level.NORMAL, self._returned(entry.event)
            case ev.GuardrailTrip():
                return Level.QUIET, self.operator(_trip(entry.event))
            case ev.UsageReported():
                return Level.VERBOSE, self.operator(f"step {entry.step}: {_usage(entry.event)}")
            case event:
                return self._noted(event)
        return None

    def unsettled(self, why: str = OUTCOME_UNKNOWN) -> list[str]:
        """Lines of the calls that had started and came to no result, at the end of their turn; then there are none."""
        lines = [f"  {call}: {why}" for call in self._begun.values()]
        self._begun.clear()
        return lines

    def _tell_below(self, entry: ev.Entry) -> Line | None:
        """What a subtask does is told where much is told; that it waits, as for the run itself."""
        name = entry.branch.rpartition(":")[2]
        match entry.event:
            case ev.ToolCallProposed(call):
                self._subjects[call.call_id] = _arguments(call)
            case ev.ToolCallStarted(call_id, subject=subject):
                self._subjects[call_id] = subject
            case ev.ToolReturned():
                return Level.VERBOSE, f"  {name}: {self._returned(entry.event).strip()}"
            case ev.UsageReported():
                return Level.VERBOSE, self.operator(f"{name} step {entry.step}: {_usage(entry.event)}")
            case ev.Retry() | ev.GuardrailTrip():
                noted = _note(entry.event)
                text = noted[1] if noted else _trip_below(entry.event)
                return Level.NORMAL, self.operator(f"{name}: {text}")
            case _:
                pass
        return None

    def _returned(self, event: ev.ToolReturned) -> str:
        call = one_line(f"{event.tool} {self._subjects.pop(event.call_id, '')}")
        if event.output.ok:
            return f"  {call}: ok ({event.duration_s:.2f} s)"
        reason = one_line(ev.as_text(event.output), 300)
        took = f"({event.duration_s:.2f} s)" if event.executed else "(not run)"
        return f"  {call}: failed {took}: {reason}"

    def _noted(self, event: ev.Recorded) -> Line | None:
        noted = _note(event)
        return None if noted is None else (noted[0], self.operator(noted[1]))


NOTED = {"detail": Level.VERBOSE, "info": Level.NORMAL, "warning": Level.NORMAL, "error": Level.QUIET}


def _note(event: ev.Recorded) -> Line | None:
    """Facts that are one sentence to the operator."""
    level = Level.NORMAL
    match event:
        case ev.OperatorNote(text, importance):
            level = NOTED[importance]
        case ev.GuardrailFinding(check, severity="halt", message=message):
            level, text = Level.QUIET, cut_line(f"{check} guardrail", f"{message}. {NOT_HALTED}")
        case ev.GuardrailFinding(check, severity=severity, message=message):
            text = f"{check} ({severity}): {message}"
        case ev.BudgetWarning(dimension):
            text = f"{dimension}: {event.share}"
        case ev.Retry(attempt, attempts, delay_s, kind, reason):
            again = f"attempt {attempt + 1} of {attempts} in {delay_s:.1f} s"
            text = f"the request failed ({kind}: {reason}); {again}"
        case ev.ApprovalDecided(_, tool, allowed=False, message=message):
            text = f"{tool}: approval refused. {message}"
        case (
            ev.CompactionPerformed()
            | ev.CheckpointPerformed()
            | ev.ContextReductionPending()
            | ev.ContextReductionFailed()
            | ev.ContextReductionDegraded()
        ):
            return _reduction(event)
        case ev.ModelSwitched(provider, model, reason):
            text = f"model: {provider}/{model} {reason}"
        case ev.PlanRecorded(path) | ev.PlanRevoked(path):
            text = f"plan: {path}"
        case ev.Rewound(to, _, restored, failed):
            text = f"rewound to entry {to}; {len(restored)} files restored" + "".join(
                f"; not {each}" for each in failed
            )
        case ev.SubtaskStarted() | ev.SubtaskCompleted():
            text = _subtask(event)
        case silent:
            return _silent(silent)
    return level, text


def _subtask(event: ev.SubtaskStarted | ev.SubtaskCompleted) -> str:
    """An agent is called by its number, too."""
    match event:
        case ev.SubtaskStarted(task=task, background=background):
            how = f"started{' in the background' * background}: {task}"
        case ev.SubtaskCompleted(outcome=outcome):
            how = f"ended: {outcome}"
    what = f"agent {event.subtask.rpartition(':')[2]}" if event.agent else f"subtask {event.name}"
    return f"{what} {how}"


_Reduction: TypeAlias = (
    ev.CompactionPerformed
    | ev.CheckpointPerformed
    | ev.ContextReductionPending
    | ev.ContextReductionFailed
    | ev.ContextReductionDegraded
)


def _reduction(event: _Reduction) -> Line:
    level = Level.NORMAL
    match event:
        case ev.CompactionPerformed(mode, before, after):
            text = f"context reduced ({mode}): {before:,} to {after:,} tokens"
        case ev.ContextReductionPending(model, size, limit):
            level = Level.VERBOSE
            text = f"context of {model}: about {size:,} tokens, past {limit:,}; it is reduced before the next request"
        case ev.ContextReductionFailed(operation, reason):
            text = f"{operation} failed: {reason}"
        case ev.ContextReductionDegraded("turn-cut", model, size, window, unmeasured):
            why = (
                f"about {size:,} of the {window:,} tokens of {model} are used"
                f" ({unmeasured:,} bytes were not counted by the service yet). {NOT_HALTED}"
            )
            level, text = Level.QUIET, cut_line("context window", why)
        case ev.ContextReductionDegraded():
            text = degraded(event)
        case ev.CheckpointPerformed(note=note, tokens_before=before, tokens_after=after):
            text = f"checkpoint ({before:,} to {after:,} tokens){': ' + note if note else ''}"
    return level, text


Silent: TypeAlias = (
    ev.SessionStarted
    | ev.TurnStarted
    | ev.OperatorMessage
    | ev.MessageQueued
    | ev.MessageWithdrawn
    | ev.StepStarted
    | ev.AssistantMessage
    | ev.UsageReported
    | ev.ToolCallProposed
    | ev.ApprovalRequested
    | ev.ApprovalDecided
    | ev.ToolCallStarted
    | ev.ToolReturned
    | ev.GuardrailTrip
    | ev.GuardrailReset
    | ev.GuardrailChecked
    | ev.ModeSwitched
    | ev.RuleAdded
    | ev.EffortSwitched
    | ev.TurnError
    | ev.TurnCompleted
    | ev.SessionEnded
)


def _silent(event: Silent) -> None:
    """Decided: nothing is said of these, or it is said elsewhere. A new event fails the types here."""


def _spoken(text: str) -> Line | None:
    """What the model says before it calls tools is not the answer."""
    text = plain(text).strip()
    return (Level.NORMAL, text) if text else None


def _arguments(call: ToolCall) -> str:
    return " ".join(str(value) for value in (call.arguments or {}).values()) or call.raw


def _trip(trip: ev.GuardrailTrip) -> str:
    if trip.guardrail == ADMISSION and trip.severity == "block":
        return f"{trip.guardrail} guardrail refused the turn — {trip.reason}. {trip.then} {NOT_ADMITTED}"
    if trip.halted_turn:
        what, why = f"{trip.guardrail} guardrail", f"{trip.reason}. {trip.then}".strip()
        return cut_line(what, why, 75 if trip.signal == LATER else 1)
    return f"{trip.guardrail} guardrail tripped — {trip.reason}. {trip.then}".strip()


def cut_line(what: str, why: str, code: int = 1) -> str:
    """Of everything that cuts a turn in flight, so that nobody takes the cancellation for a failure."""
    return f"{what} cut the turn in flight — {CUT}: {why} {ONE_SHOT.format(code=code)}"


def _trip_below(event: ev.Recorded) -> str:
    return (
        f"{event.guardrail} guardrail ended it: {event.reason}" if isinstance(event, ev.GuardrailTrip) else ""
    )


def _usage(report: ev.UsageReported) -> str:
    usage = report.usage
    cost = "unpriced" if report.cost is None else f"{'~' * report.estimated}${report.cost:.4f}"
    cached = f", {usage.cache_read:,} cached" if usage.cache_read else ""
    return f"{usage.prompt:,} tokens in{cached}, {usage.output:,} out, {cost} ({report.model})"

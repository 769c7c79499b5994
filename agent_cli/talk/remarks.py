"""Facts that are told in a line or a banner. Silent ones are named here too: a new fact must be decided about."""

from __future__ import annotations

from typing import TypeAlias

from agent_cli.context.boundaries import degraded
from agent_cli.kernel import events as ev
from agent_cli.talk.amounts import dollars, tokens
from agent_cli.talk.answers import Alarm, Answer, Level, Note

Told: TypeAlias = (
    ev.GuardrailFinding
    | ev.GuardrailTrip
    | ev.GuardrailReset
    | ev.BudgetWarning
    | ev.CompactionPerformed
    | ev.ContextReductionFailed
    | ev.ContextReductionDegraded
    | ev.CheckpointPerformed
    | ev.PlanRecorded
    | ev.PlanRevoked
    | ev.Retry
    | ev.ModelSwitched
    | ev.ModeSwitched
    | ev.RuleAdded
    | ev.EffortSwitched
    | ev.SubtaskStarted
    | ev.SubtaskCompleted
    | ev.Rewound
    | ev.OperatorNote
)

OUTCOMES: dict[ev.Outcome, str] = {
    "completed": "done",
    "budget-exhausted": "stopped: a budget is used up",
    "guardrail-stop": "stopped by a guardrail",
    "no-progress": "stopped: no progress",
    "loop-detected": "stopped: it was going in circles",
    "guardrail-unavailable": "stopped: a guardrail could not be asked",
    "context-overflow": "stopped: the context window is full",
    "interrupted": "interrupted",
    "halted": "refused: the session is halted",
    "error": "failed",
}


REPORTED = "this report goes to the model with its next request"


def remark(event: Told) -> Answer:
    match event:
        case ev.GuardrailFinding() | ev.GuardrailTrip() | ev.GuardrailReset() | ev.BudgetWarning():
            return _guardrail(event)
        case (
            ev.CompactionPerformed()
            | ev.ContextReductionFailed()
            | ev.ContextReductionDegraded()
            | ev.CheckpointPerformed()
        ):
            return _reduction(event)
        case ev.PlanRecorded() | ev.PlanRevoked() | ev.SubtaskStarted() | ev.SubtaskCompleted():
            return _work(event)
        case ev.Retry(attempt, attempts, delay, _, reason):
            when = f" in {delay:.0f}s" if delay >= 1 else ""
            return Note(f"{reason}\nasking again{when}, attempt {attempt + 1} of {attempts}", "warning")
        case ev.ModelSwitched(provider, model, reason):  # two services may have a model of one name
            return Note(f"model: {provider}/{model}" + (f" ({reason})" if reason else ""))
        case ev.Rewound():
            return _rewound(event)
        case ev.ModeSwitched() | ev.RuleAdded() | ev.EffortSwitched():
            return _gate(event)
        case ev.OperatorNote(text, level):
            return Note(text, "info" if level == "detail" else level)


def _gate(event: ev.ModeSwitched | ev.RuleAdded | ev.EffortSwitched) -> Answer:
    match event:
        case ev.ModeSwitched(mode):
            return Note(f"permission mode: {mode}")
        case ev.RuleAdded(verdict, rule, kept):
            return Note(f"{verdict} rule, {'in config' if kept else 'for this session'}: {rule}")
        case ev.EffortSwitched(effort):
            return Note(f"effort: {effort or 'as the model does by itself'}")


def _rewound(event: ev.Rewound) -> Answer:
    what = (
        "the conversation goes on from before that message"
        if event.conversation
        else "the conversation stays"
    )
    lines = [f"rewound: {what}"]
    lines += [f"restored: {path}" for path in event.restored] or ["no file had to be restored"]
    lines += [f"NOT restored: {problem}" for problem in event.failed]
    return Note("\n".join(lines), "warning" if event.failed else "info")


def _work(event: ev.PlanRecorded | ev.PlanRevoked | ev.SubtaskStarted | ev.SubtaskCompleted) -> Answer:
    match event:
        case ev.PlanRecorded(path):
            return Note(f"plan recorded: {path}")
        case ev.PlanRevoked(path, reason):
            return Note(f"plan revoked: {path}" + (f": {reason}" if reason else ""))
        case ev.SubtaskStarted(model=model, task=task, place=place):
            where = f" in {place}" if place else ""
            return Note(f"{named(event)} with {model}{where}: {task}")
        case ev.SubtaskCompleted(_, outcome, digest, usage, cost):
            spent = "unpriced" if cost is None else dollars(cost)
            digest = f"{digest}\n({REPORTED})" if event.report else digest
            return Note(
                f"{named(event)}: {OUTCOMES[outcome]}, {tokens(usage.total)} tokens, {spent}\n{digest}".rstrip()
            )


def named(event: ev.SubtaskStarted | ev.SubtaskCompleted) -> str:
    """What people call it: an agent has a number, by which it can be looked at and stopped."""
    return f"agent {event.subtask.rpartition(':')[2]}" if event.agent else f"subtask {event.name}"


def _guardrail(
    event: ev.GuardrailFinding | ev.GuardrailTrip | ev.GuardrailReset | ev.BudgetWarning,
) -> Answer:
    match event:
        case ev.GuardrailFinding(check, surface, severity, message):
            if severity == "warn":
                return Note(f"{check} ({surface}): {message}", "warning")
            return Alarm(f"{check}: {severity} ({surface})", message)
        case ev.GuardrailTrip(guardrail, signal, severity, scope, reason, halted, then):
            level: Level = "warning" if severity == "warn" else "error"
            what = f"stops the {scope}" if halted or scope == "session" else "tripped"
            return Alarm(f"guardrail {guardrail} {what}  ({signal})", f"{reason}\n{then}".rstrip(), level)
        case ev.GuardrailReset(guardrail, added):
            return Note(f"guardrail {guardrail} reset" + (f", {dollars(added)} added" if added else ""))
        case ev.BudgetWarning(dimension):
            return Note(f"budget of {dimension}: {event.share}", "warning")


def _reduction(
    event: ev.CompactionPerformed
    | ev.ContextReductionFailed
    | ev.ContextReductionDegraded
    | ev.CheckpointPerformed,
) -> Answer:
    match event:
        case ev.CompactionPerformed(mode, before, after):
            return Note(f"context reduced ({mode}): {tokens(before)} → {tokens(after)} tokens")
        case ev.ContextReductionFailed(operation, reason):
            return Note(f"{operation} failed: {reason}", "warning")
        case ev.ContextReductionDegraded():
            return Note(degraded(event), "warning")
        case ev.CheckpointPerformed(note=note, tokens_before=before, tokens_after=after):
            told = f": {note}" if note else ""
            return Note(f"checkpoint{told} ({tokens(before)} → {tokens(after)} tokens)")

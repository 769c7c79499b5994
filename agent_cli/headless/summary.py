"""What came of a one-shot run: one object whose fields agree with its exit code."""

from __future__ import annotations

from typing import Any

import msgspec

from agent_cli.engine.state import ModelRow
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import AgentError, ConfigError, NameTaken, ProviderError, SessionNotFound
from agent_cli.kernel.events import Exhausted, Outcome
from agent_cli.kernel.usage import Usage

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNAVAILABLE = 75


class Tokens(msgspec.Struct, frozen=True):
    """`input` is uncached input: the prompt is input + cache_read + cache_write. `output` includes `reasoning`."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0


class ModelUse(msgspec.Struct, frozen=True):
    model: str
    usage: Tokens
    cost_usd: float | None


class StepUse(msgspec.Struct, frozen=True):
    """One request of the run: turn and step count from 1; a request that was made again has a row for each time.

    `cached_share` is the part of the prompt that was read from a cache, 0 to 1. `estimated` is set where the answer was cut
    off before its service counted.
    """

    turn: int
    step: int
    model: str
    usage: Tokens
    cached_share: float
    cost_usd: float | None
    estimated: bool


class Trip(msgspec.Struct, frozen=True):
    guardrail: str
    signal: str
    scope: str
    reason: str


class Failure(msgspec.Struct, frozen=True):
    """`kind` is a terminal event's `error_kind`, or of a run that never began: usage, config, store, …."""

    kind: str
    message: str


class Result(msgspec.Struct, frozen=True):
    """Of this run, not of the whole session. `error` is None exactly where `exit_code` is 0.

    `cost_usd` is None where a request was made to a model without a price; `cost_estimated` says that part of it is our
    own estimate. `structured` is the answer as
    JSON where a schema was asked for.
    """

    answer: str | None
    outcome: Outcome
    finish_reason: str | None
    exhausted: Exhausted | None
    session: str | None
    model: str | None
    usage: Tokens
    cost_usd: float | None
    cost_estimated: bool
    models: tuple[ModelUse, ...]
    steps: int
    step_usage: tuple[StepUse, ...]
    tool_calls: int
    trips: tuple[Trip, ...]
    error: Failure | None
    structured: Any
    duration_s: float
    exit_code: int


class Tally:
    """Adds up what one run did, fed with its entries in order.

    Tokens and cost are those of subtasks and summaries, too; steps, calls and trips are the run's own.
    """

    def __init__(self) -> None:
        self.total = ModelRow("")
        self._models: dict[str, ModelRow] = {}
        self._steps = 0
        self._step_usage: list[StepUse] = []
        self._calls = 0
        self._trips: list[Trip] = []

    def feed(self, entry: ev.Entry) -> None:
        event = entry.event
        if isinstance(event, ev.UsageReported):
            self.total.add(event)
            self._models.setdefault(event.model, ModelRow(event.model)).add(event)
            if event.purpose == "step" and not entry.branch:
                self._step_usage.append(_step(entry, event))
        elif entry.branch:
            return
        elif isinstance(event, ev.StepStarted):
            self._steps += 1
        elif isinstance(event, ev.ToolCallProposed):
            self._calls += 1
        elif isinstance(event, ev.GuardrailTrip):
            self._trips.append(Trip(event.guardrail, event.signal, event.scope, event.reason))

    def result(self, verdict: Verdict, session: str | None, model: str | None, duration_s: float) -> Result:
        return Result(
            answer=verdict.answer,
            outcome=verdict.outcome,
            finish_reason=verdict.finish_reason,
            exhausted=verdict.exhausted,
            session=session,
            model=model,
            usage=_tokens(self.total.usage),
            cost_usd=_cost(self.total),
            cost_estimated=self.total.estimated,
            models=tuple(
                ModelUse(row.model, _tokens(row.usage), _cost(row)) for row in self._models.values()
            ),
            steps=self._steps,
            step_usage=tuple(self._step_usage),
            tool_calls=self._calls,
            trips=tuple(self._trips),
            error=verdict.error,
            structured=verdict.structured,
            duration_s=round(duration_s, 3),
            exit_code=verdict.exit_code,
        )


class Verdict(msgspec.Struct, frozen=True):
    """How the run ended, decided in one place."""

    outcome: Outcome
    exit_code: int
    answer: str | None = None
    finish_reason: str | None = None
    exhausted: Exhausted | None = None
    error: Failure | None = None
    structured: Any = None


def answered(
    ending: ev.TurnCompleted, answer: str, lacks: Failure | None = None, structured: Any = None
) -> Verdict:
    """An answer was delivered; `lacks` says why it does not count as one all the same."""
    reason, exhausted = ending.finish_reason, ending.exhausted
    if lacks is None:
        return Verdict(ending.outcome, ending.exit_code, answer, reason, exhausted, structured=structured)
    outcome = ending.outcome if ending.outcome != "completed" else "error"
    return Verdict(outcome, EXIT_FAILED, answer, reason, exhausted, lacks, structured)


def lacking(ending: ev.TurnCompleted, *, cut_off: bool) -> Failure | None:
    """What `--strict` does not accept."""
    if ending.exhausted:
        message = (
            f"the answer was forced by a used-up budget ({ending.exhausted}), which --strict does not accept"
        )
        return Failure(ending.outcome, message)
    if cut_off:
        message = (
            "the answer was cut off by its output limit and is not whole, which --strict does not accept"
        )
        return Failure("cut-off", f"{message}; --max-output-tokens allows more")
    return None


def misfit(ending: ev.TurnCompleted, problem: str) -> Verdict:
    """There was an answer, also to the second question, and it is not what was asked for: it is not delivered."""
    message = f"the answer does not fit the schema of --json-schema: {problem}"
    return Verdict(
        "error",
        EXIT_FAILED,
        finish_reason=ending.finish_reason,
        exhausted=ending.exhausted,
        error=Failure("schema", message),
    )


def cut(ending: ev.TurnError) -> Verdict:
    error = Failure(ending.error_kind, ending.message)
    return Verdict(ending.outcome, ending.exit_code, exhausted=ending.exhausted, error=error)


def stopped(exit_code: int, by: str) -> Verdict:
    return Verdict("interrupted", exit_code, error=Failure("canceled", f"interrupted by {by}"))


def stuck(exit_code: int, seconds: float) -> Verdict:
    """A clean stop was asked for and did not come."""
    message = f"interrupted; the turn did not end within {seconds:g} s"
    return Verdict("interrupted", exit_code or EXIT_FAILED, error=Failure("canceled", message))


def left() -> Verdict:
    """The reader of stdout closed it: it has what it wanted, and the turn was stopped for it."""
    return Verdict("interrupted", 0)


def unwritten(problem: OSError) -> Verdict:
    message = f"stdout cannot be written, so the answer is not delivered: {problem.strerror}"
    return failed(Failure("output", message))


def failed(error: Failure, exit_code: int = EXIT_FAILED) -> Verdict:
    return Verdict("error", exit_code, error=error)


def never_began(problem: AgentError) -> Result:
    """Of a run whose session could not be opened."""
    verdict = failed(Failure(problem.kind, str(problem)), exit_code_of(problem))
    return Tally().result(verdict, None, None, 0.0)


def exit_code_of(problem: AgentError) -> int:
    if isinstance(problem, (ConfigError, SessionNotFound, NameTaken)):
        return EXIT_USAGE
    if isinstance(problem, ProviderError) and problem.retryable:
        return EXIT_UNAVAILABLE
    return EXIT_FAILED


def _tokens(usage: Usage) -> Tokens:
    return Tokens(usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning)


def _step(entry: ev.Entry, told: ev.UsageReported) -> StepUse:
    cost = None if told.cost is None else round(told.cost, 9)
    share = round(told.usage.cached_share, 4)
    return StepUse(entry.turn, entry.step, told.model, _tokens(told.usage), share, cost, told.estimated)


def _cost(row: ModelRow) -> float | None:
    return None if row.unpriced else round(row.cost, 9)

"""How a turn ends: every cause, with its one terminal event, in one place."""

from __future__ import annotations

from agent_cli.guardrails.budgets import Breach
from agent_cli.kernel.errors import AgentError, ConfigError, ContextOverflow, ProviderError
from agent_cli.kernel.events import Exhausted, Finished, Outcome, TurnCompleted, TurnError
from agent_cli.kernel.messages import text_of
from agent_cli.kernel.usage import ModelCard

Ending = TurnCompleted | TurnError

EXIT_CUT = 1
EXIT_CONFIG = 2
EXIT_HALTED = 3
EXIT_UNAVAILABLE = 75
EXIT_INTERRUPTED = 130

TO_GO_ON = (
    "Say it in other words, take the message back with /rewind, or ask another model. "
    "The conversation so far goes along with every later message and may be what it stumbles over"
)
UNTELLING = ("", "stop", "completed")
"""Reasons that services give although the model refused."""
REFUSED = f"the model refused to answer (finish reason: {{reason}}): {{said}}. {TO_GO_ON}"
FILTERED = f"a content filter of the model's service stopped the answer (finish reason: {{reason}}): {{said}}. {TO_GO_ON}"

NO_PROGRESS_SIGNALS = frozenset({"no-news", "null-result-streak"})


class Cut(Exception):
    """What is under way ends here; the session knows why. Raised where a request is in flight."""


class Stopped(Exception):
    """The turn ends here, with this ending. Raised by the turn's own flow only, never inside a tool."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending)
        self.ending = ending


def answered(finish_reason: str) -> Ending:
    return TurnCompleted("completed", finish_reason)


def landed(exhausted: Exhausted) -> Ending:
    """A budget was used up and the grace step gave an answer."""
    return TurnCompleted("budget-exhausted", "budget-exhausted", exhausted=exhausted)


def exhausted(breach: Breach, reason: str = "") -> Ending:
    """Cut at a ceiling, without an answer. `reason` is that of its trip, where it says more than the breach."""
    outcome: Outcome = "guardrail-stop" if breach.exhausted == "cost" else "budget-exhausted"
    return TurnError("canceled", outcome, EXIT_CUT, reason or breach.reason, breach.exhausted)


def watched(signal: str, reason: str) -> Ending:
    outcome: Outcome = "no-progress" if signal in NO_PROGRESS_SIGNALS else "loop-detected"
    return TurnError("canceled", outcome, EXIT_CUT, reason)


def guarded(reason: str) -> Ending:
    """A check found something that ends the turn."""
    return TurnError("canceled", "guardrail-stop", EXIT_CUT, reason)


def unavailable(reason: str) -> Ending:
    """A check that gates could not be asked."""
    return TurnError("canceled", "guardrail-unavailable", EXIT_CUT, reason)


def refused_again(reason: str) -> Ending:
    """The operator refused the same call too often."""
    return TurnError("canceled", "guardrail-stop", EXIT_CUT, reason)


def killed(reason: str, *, unavailable: bool) -> Ending:
    """A kill switch cut the turn, or could not be read."""
    outcome: Outcome = "guardrail-unavailable" if unavailable else "guardrail-stop"
    return TurnError("canceled", outcome, EXIT_CUT, reason)


def not_admitted(reason: str) -> Ending:
    """There was no room for it in the account that runs share; later there may be."""
    return TurnError("refused", "guardrail-stop", EXIT_UNAVAILABLE, reason)


def paced(reason: str) -> Ending:
    """The runs of an account made as many tool calls as they may; in a minute there is room again."""
    return TurnError("canceled", "guardrail-stop", EXIT_UNAVAILABLE, reason)


def interrupted(above: str = "") -> Ending:
    """By the operator, or by what cut the turn in which it runs."""
    return TurnError("canceled", "interrupted", EXIT_INTERRUPTED, above or "interrupted by the operator")


def window_full(estimate: int, window: int, *, reduces: bool) -> Ending:
    """`reduces` is False where the operator does not want the conversation to be reduced by itself."""
    remedy = "" if reduces else "reduce it with /compact (that it happens by itself is switched off), "
    message = (
        f"the conversation fills the model's context window (about {estimate:,} of {window:,} tokens): "
        f"{remedy}start a new session, or switch to a model with a larger window"
    )
    return TurnError("canceled", "context-overflow", EXIT_CUT, message)


def too_long(problem: ContextOverflow, card: ModelCard, estimate: int) -> ContextOverflow:
    """The same refusal with the figures that people need: those of the service, else what is known here."""
    limit = problem.limit or card.window
    window = f"{limit:,} tokens" if limit else "a size that nobody knows"
    size = f"{problem.used:,}" if problem.used else f"about {estimate:,}"
    told = (
        f"{problem} The window of {card.id} is {window}, the prompt has {size} tokens: compact the conversation, "
        "start a new session, or switch to a model with a larger window."
    )
    return ContextOverflow(told, status=problem.status, used=problem.used, limit=problem.limit)


def invalid(reason: str) -> Ending:
    """The model said nothing that could be used, also when it was asked once more."""
    return TurnError("error", "error", EXIT_CUT, reason)


def withheld(finished: Finished) -> TurnError:
    """The model refused, or a filter of its service stopped it. What was said up to then is not an answer."""
    refusal = finished.finish_reason == "refusal"
    said = (
        "what it said so far is no whole answer" if text_of(finished.parts).strip() else "it gave no answer"
    )
    told = finished.native_reason if finished.native_reason not in UNTELLING else finished.finish_reason
    message = (REFUSED if refusal else FILTERED).format(reason=told, said=said)
    return TurnError("refusal" if refusal else "content-filter", "error", EXIT_CUT, message)


def refused(reason: str) -> Ending:
    return TurnError("refused", "halted", EXIT_HALTED, reason)


def abandoned() -> Ending:
    """Recorded when a session is opened whose last turn was never ended."""
    return TurnError("error", "error", EXIT_CUT, "the process stopped while this turn ran")


def failed(problem: Exception) -> Ending:
    """The ending of a turn that an error cut."""
    match problem:
        case ContextOverflow():
            return TurnError("overflow", "context-overflow", EXIT_CUT, str(problem))
        case ProviderError(retryable=True):
            return TurnError("provider", "error", EXIT_UNAVAILABLE, str(problem))
        case ConfigError():
            return TurnError("error", "error", EXIT_CONFIG, str(problem))
        case AgentError():
            return TurnError("error", "error", EXIT_CUT, str(problem))
        case _:
            return TurnError(
                "error", "error", EXIT_CUT, f"internal error: {type(problem).__name__}: {problem}"
            )

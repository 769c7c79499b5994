"""Ceilings: what may be consumed. Pure functions over what was spent."""

from __future__ import annotations

from typing import NamedTuple

from agent_cli.kernel.events import BudgetWarning, Exhausted
from agent_cli.kernel.limits import WARN_SHARE, Limits
from agent_cli.kernel.values import Plain


class Spent(Plain, frozen=True):
    """Of the turn: steps, calls, tokens (input + output), seconds, USD; of the session: USD."""

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    turn_cost: float = 0.0
    session_cost: float = 0.0


class Breach(NamedTuple):
    """A ceiling that is reached. `guardrail` is its name in logs; `session` says that the session halts."""

    exhausted: Exhausted
    guardrail: str
    reason: str
    session: bool = False


def cost_breach(spent: Spent, limits: Limits) -> Breach | None:
    """Checked at every usage report and before every dispatch. Met counts as exceeded."""
    ceiling = limits.max_turn_cost
    if ceiling and spent.turn_cost >= ceiling:
        return Breach(
            "cost",
            "cost_ceiling",
            f"per-turn cost ceiling exceeded: this turn cost ${spent.turn_cost:.4f}, ceiling is ${ceiling:.4f}",
        )
    return halted_by_cost(spent.session_cost, limits)


def halted_by_cost(session_cost: float, limits: Limits) -> Breach | None:
    """What refuses every later turn of a session that has spent its ceiling."""
    ceiling = limits.max_session_cost
    if ceiling and session_cost >= ceiling:
        return Breach(
            "cost",
            "cost_ceiling",
            f"session cost ceiling exceeded: this session cost ${session_cost:.4f}, ceiling is ${ceiling:.4f}",
            session=True,
        )
    return None


def step_breach(spent: Spent, limits: Limits) -> Breach | None:
    """Checked before each model request."""
    if limits.max_steps and spent.steps >= limits.max_steps:
        return Breach("steps", "step_ceiling", f"step ceiling reached ({spent.steps}/{limits.max_steps})")
    if limits.max_tokens and spent.tokens >= limits.max_tokens:
        return Breach(
            "tokens", "token_ceiling", f"token ceiling reached ({spent.tokens}/{limits.max_tokens})"
        )
    return None


def batch_breach(spent: Spent, asked: int, limits: Limits) -> Breach | None:
    """A batch is reserved whole before any of it runs; `spent.calls` does not count it yet."""
    if limits.max_tool_calls and spent.calls + asked > limits.max_tool_calls:
        return Breach(
            "tool-calls",
            "tool_call_ceiling",
            f"tool-call ceiling reached ({spent.calls}/{limits.max_tool_calls}, {asked} more asked)",
        )
    return None


def duration_breach(limit: float) -> Breach:
    """What a timer says when it goes off."""
    return Breach("duration", "duration_ceiling", f"wall-clock ceiling reached ({limit:g} s for this turn)")


def warnings(spent: Spent, limits: Limits, told: frozenset[Exhausted]) -> tuple[BudgetWarning, ...]:
    """One for each dimension past 80 % that was not told yet."""
    measures: tuple[tuple[Exhausted, float, float | None], ...] = (
        ("steps", spent.steps, limits.max_steps),
        ("tool-calls", spent.calls, limits.max_tool_calls),
        ("tokens", spent.tokens, limits.max_tokens),
        ("duration", spent.seconds, limits.max_duration),
        ("cost", *_nearest_cost(spent, limits)),
    )
    return tuple(
        BudgetWarning(dimension, used, limit)
        for dimension, used, limit in measures
        if limit and used >= WARN_SHARE * limit and dimension not in told
    )


def _nearest_cost(spent: Spent, limits: Limits) -> tuple[float, float | None]:
    pairs = [(spent.turn_cost, limits.max_turn_cost), (spent.session_cost, limits.max_session_cost)]
    set_ones = [(used, limit) for used, limit in pairs if limit]
    return max(set_ones, key=lambda pair: pair[0] / pair[1], default=(0.0, None))

"""Ceilings: what may be consumed. Pure functions over what was spent."""

from __future__ import annotations

import math
from typing import NamedTuple

from agent_cli.guardrails.reserve import Account
from agent_cli.kernel.events import BudgetWarning, Exhausted
from agent_cli.kernel.limits import WARN_SHARE, Limits
from agent_cli.kernel.values import Plain


def least_to_add(needed: float, ceiling: float, *, met: bool = True) -> float:
    """Whole cents that raise the ceiling to `needed`, or over it where a ceiling that is just `met` stops, too."""
    cents = max(math.ceil(round((needed - ceiling) * 100, 6)), 0)
    over = met and ceiling + cents / 100 <= needed + 1e-9
    return max(cents + over, 1) / 100


class Spent(Plain, frozen=True):
    """Of the turn: steps, calls, tokens (input + output), seconds, USD; of the session: USD."""

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    turn_cost: float = 0.0
    session_cost: float = 0.0


NOT_SENT = "cost ceiling would be exceeded"
"""Of a call that was kept from being sent: what its trip calls used is what it could have come to."""
TURN_COST = "turn-cost"
SESSION_RESERVE = "session-reserve"
"""Signals of cost trips, beside "cost" for the session's ceiling."""


class Breach(NamedTuple):
    """A ceiling that is reached. `guardrail` is its name in logs; `session` says that the session halts.

    `used` and `limit` are in the ceiling's unit. `signal` is "" where `exhausted` names it well enough.
    """

    exhausted: Exhausted
    guardrail: str
    reason: str
    used: float
    limit: float
    session: bool = False
    signal: str = ""

    @property
    def least(self) -> float:
        """USD that the ceiling has to be raised by, in whole cents, so that it does not stop the same thing again."""
        return least_to_add(self.used, self.limit, met=self.signal != SESSION_RESERVE)


def cost_breach(spent: Spent, limits: Limits) -> Breach | None:
    """Checked at every usage report and before every dispatch. Met counts as exceeded."""
    ceiling = limits.max_turn_cost
    if ceiling and spent.turn_cost >= ceiling:
        return Breach(
            "cost",
            "cost_ceiling",
            f"per-turn cost ceiling exceeded: this turn cost ${spent.turn_cost:.4f}, ceiling is ${ceiling:.4f}",
            spent.turn_cost,
            ceiling,
            signal=TURN_COST,
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
            session_cost,
            ceiling,
            session=True,
        )
    return None


def reserve_breach(account: Account, worst: float, lost: float = 0.0) -> Breach:
    """A call that is not sent, since what it could cost is more than the account has left beside calls under way.
    `lost` are USD that may be spent for calls whose cost nobody told.
    """
    session = account.name == "session"
    ceiling = account.ceiling or 0.0
    name = "session" if session else "per-turn"
    untold = f", and ${lost:.4f} may be for calls whose cost the service did not tell in full" if lost else ""
    return Breach(
        "cost",
        "cost_ceiling",
        f"{name} {NOT_SENT}: the next call could cost ${worst:.4f}, "
        f"${account.spent:.4f} of ${ceiling:.4f} is spent{untold}",
        account.spent + lost + worst,
        ceiling,
        session,
        SESSION_RESERVE if session else TURN_COST,
    )


def unpriced_breach(model: str) -> Breach:
    """A call that is not sent, since nobody can say what it could cost."""
    reason = f"cost ceiling cannot be kept: {model} has no known price or no known longest answer"
    return Breach("cost", "cost_ceiling", reason, 0.0, 0.0, signal=TURN_COST)


POOL = "pool"
"""The signal of a pool that cannot pay for the next request."""


def pool_breach(pool: str, why: str) -> Breach:
    return Breach(
        "cost", "admission", f"pool {pool} cannot pay for the next request: {why}", 0.0, 0.0, signal=POOL
    )


PACE = "pool-calls"
"""The signal of a pool whose tool calls a minute are used up."""


def pace_breach(pool: str, why: str) -> Breach:
    reason = f"pool {pool} lets no further tool call begin: {why}"
    return Breach("tool-calls", "admission", reason, 0.0, 0.0, signal=PACE)


def step_breach(spent: Spent, limits: Limits) -> Breach | None:
    """Checked before each model request."""
    most = limits.max_steps
    if most and spent.steps >= most:
        return Breach(
            "steps", "step_ceiling", f"step ceiling reached ({spent.steps}/{most})", spent.steps, most
        )
    return token_breach(spent, limits)


def token_breach(spent: Spent, limits: Limits) -> Breach | None:
    """Checked before each model request, and after each response before its calls run."""
    most = limits.max_tokens
    if most and spent.tokens >= most:
        reason = f"token ceiling reached ({spent.tokens}/{most})"
        return Breach("tokens", "token_ceiling", reason, spent.tokens, most)
    return None


def batch_breach(spent: Spent, asked: int, limits: Limits) -> Breach | None:
    """A batch is reserved whole before any of it runs; `spent.calls` does not count it yet."""
    most = limits.max_tool_calls
    if most and spent.calls + asked > most:
        reason = f"tool-call ceiling reached ({spent.calls}/{most}); {asked} more asked for at once, none of them ran"
        return Breach("tool-calls", "tool_call_ceiling", reason, spent.calls, most)
    return None


def duration_breach(limit: float) -> Breach:
    """What a timer says when it goes off."""
    reason = f"wall-clock ceiling reached ({limit:g} s for this turn)"
    return Breach("duration", "duration_ceiling", reason, limit, limit)


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

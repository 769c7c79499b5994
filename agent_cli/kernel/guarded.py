"""Facts about guardrails: what they found, what they stopped, what cleared it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.values import Value

Exhausted: TypeAlias = Literal["steps", "tool-calls", "tokens", "duration", "cost"]
Severity: TypeAlias = Literal["warn", "block", "halt", "critical"]
StopScope: TypeAlias = Literal["turn", "session"]
Surface: TypeAlias = Literal["input", "action", "output", "budget", "behaviour"]


class GuardrailFinding(Value, frozen=True, tag="guardrail-finding"):
    check: str
    surface: Surface
    severity: Severity
    message: str
    call_id: str = ""


class GuardrailTrip(Value, frozen=True, tag="guardrail-trip"):
    """`reason` is the guardrail with its figure and bound, `then` what follows and how to clear it.

    `halted_turn` says that it cut the turn in flight; the turn's own terminal event follows. `used` and `limit`
    are in the unit of a ceiling: count, tokens, seconds or USD.
    """

    guardrail: str
    signal: str
    severity: Severity
    scope: StopScope
    reason: str
    halted_turn: bool
    then: str = ""
    used: float | None = None
    limit: float | None = None


class GuardrailReset(Value, frozen=True, tag="guardrail-reset"):
    guardrail: str
    added_usd: float = 0.0


class BudgetWarning(Value, frozen=True, tag="budget-warning"):
    """`used` and `limit` are in the unit of the dimension: count, tokens, seconds or USD."""

    dimension: Exhausted
    used: float
    limit: float

"""Facts about guardrails: what they found, what they stopped, what cleared it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.values import Plain, Value

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
    are in the unit of a ceiling: count, tokens, seconds or USD. `since` is when its condition became true (seconds since
    the epoch, 0 where it cut nothing), `dispatch_s` the seconds from then until nothing more could begin.
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
    since: float = 0.0
    dispatch_s: float = 0.0


class GuardrailReset(Value, frozen=True, tag="guardrail-reset"):
    guardrail: str
    added_usd: float = 0.0


class BudgetWarning(Value, frozen=True, tag="budget-warning"):
    """`used` and `limit` are in the unit of the dimension: count, tokens, seconds or USD."""

    dimension: Exhausted
    used: float
    limit: float

    @property
    def share(self) -> str:
        """For people."""
        match self.dimension:
            case "cost":
                return f"${self.used:.4f} of ${self.limit:.4f} used"
            case "duration":
                return f"{self.used:,.6g} of {self.limit:,.6g} seconds used"
            case "steps" | "tool-calls" | "tokens":
                return f"{self.used:,.6g} of {self.limit:,.6g} used"


class CheckRow(Plain, frozen=True):
    """What one check did on one surface in a turn. `seconds` is all the time it took, `longest` the longest single one.

    `missing` counts subjects that it could not look at: they are no passes. `cached` are verdicts that were kept.
    """

    check: str
    surface: Surface
    runs: int
    found: int = 0
    missing: int = 0
    cached: int = 0
    seconds: float = 0.0
    longest: float = 0.0


class GuardrailChecked(Value, frozen=True, tag="guardrail-checked"):
    """The checks of contents and actions that a turn asked, written before its end."""

    rows: tuple[CheckRow, ...]

"""How a turn can end."""

from __future__ import annotations

from typing import Literal, TypeAlias

OUTCOME_UNKNOWN = "outcome unknown: the process stopped while this ran"
"""Of a call that had started and has no result."""

Outcome: TypeAlias = Literal[
    "completed",
    "budget-exhausted",
    "guardrail-stop",
    "no-progress",
    "loop-detected",
    "guardrail-unavailable",
    "context-overflow",
    "interrupted",
    "halted",
    "error",
]

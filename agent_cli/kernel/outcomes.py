"""How a turn can end."""

from __future__ import annotations

from typing import Literal, TypeAlias

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

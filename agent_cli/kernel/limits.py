"""Ceilings on one session. None means no ceiling."""

from __future__ import annotations

from typing import Literal

from agent_cli.kernel.values import Plain

WARN_SHARE = 0.8
"""Of a ceiling: from here on the operator is warned and the model told to wrap up."""


class Limits(Plain, frozen=True):
    """`reserve` sets aside what a call can cost at worst before it is sent, so that no cost ceiling is passed.

    `max_tokens` is cumulative input + output of a turn; `max_duration` is seconds of a turn; costs are USD.
    """

    max_steps: int | None = None
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_duration: float | None = None
    max_turn_cost: float | None = None
    max_session_cost: float | None = None
    on_exhaustion: Literal["final-answer", "fail"] = "final-answer"
    reserve: bool = False

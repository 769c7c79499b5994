"""How large the next prompt of a session is."""

from __future__ import annotations

from agent_cli.context import estimate
from agent_cli.engine.core import Core

MOST_DENSE = 2
"""Tokens that a service may count for each one of our estimate."""


def context_size(core: Core) -> int:
    """Tokens of the next prompt: measured where the service said it, else all of it is estimated."""
    state = core.state
    if not state.total.usage.prompt:
        return estimated_size(core)
    if state.context_measured:
        return state.context_tokens
    return min(
        state.context_tokens, MOST_DENSE * estimated_size(core)
    )  # what a reduction saved is told too low


def estimated_size(core: Core) -> int:
    """Tokens of the next prompt as if no service had counted anything, at least 1."""
    said = sum(estimate.tokens_of_part(item.part) for item in core.view.items())
    return max(1, said + core.prefix().overhead.total)

"""How large the next prompt of a session is."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agent_cli.context import estimate
from agent_cli.context.view import Item
from agent_cli.engine.core import Core
from agent_cli.kernel.usage import Usage

MOST_DENSE = 2
"""Tokens that a service may count for each one of our estimate."""
LEAST_DENSE = 1 / 4
"""With less than that for each one it cannot have counted all."""


def context_size(core: Core) -> int:
    """Tokens of the next prompt: measured where the service said it, else all of it is estimated."""
    state = core.state
    if not state.boundaries.measured:
        return estimated_size(core)
    if state.context_measured:
        return state.context_tokens
    return min(
        state.context_tokens, MOST_DENSE * estimated_size(core)
    )  # what a reduction saved is told too low


def estimated_size(core: Core) -> int:
    """Tokens of the next prompt as if no service had counted anything, at least 1."""
    return _estimated(core, core.view.items())


def size_of(core: Core, items: Sequence[Item]) -> int:
    """Tokens of a prompt with these items: our estimate, scaled as the service counts the prompt of now."""
    density = context_size(core) / estimated_size(core)
    return int(_estimated(core, items) * min(max(density, LEAST_DENSE), MOST_DENSE))


def _estimated(core: Core, items: Sequence[Item]) -> int:
    said = sum(estimate.tokens_of_part(item.part) for item in items)
    return max(1, said + core.prefix().overhead.total)


def at_least(counted: Usage, sent: int, came: str) -> Usage:
    """What an answer that was cut off took at least: the prompt of `sent` tokens if none was counted, and the text that came."""
    output = max(counted.output, estimate.tokens_of_prose(came))
    prompt = counted.input if counted.prompt else sent
    return msgspec.structs.replace(counted, input=prompt, output=output)


def is_whole(counted: Usage, sent: int, came: str) -> bool:
    """Whether a count can be of all that was sent, `sent` tokens by our estimate, and of all that came."""
    output = estimate.tokens_of_prose(came)
    return counted.prompt >= sent * LEAST_DENSE and counted.output >= output * LEAST_DENSE

"""Summaries and records that a program writes in the place of ours."""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from agent_cli.kernel.errors import AgentError

log = logging.getLogger("agent_cli.engine")


async def written(text: Awaitable[str], operation: str) -> str:
    """The text. Raises AgentError for whatever went wrong with it, as if a model had been asked in vain."""
    try:
        found = (await text).strip()
    except AgentError:
        raise
    except Exception as problem:
        log.exception("%s by the program failed", operation)
        raise AgentError(f"{operation}: {type(problem).__name__}: {problem}") from problem
    if not found:
        raise AgentError(f"{operation}: the text is empty")
    return found

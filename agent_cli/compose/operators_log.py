"""The lines of the operator for runs that print none: to the logger `agent_cli.operator`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.events import Entry, Event

if TYPE_CHECKING:
    from agent_cli.engine.session import Session

log = logging.getLogger("agent_cli.operator")


def follow(session: Session) -> asyncio.Task[None]:
    """Every line since it was opened, as a one-shot run has it on stderr, until it is closed.

    What a quiet run says, too (stops, errors), are warnings; the rest is information.
    """
    return asyncio.create_task(_write(session.id, session.events(session.since)))


async def _write(session: str, events: AsyncIterator[Event]) -> None:
    from agent_cli.headless.narration import Level, Narrator

    narrator = Narrator(session)
    with suppress(AgentError):
        async for event in events:
            told = narrator.tell(event) if isinstance(event, Entry) else None
            if told is not None and told[1].startswith("agent: "):
                log.log(logging.WARNING if told[0] == Level.QUIET else logging.INFO, "%s", told[1])

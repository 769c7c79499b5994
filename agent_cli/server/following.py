"""The events of a session as they come, wherever it is open: here, in another process, or nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.events import Entry, Event
from agent_cli.server.hosted import Hosted
from agent_cli.server.hosting import Hosting

CHUNK = 256
"""Entries that are read from the log at once, off the event loop."""
LOOK = 0.5
"""Seconds between two looks at the log of a session that another process writes."""


async def follow(hosting: Hosting, session: str, since: int, *, decides: bool) -> AsyncGenerator[Event, None]:
    """Facts with seq > since, each exactly once and in order, then facts and previews as they come, until the server stops.

    `decides` says that whoever listens may decide approvals. Raises StoreError.
    """
    while not hosting.stopping:
        entries = await asyncio.to_thread(hosting.archive.entries, session, since, CHUNK)
        for entry in entries:
            since = entry.seq
            yield entry
        if len(entries) == CHUNK:
            continue
        hosted = hosting.peek(session)
        if hosted is None:
            await hosting.opened(LOOK)
            continue
        async for event in _live(hosted, since, decides=decides):
            since = event.seq if isinstance(event, Entry) else since
            yield event
        await asyncio.sleep(0)


async def recorded(hosting: Hosting, session: str, since: int) -> AsyncGenerator[Event, None]:
    """The facts that the log has now. Raises StoreError."""
    more = True
    while more:
        entries = await asyncio.to_thread(hosting.archive.entries, session, since, CHUNK)
        more = len(entries) == CHUNK
        for entry in entries:
            since = entry.seq
            yield entry


async def _live(hosted: Hosted, since: int, *, decides: bool) -> AsyncGenerator[Event, None]:
    """Until the session is let go. Raises StoreError."""
    with hosted.attached(decides=decides):
        try:
            async for event in hosted.door.events(since):
                yield event
        except StoreError:
            if not hosted.over:
                raise

"""The sessions of this process: opened when somebody needs them, let go when nobody does."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from agent_cli.kernel.commands import SetMode
from agent_cli.kernel.errors import SessionLocked, SessionNotFound
from agent_cli.kernel.events import Entry
from agent_cli.server.door import Archive, Known, Opened, Terms, Wish
from agent_cli.server.hosted import Hosted
from agent_cli.server.problems import Refused

log = logging.getLogger("agent_cli.server")

LOOK = 5.0
"""Seconds from one look for sessions to let go to the next, at most."""
STOPPED = "the attach server was stopped"
LET_GO = "nothing was to be done, so the attach server let go of it"


class Hosting:
    """Belongs to one event loop. `told` gets every entry of every open session.

    `only` are the sessions that are served, None for all that the archive has.
    """

    def __init__(
        self,
        archive: Archive,
        terms: Terms,
        told: Callable[[Entry], None],
        only: frozenset[str] | None = None,
    ) -> None:
        self.archive = archive
        self.terms = terms
        self.only = only
        self.stopping = False
        self._told = told
        self._open: dict[str, Hosted] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._opened = asyncio.Event()
        self._begin = asyncio.Lock()

    @property
    def hosted(self) -> Sequence[Hosted]:
        return tuple(self._open.values())

    def peek(self, session: str) -> Hosted | None:
        """The session if it is open here."""
        found = self._open.get(session)
        return None if found is None or found.over else found

    async def listed(self) -> list[Known]:
        """Kept ones and those in which nothing was said yet, the latest first."""
        kept = [each for each in await asyncio.to_thread(self.archive.listed) if self.serves(each.id)]
        ids = {each.id for each in kept}
        fresh = [
            _fresh(each) for each in self.hosted if each.door.id not in ids and self.serves(each.door.id)
        ]
        return [*fresh, *kept]

    def serves(self, session: str) -> bool:
        return self.only is None or session in self.only

    async def known(self, session: str) -> Known:
        """Raises SessionNotFound."""
        if not self.serves(session):
            raise SessionNotFound(f"There is no session '{session}' here: this server serves one session.")
        try:
            return await asyncio.to_thread(self.archive.known, session)
        except SessionNotFound:
            hosted = self.peek(session)
            if hosted is None:
                raise
            return _fresh(hosted)

    @asynccontextmanager
    async def at(self, session: str) -> AsyncGenerator[Hosted]:
        """The session, opened if it is not. Raises SessionNotFound, Refused, ConfigError."""
        hosted = await self._get(session)
        with hosted.used():
            yield hosted

    async def begin(self, wish: Wish) -> Hosted:
        """A new session, on record at once. Raises ConfigError, NameTaken, Refused."""
        async with self._begin:
            self._room()
            opened = await self.archive.begin(wish)
            opened.door.send(SetMode(opened.door.state.mode))
            return await self._taken(opened)

    def host(self, opened: Opened, *, attended: bool = False) -> Hosted:
        hosted = Hosted(opened, self.terms, self._told, attended=attended)
        self._open[opened.door.id] = hosted
        self._wake()
        return hosted

    async def opened(self, seconds: float) -> None:
        """Returns when a session was opened, or after that time."""
        waiting = self._opened
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await waiting.wait()

    async def _get(self, session: str) -> Hosted:
        if session not in self._open:
            await self.known(session)
        async with self._locks[session]:
            found = self.peek(session)
            if found is not None:
                return found
            if session in self._open:
                await self._drop(self._open[session], "its log could not be written")
            self._room()
            try:
                opened = await self.archive.open(session)
            except SessionLocked as locked:
                holder = await asyncio.to_thread(self.archive.holder, session)
                raise Refused(409, locked.kind, str(locked), held_by=holder) from None
            return await self._taken(opened)

    async def _taken(self, opened: Opened) -> Hosted:
        """Not where the server was told to stop while the session was opened. Raises Refused."""
        if self.stopping:
            await opened.door.close(STOPPED)
            raise _stopping()
        return self.host(opened)

    def _room(self) -> None:
        if self.stopping:
            raise _stopping()
        if len(self._open) < self.terms.sessions:
            return
        raise Refused(
            503,
            "too-many-sessions",
            f"{len(self._open)} sessions are open, and no more are opened at once (serve.sessions). One that has nothing "
            f"to do is let go after {self.terms.idle:g} seconds.",
            retry_after=30,
        )

    async def _drop(self, hosted: Hosted, reason: str) -> None:
        await hosted.close(reason)
        if self._open.get(hosted.door.id) is hosted:
            del self._open[hosted.door.id]

    async def keep_house(self) -> None:
        """Lets go of what has nothing to do, until it is cancelled."""
        while True:
            await asyncio.sleep(min(LOOK, max(self.terms.idle / 4, 0.05)))
            for hosted in self.hosted:
                if hosted.door.id not in (self.only or ()):
                    await self._let_go(hosted)

    async def _let_go(self, hosted: Hosted) -> None:
        """If it has nothing to do, also when its turn to be looked at comes."""
        async with self._locks[hosted.door.id]:
            if hosted.spare or hosted.over:
                await self._drop(hosted, LET_GO)

    async def close(self) -> None:
        """Interrupts every turn cleanly and lets go of every session."""
        self.stopping = True
        self._wake()
        await asyncio.gather(*(self._drop(hosted, STOPPED) for hosted in self.hosted))

    def _wake(self) -> None:
        self._opened.set()
        self._opened = asyncio.Event()


def _stopping() -> Refused:
    return Refused(503, "stopping", "The server is being stopped and takes nothing new.", retry_after=5)


def _fresh(hosted: Hosted) -> Known:
    """A session that is open and has nothing on record yet."""
    state = hosted.door.state
    return Known(hosted.door.id, cwd=state.cwd, model=f"{state.card.provider}/{state.card.id}")

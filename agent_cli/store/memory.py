"""Sessions that end with the process: the store of `--ephemeral`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from agent_cli.kernel.errors import SessionLocked, SessionNotFound, StoreError
from agent_cli.kernel.events import Entry
from agent_cli.store.info import SessionInfo, choose, exists, not_found, taken
from agent_cli.store.summary import said_by


@dataclass(slots=True)
class _Held:
    """What outlives the log object that wrote it."""

    info: SessionInfo
    entries: list[Entry] = field(default_factory=list)
    writing: bool = False

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        said, was = said_by(entry), self.info
        self.info = msgspec.structs.replace(
            was,
            events=was.events + 1,
            created=was.created if was.events else entry.time,
            updated=entry.time,
            turns=max(was.turns, entry.turn),
            title=was.title or said.title,
            model=was.model if said.model is None else said.model,
            cwd=was.cwd if said.cwd is None else said.cwd,
        )


class MemoryLog:
    """One session's facts in memory."""

    def __init__(self, session: str, held: _Held | None = None) -> None:
        self._session = session
        self._held = held or _Held(SessionInfo(session))
        self._held.writing = self._open = True

    @property
    def session(self) -> str:
        return self._session

    def append(self, entry: Entry, /) -> None:
        last = self._held.entries[-1].seq if self._held.entries else 0
        if not self._open:
            raise StoreError(f"The log of session '{self._session}' is closed; nothing more is recorded.")
        if entry.session != self._session or entry.seq != last + 1:
            raise StoreError(
                f"Entry {entry.seq} of session '{entry.session}' cannot follow entry {last} of session "
                f"'{self._session}'. It was not recorded."
            )
        self._held.add(entry)

    def read(self, since: int = 0) -> Iterator[Entry]:
        return iter(self._held.entries[max(since, 0) :])

    def close(self) -> None:
        if self._open:
            self._held.writing = self._open = False


class MemoryStore:
    """The methods of the store on disk. Raises StoreError."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}

    def create(self, session: str, cwd: str) -> MemoryLog:
        if session in self._held:
            raise exists(session)
        held = self._held[session] = _Held(SessionInfo(session, cwd=cwd))
        return MemoryLog(session, held)

    def open(self, session: str) -> MemoryLog:
        held = self._known(session)
        if held.writing:
            raise SessionLocked(f"Session '{session}' is open already. Go on there.")
        return MemoryLog(session, held)

    def entries(self, session: str, since: int = 0) -> Iterator[Entry]:
        return iter(self._known(session).entries[max(since, 0) :])

    def find(self, wanted: str) -> SessionInfo:
        return choose(wanted, self._latest_first(wanted))

    def latest(self, cwd: str) -> SessionInfo | None:
        return next((info for info in self.sessions() if info.cwd == cwd), None)

    def sessions(self, limit: int | None = None) -> list[SessionInfo]:
        return self._latest_first()[:limit]

    def rename(self, session: str, name: str) -> None:
        held = self._known(session)
        if name and any(other.info.name == name for other in self._held.values() if other is not held):
            raise taken(name)
        held.info = msgspec.structs.replace(held.info, name=name)

    def fork(self, source: str, session: str, upto: int | None = None) -> MemoryLog:
        """A new session that begins as another one did, up to and with the entry `upto` (None: all of it)."""
        entries = self._known(source).entries
        end = len(entries) if upto is None else upto
        if not 0 < end <= len(entries):
            raise SessionNotFound(
                f"There is no entry {end} to fork at: the session has entries 1 to {len(entries)}."
            )
        log = self.create(session, "")
        for entry in entries[:end]:
            log.append(msgspec.structs.replace(entry, session=session))
        return log

    def close(self) -> None:
        """Nothing is kept open."""

    def _latest_first(self, wanted: str = "") -> list[SessionInfo]:
        infos = [held.info for held in reversed(self._held.values())]
        return sorted(
            (info for info in infos if info.events or info.id == wanted),
            key=lambda info: info.updated,
            reverse=True,
        )

    def _known(self, session: str) -> _Held:
        if session not in self._held:
            raise not_found(session)
        return self._held[session]

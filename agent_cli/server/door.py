"""What the server needs of the rest: sessions that are open, sessions that are kept, and what it is bound by."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from agent_cli.engine.standing import Standing
from agent_cli.engine.state import State
from agent_cli.guardrails.halts import Halt
from agent_cli.kernel.commands import Command, Mode
from agent_cli.kernel.events import Entry, Event
from agent_cli.kernel.messages import ToolSpec
from agent_cli.kernel.values import Plain


class Door(Protocol):
    """An open session."""

    @property
    def id(self) -> str: ...
    @property
    def state(self) -> State: ...
    @property
    def halts(self) -> Halting: ...
    def tools(self) -> tuple[ToolSpec, ...]: ...
    def send(self, command: Command, /) -> None: ...
    def events(self, since: int = 0) -> AsyncIterator[Event]: ...
    async def close(self, reason: str = "") -> None: ...


class Halting(Protocol):
    def __call__(self) -> tuple[Halt, ...]:
        """What refuses turns now."""
        ...


class Opened(NamedTuple):
    """`watchdog` is its mode in this session."""

    door: Door
    watchdog: str


class Known(Plain, frozen=True):
    """A kept session. `created` and `updated` are epoch seconds, `events` the entries of its log."""

    id: str
    title: str = ""
    name: str = ""
    cwd: str = ""
    model: str = ""
    created: float = 0.0
    updated: float = 0.0
    turns: int = 0
    events: int = 0


class Wish(Plain, frozen=True):
    """A session to begin; what is "" or None is as config says."""

    cwd: str = ""
    model: str = ""
    name: str = ""
    mode: Mode | None = None


class Looked(NamedTuple):
    """A session as its log says, without opening it. `holder` is who writes it now, "" for nobody."""

    state: State
    standing: Standing
    holder: str


class Archive(Protocol):
    """The sessions that are kept. What is not async blocks, and is called in a thread.

    Raises SessionNotFound, also for sessions of directories that are not served, and StoreError.
    """

    def listed(self) -> Sequence[Known]:
        """The latest first."""
        ...

    def known(self, session: str, /) -> Known: ...

    def look(self, session: str, /) -> Looked: ...

    def holder(self, session: str, /) -> str: ...

    def entries(self, session: str, since: int, most: int, /) -> Sequence[Entry]: ...

    async def open(self, session: str, /) -> Opened:
        """With the right to write it. Raises SessionLocked, ConfigError."""
        ...

    async def begin(self, wish: Wish, /) -> Opened:
        """Raises ConfigError, NameTaken."""
        ...


class Terms(Plain, frozen=True):
    """`approval_wait` is how many seconds an approval waits while nobody is attached who may decide it. A session that
    has had nothing to do for `idle` seconds is let go. `inbox` is how many messages may wait in one session.
    """

    approval_wait: float = 600.0
    idle: float = 900.0
    inbox: int = 100
    sessions: int = 32
    streams: int = 64
    requests_per_minute: int = 6000

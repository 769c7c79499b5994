"""The kept sessions as the attach server needs them: listed, read, opened, begun."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from agent_cli.compose.budgets import limits
from agent_cli.compose.guardrails import fold
from agent_cli.compose.log import session_db
from agent_cli.compose.operators_log import follow
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import open_session, prepare
from agent_cli.compose.watchdog import watchdog_mode
from agent_cli.config.settings import Settings
from agent_cli.engine.standing import standing
from agent_cli.guardrails.halts import Halt
from agent_cli.guardrails.kill_switch import NAME as KILL_SWITCH
from agent_cli.guardrails.kill_switch import Place, killed
from agent_cli.kernel.errors import ConfigError, StoreError
from agent_cli.kernel.events import Entry
from agent_cli.server.door import Known, Looked, Opened, Wish
from agent_cli.store.info import SessionInfo, not_found
from agent_cli.store.lease import holder_of
from agent_cli.store.opening import settled
from agent_cli.store.sqlite import SqliteStore, open_store


class Archive:
    """Sessions of the `directories`, and below them. `options` are how each is opened, but for where and which.

    One connection reads, from one thread at a time; each open session has its own.
    """

    def __init__(self, options: RunOptions, settings: Settings, directories: Iterable[Path]) -> None:
        self._options = options
        self._settings = settings
        self._directories = tuple(os.path.realpath(directory) for directory in directories)
        self._path = settled(session_db(options, settings))
        self._store: SqliteStore | None = None
        self._lock = threading.Lock()
        self._logs: set[asyncio.Task[None]] = set()

    def listed(self) -> Sequence[Known]:
        with self._reading() as store:
            return [_known(info) for info in store.sessions() if self._serves(info.cwd)]

    def known(self, session: str, /) -> Known:
        return _known(self._info(session))

    def look(self, session: str, /) -> Looked:
        """As this server would open it, where nobody else has it; else as its own log says that it stands."""
        info = self._info(session)
        with self._reading() as store:
            entries = list(store.entries(info.id))
            switches = store.switches.on()
        holder = self.holder(info.id)
        settings = self._settings_in(info.cwd)
        state = fold(info.id, entries, settings)
        watchdog = state.halts.mode
        if not holder:
            state.limits = limits(settings, attended=False)
            watchdog = watchdog_mode(settings, attended=False)
        stopped = killed(lambda: switches, Place(info.id, state.task_class, (state.cwd,), state.mode))
        halt = Halt(KILL_SWITCH, stopped.reason, how=stopped.how) if stopped is not None else None
        return Looked(state, standing(state, watchdog, halt), holder)

    def holder(self, session: str, /) -> str:
        return holder_of(self._path.with_name(f"{self._path.name}-locks"), session)

    def entries(self, session: str, since: int, most: int, /) -> Sequence[Entry]:
        with self._reading() as store:
            return list(islice(store.entries(session, since), most))

    async def open(self, session: str, /) -> Opened:
        info = await asyncio.to_thread(self._info, session)
        cwd = Path(info.cwd)
        if not _is_there(cwd):
            raise ConfigError(
                f"Session '{session}' works in {info.cwd}, which is not there any more, so it cannot be gone on with here."
            )
        return await self._opened(replace(self._options, cwd=cwd, resume=info.id))

    async def begin(self, wish: Wish, /) -> Opened:
        cwd = self._options.cwd / wish.cwd
        if not self._serves(str(cwd)) or not _is_there(cwd):
            raise ConfigError(
                f"{cwd} is no directory that is served here: those are {', '.join(self._directories)}, and what is below. "
                "`agent-cli serve --directory DIR` serves another one."
            )
        chosen = {"model.name": wish.model, "permissions.mode": wish.mode}
        flags = {key: value for key, value in chosen.items() if value}
        options = replace(
            self._options, cwd=cwd, name=wish.name or None, flags={**self._options.flags, **flags}
        )
        return await self._opened(options)

    async def own(self, options: RunOptions) -> Opened:
        """The session that a command line asked for."""
        return await self._opened(options)

    def close(self) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    async def _opened(self, options: RunOptions) -> Opened:
        """Config is read in a thread; the session belongs to the event loop."""
        loaded = await asyncio.to_thread(prepare, options)
        session = open_session(options, loaded).session
        task = follow(session)
        self._logs.add(task)
        task.add_done_callback(self._logs.discard)
        return Opened(session, watchdog_mode(loaded.settings, attended=False))

    def _settings_in(self, cwd: str) -> Settings:
        """Of a session in that directory; where they are wrong, opening it says so."""
        try:
            return prepare(replace(self._options, cwd=Path(cwd))).settings
        except ConfigError:
            return self._settings

    def _info(self, session: str) -> SessionInfo:
        with self._reading() as store:
            found = next((info for info in store.sessions() if info.id == session), None)
        if found is None or not self._serves(found.cwd):
            raise not_found(session)
        return found

    def _serves(self, cwd: str) -> bool:
        try:
            real = os.path.realpath(cwd)
        except ValueError:  # a NUL byte: no directory has such a name
            return False
        return any(real == each or real.startswith(each.rstrip("/") + "/") for each in self._directories)

    @contextmanager
    def _reading(self) -> Generator[SqliteStore]:
        """After trouble the file is opened anew."""
        with self._lock:
            store = self._store = self._store or open_store(self._path, read_only=True)
            try:
                yield store
            except StoreError:
                self._store = None
                store.close()
                raise


def _is_there(directory: Path) -> bool:
    return directory.is_dir()


def _known(info: SessionInfo) -> Known:
    return Known(
        info.id,
        info.title,
        info.name,
        info.cwd,
        info.model,
        info.created,
        info.updated,
        info.turns,
        info.events,
    )

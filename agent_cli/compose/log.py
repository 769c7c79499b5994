"""The log that a session is written to: a new one, or one to go on with."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agent_cli.compose.options import RunOptions
from agent_cli.config import places
from agent_cli.config.settings import Settings
from agent_cli.guardrails.kill_switch import Switches as KillSwitches
from agent_cli.guardrails.kill_switch import none_on
from agent_cli.kernel.errors import ConfigError, SessionNotFound
from agent_cli.kernel.switching import KillSwitch
from agent_cli.ports import Log

if TYPE_CHECKING:  # sqlite3 is imported when the log is opened
    from agent_cli.store.info import SessionInfo
    from agent_cli.store.memory import MemoryStore
    from agent_cli.store.sqlite import SqliteStore


def session_db(options: RunOptions, settings: Settings) -> Path:
    """The file that holds the sessions."""
    return Path(settings.session.db) if settings.session.db else places.database(options.environ)


class Kept(NamedTuple):
    """A session's log, the model it used last ("" for a new one), what closes the store behind it,
    what to say, how many entries there are already, and the kill switches that hold for it.
    """

    log: Log
    model: str
    close: Callable[[], None]
    notices: tuple[str, ...] = ()
    entries: int = 0
    switches: KillSwitches = none_on


def open_log(options: RunOptions, settings: Settings) -> Kept:
    cwd = str(options.cwd.resolve())
    if options.ephemeral:
        return _in_memory(options, cwd)._replace(switches=_beside(session_db(options, settings)))
    from agent_cli.store.sqlite import open_store

    store = open_store(session_db(options, settings))
    try:
        kept = _opened(store, options, cwd)
        if options.name:
            store.rename(kept.log.session, options.name)
    except BaseException:
        store.close()
        raise
    return kept._replace(switches=store.switches.on)


def _beside(path: Path) -> KillSwitches:
    """For a run that writes no log there: nothing is read, nor imported, before there is a file."""
    opened: list[KillSwitches] = []

    def on() -> tuple[KillSwitch, ...]:
        if not opened:
            if not path.exists():
                return ()
            from agent_cli.store.sqlite import open_store

            opened.append(open_store(path, read_only=True).switches.on)
        return opened[0]()

    return on


def _in_memory(options: RunOptions, cwd: str) -> Kept:
    """Another one is gone on with only if it is in the same memory."""
    from agent_cli.store.memory import MemoryStore

    return _opened(options.memory or MemoryStore(), options, cwd)


def _opened(store: SqliteStore | MemoryStore, options: RunOptions, cwd: str) -> Kept:
    if options.fork is not None:
        return _forked(store, options.fork)
    if options.resume is None and not options.resume_latest:
        return Kept(store.create(new_id(), cwd), "", store.close)
    found = _find(store, options.resume, cwd)
    return Kept(store.open(found.id), found.model, store.close, (), found.events)


def _forked(store: SqliteStore | MemoryStore, wanted: str) -> Kept:
    """A copy of the session up to an entry: ID@ENTRY, or ID for all of it."""
    source, upto = _at_entry(store, wanted)
    log = store.fork(source.id, new_id(), upto)
    found = store.find(log.session)
    told = f"forked from {source.id} at entry {found.events}"
    return Kept(log, found.model, store.close, (told,), found.events)


def _at_entry(store: SqliteStore | MemoryStore, wanted: str) -> tuple[SessionInfo, int | None]:
    """A name may hold an @ itself."""
    name, at, seq = wanted.rpartition("@")
    if not (at and seq.isascii() and seq.isdigit()):
        return store.find(wanted), None
    with suppress(SessionNotFound):
        return store.find(wanted), None
    return store.find(name), int(seq)


def _find(store: SqliteStore | MemoryStore, wanted: str | None, cwd: str) -> SessionInfo:
    """The session of that name, else the latest of this directory."""
    found = store.find(wanted) if wanted else store.latest(cwd)
    if found is None:
        raise ConfigError(f"there is no session to continue in {cwd}; start one without --continue")
    return found


def session_ids(path: Path) -> frozenset[str]:
    """Of all sessions in that file; a connection of its own, so that any thread may ask. Raises StoreError."""
    from agent_cli.store.sqlite import open_store

    store = open_store(path, read_only=True)
    try:
        return frozenset(info.id for info in store.sessions())
    finally:
        store.close()


def new_id() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}"

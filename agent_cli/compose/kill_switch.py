"""Kill switches as the command line gives them: scopes as they are stored, and who turned one."""

from __future__ import annotations

import getpass
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from agent_cli.compose.log import session_db
from agent_cli.compose.options import RunOptions
from agent_cli.compose.scope import root_of
from agent_cli.compose.skills import TOOL
from agent_cli.config.sources import Loaded
from agent_cli.kernel.commands import MODES
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.switching import KillSwitch

if TYPE_CHECKING:  # sqlite3 is imported when the store is opened
    from agent_cli.store.sqlite import SqliteStore

T = TypeVar("T")
SCOPES = "all, project (this one) or project:PATH, task:NAME, mode:MODE, tool:NAME, session:ID"


class Turned(NamedTuple):
    """`before` says that it was on already; `note` is what may not be as it was meant."""

    switch: KillSwitch
    before: bool = False
    note: str = ""


def turn_on(options: RunOptions, loaded: Loaded, scope: str, why: str, by: str) -> Turned:
    """Raises ConfigError for a scope that is none, SessionNotFound, StoreError."""
    if not why.strip():
        raise ConfigError(
            "A kill switch needs a reason: say --why. It is kept, and those whom it stops read it."
        )

    def work(store: SqliteStore) -> Turned:
        stored, now = _stored(options, loaded, store, scope), time.time()
        switch = store.switches.turn_on(stored, why, by or who(), now)
        return Turned(switch, switch.at != now, _note(loaded, stored))

    return _with_store(options, loaded, work)


def turn_off(options: RunOptions, loaded: Loaded, scope: str, why: str, by: str) -> Turned:
    """Raises ConfigError, NotOn, SessionNotFound, StoreError."""

    def work(store: SqliteStore) -> Turned:
        known = {switch.scope for switch in store.switches.on()}
        stored = scope if scope in known else _stored(options, loaded, store, scope)
        return Turned(store.switches.turn_off(stored, why, by or who(), time.time()))

    return _with_store(options, loaded, work)


def listed(options: RunOptions, loaded: Loaded, *, every: bool) -> tuple[KillSwitch, ...]:
    """Those that are on; with `every` also those that were taken back, the latest first."""
    if not session_db(options, loaded.settings).exists():
        return ()
    return _with_store(
        options,
        loaded,
        lambda store: store.switches.every() if every else store.switches.on(),
        read_only=True,
    )


def who() -> str:
    """The person at the keyboard, as far as the system knows."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # no name for this user: the number has to do
        name = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
    return f"{name}@{socket.gethostname()}"


def _with_store(
    options: RunOptions, loaded: Loaded, work: Callable[[SqliteStore], T], *, read_only: bool = False
) -> T:
    from agent_cli.store.sqlite import open_store

    store = open_store(session_db(options, loaded.settings), read_only=read_only)
    try:
        return work(store)
    finally:
        store.close()


def _stored(options: RunOptions, loaded: Loaded, store: SqliteStore, scope: str) -> str:
    """The scope in the one spelling that runs compare."""
    kind, _, name = scope.partition(":")
    match kind, bool(name):
        case "all", False:
            return "all"
        case "project", False:
            return f"project:{root_of(options, loaded)}"
        case "project", True:
            return f"project:{os.path.realpath(Path(name).expanduser())}"
        case "session", True:
            return f"session:{store.find(name).id}"
        case (("task" | "tool"), True):
            return scope
        case "mode", True if name in MODES:
            return scope
        case _:
            raise ConfigError(f"'{scope}' is no scope of a kill switch. It is one of: {SCOPES}.")


def _note(loaded: Loaded, scope: str) -> str:
    """Of a name that nothing has: the switch is on all the same, since others may know it."""
    from agent_cli.compose.custom_tools import definitions
    from agent_cli.config.task_classes import BUILT_IN
    from agent_cli.engine.own_tools import book
    from agent_cli.tools.builtin import NAMES

    kind, _, name = scope.partition(":")
    tools = (*NAMES, *book.NAMES, TOOL, *definitions(loaded))
    if kind == "tool" and name not in tools and not name.startswith("mcp__"):
        return f"No tool here is called '{name}': the switch stops nothing that is known in this project."
    if kind == "task" and name not in {*BUILT_IN, *loaded.settings.task_classes}:
        return f"No kind of work here is called '{name}': the switch stops nothing that is known in this project."
    return ""

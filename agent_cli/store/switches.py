"""Kill switches in the session database, where every process over it sees them."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.switching import KillSwitch
from agent_cli.store.migrations import version_of
from agent_cli.store.troubles import corrupt, told

ON = """
SELECT scope, why, by, at, restored, restored_by, restored_why FROM kill_switch WHERE restored = 0 ORDER BY number
"""
ALL = """
SELECT scope, why, by, at, restored, restored_by, restored_why FROM kill_switch ORDER BY number DESC
"""
TURN_ON = "INSERT INTO kill_switch (scope, why, by, at) VALUES (?, ?, ?, ?)"
TURN_OFF = """
UPDATE kill_switch SET restored = ?, restored_by = ?, restored_why = ? WHERE scope = ? AND restored = 0
"""


SINCE = 3
"""Version of the schema that has them."""


class NotOn(StoreError):
    """There is no such switch to take back."""

    kind = "not-on"


class Switches:
    """Over a connection of somebody else's. Raises StoreError."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._version = -1
        self._on: tuple[KillSwitch, ...] = ()

    def on(self) -> tuple[KillSwitch, ...]:
        """Those that are on. The table is read only where another connection wrote something: else it takes microseconds."""
        with told(self._path):
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            if version != self._version:
                self._on = self._read(ON)
                self._version = version
        return self._on

    def every(self) -> tuple[KillSwitch, ...]:
        """The latest first, those that were taken back included."""
        with told(self._path):
            return self._read(ALL)

    def turn_on(self, scope: str, why: str, by: str, now: float) -> KillSwitch:
        """The one that is on, also where it was before: then it stays as it is."""
        self._version = -1
        with told(self._path):
            with suppress(sqlite3.IntegrityError):  # one is on: its who, when and why hold
                self._connection.execute(TURN_ON, (scope, why, by, now))
            found = [switch for switch in self._read(ON) if switch.scope == scope]
        return found[0] if found else KillSwitch(scope, why, by, now)

    def turn_off(self, scope: str, why: str, by: str, now: float) -> KillSwitch:
        """Takes it back; what is known of it stays on record. Raises NotOn."""
        self._version = -1
        with told(self._path):
            changed = self._connection.execute(TURN_OFF, (now, by, why, scope)).rowcount
            if not changed:
                raise NotOn(_not_on(scope, [switch.scope for switch in self._read(ON)]))
            return next(switch for switch in self._read(ALL) if switch.scope == scope)

    def _read(self, query: str) -> tuple[KillSwitch, ...]:
        if self._never():
            return ()
        return tuple(map(self._switch, self._connection.execute(query).fetchall()))

    def _switch(self, row: tuple[Any, ...]) -> KillSwitch:
        """One that damage made unreadable is no switch to pass over. Raises StoreCorrupt."""
        try:
            return msgspec.convert(dict(zip(KillSwitch.__struct_fields__, row, strict=True)), KillSwitch)
        except msgspec.ValidationError as problem:
            raise corrupt(self._path, f"a kill switch in it is damaged ({problem})") from None

    def _never(self) -> bool:
        """A file of an older version on a disk that cannot be written: nobody can have turned one."""
        return version_of(self._connection) < SINCE


def _not_on(scope: str, on: list[str]) -> str:
    there = f"On are: {', '.join(on)}." if on else "None is on."
    return f"There is no kill switch {scope} that is on, so none was taken back. {there}"

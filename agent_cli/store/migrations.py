"""The schema's versions, one numbered step each: applied once, forward only, never edited once released.

The number of the last step is the file's `user_version`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from agent_cli.store.index import build

Step: TypeAlias = Callable[[sqlite3.Connection], None]

APPLICATION_ID = 0x41434C49
"""Marks the file as ours: "ACLI"."""


def step_1(connection: sqlite3.Connection) -> None:
    run_script(connection, Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))


def step_2(connection: sqlite3.Connection) -> None:
    """The index of what was said."""
    build(connection)


def step_3(connection: sqlite3.Connection) -> None:
    """Kill switches, and pools that runs share."""
    run_script(connection, Path(__file__).with_name("control.sql").read_text(encoding="utf-8"))


STEPS: tuple[Step, ...] = (step_1, step_2, step_3)


def migrate(connection: sqlite3.Connection, path: Path, steps: Sequence[Step] = STEPS) -> None:
    """Brings the database up to the last step in one transaction: all of it, or nothing.

    A file that holds sessions is first copied to `PATH.v<its version>`. Raises OSError, sqlite3.Error.
    """
    if version_of(connection) >= len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = version_of(connection)  # another process may have been faster
        if 0 < version < len(steps):
            _back_up(path, path.with_name(f"{path.name}.v{version}"))
        for step in steps[version:]:
            step(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {max(version, len(steps))}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def version_of(connection: sqlite3.Connection) -> int:
    return number(connection, "PRAGMA user_version")


def number(connection: sqlite3.Connection, query: str) -> int:
    (value,) = connection.execute(query).fetchone()
    return int(value)


def run_script(connection: sqlite3.Connection, script: str) -> None:
    """Statement by statement: `executescript` would commit the running transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _back_up(path: Path, target: Path) -> None:
    """The copy appears under its name only when it is complete.

    It is read by a connection of its own: one that is about to write cannot be copied from.
    """
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    source, copy = sqlite3.connect(path), sqlite3.connect(unfinished)
    try:
        source.backup(copy)
    finally:
        copy.close()
        source.close()
    unfinished.replace(target)

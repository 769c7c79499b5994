"""The read model of the session list: kept with every entry, and made anew from the log when wanted."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from agent_cli.kernel.events import Entry
from agent_cli.store import index
from agent_cli.store.migrations import number
from agent_cli.store.opening import connect, settled
from agent_cli.store.rows import entry_of, mended
from agent_cli.store.summary import said_by
from agent_cli.store.troubles import told

APPLY = """
UPDATE session SET
    events = events + 1,
    created = CASE events WHEN 0 THEN :time ELSE created END,
    updated = :time,
    turns = MAX(turns, :turn),
    title = CASE title WHEN '' THEN :title ELSE title END,
    model = COALESCE(:model, model),
    cwd = COALESCE(:cwd, cwd)
WHERE number = :number
"""

FORGET = "UPDATE session SET events = 0, created = 0, updated = 0, turns = 0, title = '', model = ''"

EVERYTHING = """
SELECT session, seq, time, turn, step, branch, kind, CAST(body AS BLOB) FROM entry ORDER BY session, seq
"""

Applied: TypeAlias = dict[str, int | float | str | None]


def applied(number: int, entry: Entry) -> Applied:
    """The values of APPLY."""
    title, model, cwd = said_by(entry)
    return {
        "number": number,
        "time": entry.time,
        "turn": entry.turn,
        "title": mended(title),
        "model": model,
        "cwd": None if cwd is None else mended(cwd),
    }


Track: TypeAlias = Callable[[Iterable[Any], int], Iterable[Any]]


def _uncounted(rows: Iterable[Any], total: int) -> Iterable[Any]:
    return rows


def make_anew(path: Path, busy_timeout: float = 5.0, track: Track = _uncounted) -> int:
    """The list of sessions and the index for searching in that file, which no session may be writing meanwhile.

    `track` passes rows on and may tell how far it has come. Returns the number of sessions. Raises StoreError.
    """
    path = settled(path)
    connection = connect(path, busy_timeout)
    try:
        with told(path):
            rebuild(connection, track)
            index.renew(connection)
            return number(connection, "SELECT COUNT(*) FROM session WHERE events > 0")
    finally:
        connection.close()


def rebuild(connection: sqlite3.Connection, track: Track = _uncounted) -> None:
    """Makes every column of `session` anew but id and name, and the directory of a session without events.

    One transaction. Raises sqlite3.Error.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(FORGET)
        rows = connection.execute(EVERYTHING)
        for session, *row in track(rows, number(connection, "SELECT COUNT(*) FROM entry")):
            entry = entry_of("", tuple(row))
            connection.execute(APPLY, applied(session, entry))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise

"""A session copied as far as an entry, and a session taken away."""

from __future__ import annotations

import sqlite3

from agent_cli.kernel.errors import SessionNotFound
from agent_cli.store import index
from agent_cli.store.rebuild import APPLY, applied
from agent_cli.store.rows import MOST, entry_of

COPY = """
INSERT INTO entry (session, seq, time, turn, step, branch, kind, body)
SELECT ?, seq, time, turn, step, branch, kind, body FROM entry WHERE session = ? AND seq <= ? ORDER BY seq
"""
TELLING = """
SELECT seq, time, turn, step, branch, kind, CAST(body AS BLOB) FROM entry
WHERE session = ? AND kind IN ('session-started', 'operator-message', 'model-switched') ORDER BY seq
"""
COUNT = """
UPDATE session SET events = kept.events, turns = kept.turns, created = kept.created, updated = kept.updated
FROM (SELECT COUNT(*) AS events, MAX(turn) AS turns, MIN(time) AS created, MAX(time) AS updated
      FROM entry WHERE session = :number) AS kept
WHERE number = :number
"""


def copy(connection: sqlite3.Connection, source: int, target: int, upto: int | None) -> int:
    """Entries of one session as the beginning of another, in one transaction. Returns the last seq."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        end = _end(connection, source, upto)
        connection.execute(COPY, (target, source, end))
        if index.covers(connection, source):
            places = {"source": index.place_of(source, 0), "target": index.place_of(target, 0), "seq": end}
            connection.execute(index.COPY, places)
        for row in connection.execute(TELLING, (target,)).fetchall():
            entry = entry_of("", row)
            connection.execute(APPLY, applied(target, entry))
        connection.execute(COUNT, {"number": target})
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return end


def _end(connection: sqlite3.Connection, source: int, upto: int | None) -> int:
    query = "SELECT COALESCE(MAX(seq), 0) FROM entry WHERE session = ? AND seq < ?"
    last = int(connection.execute(query, (source, MOST)).fetchone()[0])
    end = last if upto is None else upto
    if not 0 < end <= last:
        raise SessionNotFound(f"There is no entry {end} to fork at: the session has entries 1 to {last}.")
    return end


def remove(connection: sqlite3.Connection, number: int) -> None:
    """In one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if index.covers(connection, number):
            places = index.place_of(number, 0), index.place_of(number + 1, 0) - 1
            connection.execute(index.REMOVE, places)
        connection.execute("DELETE FROM entry WHERE session = ?", (number,))
        connection.execute("DELETE FROM session WHERE number = ?", (number,))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise

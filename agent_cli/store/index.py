"""The index of what was said in all sessions: what the operator wrote and what models answered."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import text_of
from agent_cli.kernel.wire import event_from_json
from agent_cli.store.rows import mended

INDEX = "CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')"
SPOKEN = """
SELECT session, seq, CAST(body AS BLOB) FROM entry WHERE kind IN ('operator-message', 'assistant-message')
"""
ADD = "INSERT INTO said (rowid, text) VALUES (?, ?)"
REMOVE = "DELETE FROM said WHERE rowid BETWEEN ? AND ?"
COPY = """
INSERT INTO said (rowid, text) SELECT rowid - :source + :target, text FROM said
WHERE rowid BETWEEN :source AND :source + :seq
"""
FIND = """
SELECT rowid, snippet(said, 0, '', '', '…', 16) FROM said WHERE said MATCH ? ORDER BY rank LIMIT ?
"""
SESSIONS = 1 << 30
SHADOWS = ("data", "idx", "content", "docsize", "config")
"""Tables that SQLite keeps for the index, by the end of their names."""
ENTRIES = 1 << 32
"""Room for the entries of one session in the numbers of rows, so that a session is one range of them."""


class Hit(NamedTuple):
    """Where something was said: the number of the session, the entry, and the words around it."""

    number: int
    seq: int
    around: str


_BLAMED = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT}


def is_blamed(problem: sqlite3.Error) -> bool:
    """Whether a statement may have failed because of damage in the index."""
    return getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _BLAMED


def damaged(problem: sqlite3.Error) -> str:
    return (
        f"The index for searching is damaged: {problem}. What is recorded is sound, and sessions go on; what is "
        "said meanwhile cannot be searched for. Make the index anew with `agent-cli sessions rebuild`."
    )


def renew(connection: sqlite3.Connection) -> None:
    """Throws the index away, whatever is left of it, and makes it anew from the log. Raises sqlite3.Error."""
    try:
        connection.execute("DROP TABLE IF EXISTS said")
    except sqlite3.Error:
        # A table that cannot be opened cannot be dropped: its name is taken out of the schema instead.
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE name = 'said'")
        connection.execute("PRAGMA writable_schema = RESET")
    for name in SHADOWS:
        connection.execute(f"DROP TABLE IF EXISTS said_{name}")
    connection.execute("BEGIN IMMEDIATE")
    try:
        build(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def build(connection: sqlite3.Connection) -> None:
    """An index of everything in the log. A build of SQLite without full-text search goes on without one."""
    if exists(connection):
        return
    try:
        connection.execute(INDEX)
    except sqlite3.OperationalError as problem:
        if "no such module" not in str(problem):
            raise
        return
    for number, seq, body in connection.execute(SPOKEN):
        try:
            text = words_of(event_from_json(body))
        except (ValueError, RecursionError):
            continue  # a damaged row is told where it is read
        if text and 0 <= number < SESSIONS:
            connection.execute(ADD, (place_of(number, seq), mended(text)))


def words_of(event: ev.Recorded) -> str:
    """What of an event can be searched for."""
    if isinstance(event, ev.OperatorMessage):
        return text_of(event.content) if event.by == "operator" else ""
    return text_of(event.parts) if isinstance(event, ev.AssistantMessage) else ""


def place_of(number: int, seq: int) -> int:
    """The row of an entry."""
    return number * ENTRIES + seq


def covers(connection: sqlite3.Connection, number: int) -> bool:
    """Whether there is an index, with room for that session."""
    return 0 <= number < SESSIONS and exists(connection)


def exists(connection: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE name = 'said'"
    return connection.execute(query).fetchone() is not None


def find(connection: sqlite3.Connection, words: str, limit: int) -> list[Hit]:
    """The best first. All words have to be there; the last letters of each may be missing."""
    plain = words.replace("\0", " ")
    quoted = " ".join('"{}"*'.format(word.replace('"', '""')) for word in plain.split())
    if not quoted:
        return []
    rows = connection.execute(FIND, (quoted, limit)).fetchall()
    return [Hit(row // ENTRIES, row % ENTRIES, around) for row, around in rows]

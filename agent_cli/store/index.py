"""The index of what was said in all sessions: what the operator wrote and what models answered."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import text_of

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
ENTRIES = 1 << 32
"""Room for the entries of one session in the numbers of rows, so that a session is one range of them."""


class Hit(NamedTuple):
    """Where something was said: the number of the session, the entry, and the words around it."""

    number: int
    seq: int
    around: str


def words_of(event: ev.Recorded) -> str:
    """What of an event can be searched for."""
    if isinstance(event, ev.OperatorMessage):
        return text_of(event.content) if event.by == "operator" else ""
    return text_of(event.parts) if isinstance(event, ev.AssistantMessage) else ""


def place_of(number: int, seq: int) -> int:
    """The row of an entry."""
    return number * ENTRIES + seq


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

"""Sessions in one SQLite file: any number of processes, one writer a session, readers at any time."""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.events import Entry
from agent_cli.kernel.values import kind_of
from agent_cli.store import index
from agent_cli.store.copying import copy, remove
from agent_cli.store.info import Found, SessionInfo, choose, exists, not_found, taken
from agent_cli.store.lease import Lease, take
from agent_cli.store.opening import connect, connect_to_read, settled
from agent_cli.store.rebuild import APPLY, applied
from agent_cli.store.rows import MOST, body_of, count, entry_of, mended, moment, text
from agent_cli.store.switches import Switches
from agent_cli.store.troubles import corrupt, gone, place_on_disk, told, trouble

log = logging.getLogger("agent_cli.store")

CHUNK = 256
"""Rows that are read at once. No read stays open between them: it would make writing fail."""

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

INSERT = (
    "INSERT INTO entry (session, seq, time, turn, step, branch, kind, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
READ = """
SELECT seq, time, turn, step, branch, kind, CAST(body AS BLOB) FROM entry
WHERE session = ? AND seq > ? AND seq < 9007199254740992 ORDER BY seq LIMIT ?
"""
ONE = """
SELECT number, id, title, name, cwd, model, created, updated, events, turns FROM session WHERE number = ?
"""
LAST = """
SELECT COALESCE(MAX(seq), 0), COALESCE(MAX(CASE WHEN typeof(seq) = 'integer' AND seq < :most THEN seq END), 0)
FROM entry WHERE session = :number
"""
LIST = """
SELECT id, title, name, cwd, model, created, updated, events, turns FROM session
WHERE (events > 0 OR id = :id) AND (:cwd IS NULL OR cwd = :cwd)
ORDER BY updated DESC, number DESC LIMIT :limit
"""


def open_store(path: Path, *, busy_timeout: float = 5.0, read_only: bool = False) -> SqliteStore:
    """The sessions in that file, which is created where it is missing. `busy_timeout` is seconds.

    `read_only` is for those who only look: it also works on a disk that cannot be written.

    Raises StoreCorrupt, StoreTooNew, StoreUnwritable, StoreError. A file that is damaged, foreign or newer
    is left as it is.
    """
    path = settled(path)
    connection = connect_to_read(path, busy_timeout) if read_only else connect(path, busy_timeout)
    return SqliteStore(path, connection)


class SqliteStore:
    """Every method works on the thread that calls it; one thread at a time. Raises StoreError."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._leases = path.with_name(f"{path.name}-locks")
        self._logs: list[SqliteLog] = []
        self.switches = Switches(connection, path)

    def create(self, session: str, cwd: str) -> SqliteLog:
        """A new session with the right to write it. It is listed from its first event on."""
        if not SESSION_ID.fullmatch(session):
            raise StoreError(
                f"'{session}' cannot be the id of a session: it may hold letters, digits, '.', '_' and '-', "
                "at most 100. Choose another id."
            )
        lease = take(self._leases, session)
        try:
            return self._log(session, self._new(session, cwd), lease)
        except BaseException:
            lease.release()
            raise

    def open(self, session: str) -> SqliteLog:
        """The session of that id with the right to write it. Raises SessionNotFound, SessionLocked."""
        number = self._number(session)
        lease = take(self._leases, session)
        try:
            return self._log(session, number, lease)
        except BaseException:
            lease.release()
            raise

    def entries(self, session: str, since: int = 0) -> Iterator[Entry]:
        """What is recorded with seq > since, also while another process writes. Raises SessionNotFound."""
        return read(self._connection, self.path, session, self._number(session), since)

    def find(self, wanted: str) -> SessionInfo:
        """By id, name, or the beginning of an id. Raises SessionNotFound naming near ones."""
        return choose(wanted, self._infos(wanted))

    def latest(self, cwd: str) -> SessionInfo | None:
        """The session of that directory in which something happened last."""
        return next(iter(self._infos(cwd=cwd, limit=1)), None)

    def sessions(self, limit: int | None = None) -> list[SessionInfo]:
        """Sessions with at least one event, the latest first."""
        return self._infos(limit=limit)

    def rename(self, session: str, name: str) -> None:
        """Gives a name by which `find` knows the session, "" for none. Raises StoreError where it is taken."""
        number = self._number(session)
        with told(self.path):
            try:
                self._connection.execute(
                    "UPDATE session SET name = ? WHERE number = ?", (mended(name), number)
                )
            except sqlite3.IntegrityError:
                raise taken(name) from None

    def fork(self, source: str, session: str, upto: int | None = None) -> SqliteLog:
        """A new session that begins as another one did, up to and with the entry `upto` (None: all of it).

        Raises SessionNotFound, and StoreError where there is no such entry. The other one may be open elsewhere.
        """
        number = self._number(source)
        made = self.create(session, "")
        try:
            with told(self.path):
                made.begin_at(copy(self._connection, number, made.number, upto))
        except BaseException:
            made.close()
            self.remove(session)
            raise
        return made

    def remove(self, session: str) -> None:
        """Takes it away for good. Raises SessionNotFound, and SessionLocked where a process writes it."""
        number = self._number(session)
        lease = take(self._leases, session)
        try:
            with told(self.path):
                remove(self._connection, number)
        finally:
            lease.release()

    def search(self, words: str, limit: int = 20) -> list[Found]:
        """Where all these words were said, the best first. Raises StoreError where SQLite has no such index."""
        with told(self.path):
            if not index.exists(self._connection):
                raise StoreError(
                    "This build of SQLite has no full-text search, so what was said cannot be searched. "
                    "Use a Python whose SQLite has FTS5."
                )
            try:
                hits = index.find(self._connection, words, limit)
            except sqlite3.Error as problem:
                if not index.is_blamed(problem):
                    raise
                raise StoreError(index.damaged(problem)) from None
        known = dict(self._numbered({hit.number for hit in hits}))
        return [Found(known[hit.number], hit.seq, hit.around) for hit in hits if hit.number in known]

    def close(self) -> None:
        """Closes its logs, too. Idempotent."""
        for opened in self._logs:
            opened.close()
        self._logs.clear()
        with told(self.path):
            self._connection.close()

    def _log(self, session: str, number: int, lease: Lease) -> SqliteLog:
        with told(self.path):
            last, sound = self._connection.execute(LAST, {"number": number, "most": MOST}).fetchone()
        if last != sound:
            raise StoreError(
                f"The entries of session '{session}' are numbered in a way that no other can follow. It was left as it "
                f"is. Go on from its last sound entry: --fork {session}@{sound}."
            )
        opened = SqliteLog(session, number, last, lease, self._connection, self.path)
        self._logs.append(opened)
        return opened

    def _new(self, session: str, cwd: str) -> int:
        with told(self.path):
            try:
                made = self._connection.execute(
                    "INSERT INTO session (id, cwd) VALUES (?, ?)", (session, mended(cwd))
                )
            except sqlite3.IntegrityError:
                raise exists(session) from None
        return made.lastrowid or 0

    def _number(self, session: str) -> int:
        with told(self.path):
            found = self._connection.execute(
                "SELECT number FROM session WHERE id = ?", (mended(session),)
            ).fetchone()
        if found is None:
            raise not_found(session)
        if not isinstance(found[0], int):  # an index that holds what its table does not
            raise corrupt(self.path, "its list of sessions is damaged")
        return found[0]

    def _numbered(self, numbers: set[int]) -> list[tuple[int, SessionInfo]]:
        with told(self.path):
            rows = [self._connection.execute(ONE, (number,)).fetchone() for number in numbers]
        return [(row[0], _info(row[1:])) for row in rows if row is not None]

    def _infos(self, wanted: str = "", cwd: str | None = None, limit: int | None = None) -> list[SessionInfo]:
        values = {
            "id": mended(wanted),
            "cwd": None if cwd is None else mended(cwd),
            "limit": -1 if limit is None else limit,
        }
        with told(self.path):
            rows = self._connection.execute(LIST, values).fetchall()
        return [_info(row) for row in rows]


def _info(row: tuple[Any, ...]) -> SessionInfo:
    """Only the log has to be sound: what stands in a list may be damaged."""
    session, title, name, cwd, model, created, updated, events, turns = row
    return SessionInfo(
        text(session), text(title), text(name), text(cwd), text(model), moment(created), moment(updated),
        count(events), count(turns),
    )  # fmt: skip


class SqliteLog:
    """One session's facts; made by `SqliteStore.create` and `open`."""

    def __init__(
        self, session: str, number: int, last: int, lease: Lease, connection: sqlite3.Connection, path: Path
    ) -> None:
        self._session = session
        self._number = number
        self._last = last
        self._lease: Lease | None = lease
        self._connection = connection
        self._path = path
        self._file = place_on_disk(path)
        with told(path):
            self._indexed = index.covers(connection, number)

    @property
    def number(self) -> int:
        """Of the session in its file."""
        return self._number

    def begin_at(self, last: int) -> None:
        """Entries up to this one are there already."""
        self._last = last

    @property
    def session(self) -> str:
        return self._session

    def append(self, entry: Entry, /) -> None:
        """One transaction: the entry, and what it says about its session."""
        self._check(entry)
        if place_on_disk(self._path) != self._file:
            raise gone(self._path)
        event = entry.event
        values = (
            self._number,
            entry.seq,
            entry.time,
            entry.turn,
            entry.step,
            entry.branch,
            kind_of(event),
            body_of(event),
        )
        words = index.words_of(event) if self._indexed else ""
        try:
            self._write(entry, values, words)
        except sqlite3.Error as problem:
            if not (words and index.is_blamed(problem)):
                raise trouble(problem, self._path) from problem
            self._without_index(entry, values, problem)
        self._last = entry.seq

    def read(self, since: int = 0) -> Iterator[Entry]:
        return read(self._connection, self._path, self._session, self._number, since)

    def close(self) -> None:
        if self._lease is not None:
            self._lease.release()
            self._lease = None

    def _write(self, entry: Entry, values: tuple[object, ...], words: str) -> None:
        """Raises sqlite3.Error, and nothing is written then."""
        execute = self._connection.execute
        try:
            execute("BEGIN IMMEDIATE")
            execute(INSERT, values)
            if words:
                execute(index.ADD, (index.place_of(self._number, entry.seq), mended(words)))
            execute(APPLY, applied(self._number, entry))
            execute("COMMIT")
        except sqlite3.Error:
            self._roll_back()
            raise

    def _without_index(self, entry: Entry, values: tuple[object, ...], blamed: sqlite3.Error) -> None:
        """The index is made from the log: damage in it stops no session. Raises StoreError."""
        with told(self._path):
            self._write(entry, values, "")
        self._indexed = False
        log.warning("%s: %s", self._session, index.damaged(blamed))

    def _check(self, entry: Entry) -> None:
        if self._lease is None:
            raise StoreError(f"The log of session '{self._session}' is closed; nothing more is recorded.")
        if entry.session != self._session or entry.seq != self._last + 1:
            raise StoreError(
                f"Entry {entry.seq} of session '{entry.session}' cannot follow entry {self._last} of session "
                f"'{self._session}'. It was not recorded."
            )

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            # The first failure is the one to report; SQLite rolls back what was never committed.
            return


def read(
    connection: sqlite3.Connection, path: Path, session: str, number: int, since: int
) -> Iterator[Entry]:
    while True:
        with told(path):
            rows = connection.execute(READ, (number, since, CHUNK)).fetchall()
        for row in rows:
            yield entry_of(session, row)
        if len(rows) < CHUNK:
            return
        since = rows[-1][0]

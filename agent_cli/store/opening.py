"""A connection to the session database, or the reason why there is none. Nothing that is not ours is written."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from pathlib import Path

from agent_cli.kernel.errors import StoreUnwritable
from agent_cli.store.migrations import APPLICATION_ID, STEPS, migrate, number, version_of
from agent_cli.store.troubles import corrupt, told, too_new, unwritable


def settled(path: Path) -> Path:
    """The path without symlinks, so that one file has one place for its locks. Raises StoreUnwritable."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as problem:
        raise unwritable(path, str(problem)) from problem


def connect(path: Path, busy_timeout: float) -> sqlite3.Connection:
    """Creates what is missing (parents 0700, file 0600). Raises StoreError.

    An empty file counts as missing: that is what a process leaves which is killed while it creates one.
    """
    try:
        if not path.exists():
            _create(path)
        _look(path)
    except OSError as problem:
        raise unwritable(path, str(problem)) from problem
    with told(path):
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=rw",
            timeout=busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
        )
        try:
            _prepare(connection, path, busy_timeout)
        except BaseException:
            connection.close()
            raise
    return connection


def connect_to_read(path: Path, busy_timeout: float) -> sqlite3.Connection:
    """As `connect`; where nothing can be written, the file as it stands, and no sessions where there is none."""
    try:
        return connect(path, busy_timeout)
    except StoreUnwritable:
        if not os.access(path, os.R_OK):
            if path.exists():
                raise
            return _empty(path)
    with told(path):
        try:
            return _to_read(path, "mode=ro")
        except sqlite3.OperationalError:
            # Only where its index can be made the write-ahead log can be read, too.
            return _to_read(path, "mode=ro&immutable=1")


def damage(path: Path) -> str:
    """What SQLite finds wrong with the file, "" for nothing. Raises StoreError where it cannot be opened."""
    connection = connect_to_read(path, 1.0)
    try:
        with told(path):
            row = connection.execute("PRAGMA quick_check(1)").fetchone()
    finally:
        connection.close()
    said = str(row[0]) if row else "it cannot be checked"
    return "" if said == "ok" else said


def _to_read(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?{how}", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        _recognise(connection, path)
    except BaseException:
        connection.close()
        raise
    connection.text_factory = _lenient
    return connection


def _empty(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    migrate(connection, path)
    return connection


def _create(path: Path) -> None:
    for parent in reversed([path.parent, *path.parent.parents]):
        if not parent.exists():
            parent.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _look(path: Path) -> None:
    """Never opens the file: closing it again would drop the locks of this process's other connections."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise corrupt(path, "it is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise corrupt(path, "it is not a regular file")
    if status.st_size == 0:
        path.chmod(0o600)
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise unwritable(path, "no permission")


def _prepare(connection: sqlite3.Connection, path: Path, busy_timeout: float) -> None:
    _recognise(connection, path)
    connection.execute("PRAGMA synchronous = NORMAL")
    try:
        migrate(connection, path)
    except OSError as problem:
        raise unwritable(path, f"no copy of it could be made before updating it: {problem}") from problem
    _write_ahead(connection, time.monotonic() + busy_timeout)
    # A file that names itself ours must also hold what we need.
    connection.execute("SELECT number, id, name, events FROM session LIMIT 0")
    connection.execute("SELECT session, seq, body FROM entry LIMIT 0")
    # Damaged text is a matter of one row, never of the session.
    connection.text_factory = _lenient


def _lenient(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _recognise(connection: sqlite3.Connection, path: Path) -> None:
    tables = number(connection, "SELECT COUNT(*) FROM sqlite_master")
    mark = number(connection, "PRAGMA application_id")
    version = version_of(connection)
    if mark == APPLICATION_ID:
        if version > len(STEPS):
            raise too_new(path, version, len(STEPS))
    elif tables or mark or version:
        raise corrupt(path, "it is the database of another program")


def _write_ahead(connection: sqlite3.Connection, deadline: float) -> None:
    """SQLite does not always wait its busy timeout for this change of mode."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)  # another process holds the lock, and SQLite offers nothing to wait on

"""What SQLite reports, as this product's errors: what happened, what it means, what to do."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from agent_cli.kernel.errors import StoreCorrupt, StoreError, StoreTooNew, StoreUnwritable

ELSEWHERE = "Use another file with --session-db PATH, or keep nothing with --ephemeral."
ANOTHER = "use another file with --session-db PATH."
"""Of a file that cannot be read: the kill switches are in it, so that a run that keeps nothing would not start either."""

ODD_SCHEMA = re.compile("^no such (table|column)|already exists$|unsupported file format")

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_CLOSED_TO_US = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_IOERR,
}


@contextmanager
def told(path: Path) -> Generator[None]:
    """Turns what SQLite raises into StoreError."""
    try:
        yield
    except UnicodeDecodeError as problem:  # of its words for a schema that is damaged
        raise corrupt(path, "its schema is damaged") from problem
    except sqlite3.Error as problem:
        raise trouble(problem, path) from problem


def trouble(problem: sqlite3.Error, path: Path) -> StoreError:
    # ProgrammingError and the like carry no code; only the lowest byte is the primary one.
    code = getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _DAMAGED or ODD_SCHEMA.search(str(problem)):
        return corrupt(path, str(problem))
    if code in _BUSY:
        return StoreError(
            f"The session database {path} is locked: another process has been writing to it for too long. "
            f"Nothing was recorded. Try again when it is done. {ELSEWHERE}"
        )
    if code in _CLOSED_TO_US:
        return unwritable(path, str(problem))
    if code == sqlite3.SQLITE_CONSTRAINT:
        return StoreError(
            f"The session database {path} refused an entry: {problem}. Another process has written this session: start "
            f"again with --continue to go on from what it holds. If that does not help, it is damaged. {ELSEWHERE}"
        )
    return StoreError(f"The session database {path} failed: {problem}. {ELSEWHERE}")


def corrupt(path: Path, why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} cannot be used as the session database: {why}. It was left as it is. "
        f"Move it away to begin a new one, or {ANOTHER}"
    )


def unwritable(path: Path, why: str) -> StoreUnwritable:
    return StoreUnwritable(
        f"The session database {path} cannot be written: {why}. Nothing of this session would be kept. "
        f"Make room or give the permission. {ELSEWHERE}"
    )


def too_new(path: Path, version: int, known: int) -> StoreTooNew:
    return StoreTooNew(
        f"The session database {path} was written by a newer agent-cli (schema {version}; this one knows "
        f"{known}). It was left as it is. Update agent-cli, or {ANOTHER}"
    )


def place_on_disk(path: Path) -> tuple[int, int]:
    """What tells a file from another one of its name; (0, 0) where there is none."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def gone(path: Path) -> StoreError:
    return StoreError(
        f"The session database {path} was removed or replaced while it was in use. What is recorded from here on would be "
        "lost, so the session stops; what was recorded since then is lost already. Put the file back if there is a copy, "
        "and start again."
    )

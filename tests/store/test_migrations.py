"""The schema moves forward, all or nothing, with a copy of what was; the read model can be made anew."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings

from agent_cli.kernel.events import Entry, OperatorMessage
from agent_cli.kernel.messages import Text
from agent_cli.store.migrations import APPLICATION_ID, STEPS, migrate, version_of
from agent_cli.store.rebuild import rebuild
from agent_cli.store.rows import body_of
from agent_cli.store.sqlite import INSERT, open_store
from tests.fakes import strategies
from tests.store.made import entry


def colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE session ADD COLUMN colour TEXT")


def red(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE session SET colour = 'red'")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "sessions.db"
    store = open_store(path)
    store.create("s-1", "/").append(entry(1))
    store.close()
    return path


def connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_steps_run_once_in_order_after_a_copy_was_made(old: Path) -> None:
    connection = connected(old)
    for _ in range(2):
        migrate(connection, old, (*STEPS, colour, red))
        assert version_of(connection) == len(STEPS) + 2
        assert connection.execute("SELECT id, colour FROM session").fetchall() == [("s-1", "red")]
    connection.close()
    copy = old.with_name(f"sessions.db.v{len(STEPS)}")
    assert copy.stat().st_mode & 0o777 == 0o600
    store = open_store(copy)
    assert list(store.entries("s-1")) == [entry(1)]
    store.close()


def test_a_step_that_fails_leaves_the_old_version(old: Path) -> None:
    def broken(connection: sqlite3.Connection) -> None:
        red(connection)
        raise sqlite3.OperationalError("broken")

    connection = connected(old)
    with pytest.raises(sqlite3.OperationalError, match="broken"):
        migrate(connection, old, (*STEPS, colour, broken))
    assert version_of(connection) == len(STEPS)
    connection.close()
    store = open_store(old)
    assert list(store.entries("s-1")) == [entry(1)]
    store.close()


def test_a_new_file_carries_our_mark_and_needs_no_copy(old: Path) -> None:
    connection = connected(old)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert version_of(connection) == len(STEPS)
    connection.close()
    assert list(old.parent.glob("*.v*")) == []


def test_what_was_said_before_there_was_an_index_is_found_too(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    connection = connected(path)
    path.chmod(0o600)
    migrate(connection, path, STEPS[:1])
    connection.execute("INSERT INTO session (id, events) VALUES ('s-1', 1)")
    body = body_of(OperatorMessage((Text("mend the parser"),)))
    row = (1, 1, 1.0, 1, 0, "", "operator-message", body)
    connection.execute(INSERT, row)
    connection.execute(INSERT, (1, 2, 1.0, 1, 0, "", "operator-message", "{broken"))
    connection.close()
    store = open_store(path)
    assert [(found.session.id, found.seq) for found in store.search("parser")] == [("s-1", 1)]
    store.close()


@settings(max_examples=12, deadline=None)
@given(strategies.logs())
def test_the_rebuilt_list_is_the_one_that_was_kept(
    tmp_path_factory: pytest.TempPathFactory, log: list[Entry]
) -> None:
    store = open_store(tmp_path_factory.mktemp("db") / "sessions.db")
    store.create("empty", "/empty")
    held = store.create(strategies.SESSION, "/")
    for each in log:
        held.append(each)
    store.rename(strategies.SESSION, "named")
    kept = [store.find(strategies.SESSION), store.find("empty")]
    store._connection.execute("UPDATE session SET title = 'wrong', turns = 77, events = 3, updated = 9")
    rebuild(store._connection)
    assert [store.find(strategies.SESSION), store.find("empty")] == kept
    store.close()

"""Files that are not, or not any more, a session database: reported, and left as they are."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agent_cli.kernel.errors import SessionLocked, StoreCorrupt, StoreError, StoreTooNew, StoreUnwritable
from agent_cli.kernel.events import OperatorNote
from agent_cli.store.sqlite import open_store
from tests.store.made import entry


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A database with a session of 300 entries, closed."""
    path = tmp_path / "sessions.db"
    store = open_store(path)
    log = store.create("s-1", "/")
    for seq in range(1, 301):
        log.append(entry(seq, OperatorNote("x" * 500)))
    store.close()
    return path


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def cut_in_the_first_page(path: Path) -> None:
    os.truncate(path, 700)


def garbage_header(path: Path) -> None:
    path.write_bytes(b"\xde\xad" * 50 + path.read_bytes()[100:])


def only_zero_bytes(path: Path) -> None:
    path.write_bytes(bytes(9000))


def a_text(path: Path) -> None:
    path.write_text("# Notes\n" * 300, "utf-8")


def a_short_text(path: Path) -> None:
    path.write_text("hi", "utf-8")


def a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def run(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def a_foreign_mark(path: Path) -> None:
    run(path, "PRAGMA application_id = 7")


def a_missing_table(path: Path) -> None:
    run(path, "DROP TABLE entry")


def a_newer_schema(path: Path) -> None:
    run(path, "PRAGMA user_version = 99")


def a_foreign_database(path: Path) -> None:
    path.unlink()
    run(path, "CREATE TABLE bookmarks (url)")


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (truncated, StoreCorrupt),
        (cut_in_the_first_page, StoreCorrupt),
        (garbage_header, StoreCorrupt),
        (only_zero_bytes, StoreCorrupt),
        (a_text, StoreCorrupt),
        (a_short_text, StoreCorrupt),
        (a_directory, StoreCorrupt),
        (a_pipe, StoreCorrupt),
        (a_foreign_database, StoreCorrupt),
        (a_foreign_mark, StoreCorrupt),
        (a_missing_table, StoreCorrupt),
        (a_newer_schema, StoreTooNew),
    ],
)
def test_it_is_refused_and_not_touched(
    sound: Path, damage: Callable[[Path], None], error: type[StoreError]
) -> None:
    damage(sound)
    before = sound.read_bytes() if sound.is_file() else None
    with pytest.raises(error, match="It was left as it is") as told:
        open_store(sound)
    assert type(told.value) is error
    assert str(sound) in str(told.value)
    assert "--session-db" in str(told.value)
    assert "--ephemeral" not in str(told.value), "the kill switches in it could not be read either"
    assert (sound.read_bytes() if sound.is_file() else None) == before


def test_an_empty_file_becomes_a_database_of_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.touch(0o666)
    store = open_store(path)
    store.create("s-1", "/").append(entry(1))
    assert path.stat().st_mode & 0o777 == 0o600
    store.close()


def test_a_new_database_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "sessions.db"
    store = open_store(path)
    store.create("s-1", "/").append(entry(1))
    files = [each for each in path.parent.rglob("*") if each.is_file()]
    assert len(files) == 4
    assert {each.stat().st_mode & 0o777 for each in files} == {0o600}
    assert {each.stat().st_mode & 0o777 for each in (path.parent, path.parent.parent)} == {0o700}
    store.close()
    assert [each.name for each in path.parent.iterdir() if each.is_file()] == ["sessions.db"]


def test_damage_in_the_middle_is_reported_where_it_is_met(sound: Path) -> None:
    data = bytearray(sound.read_bytes())
    data[3 * 4096 :] = b"\xff" * (len(data) - 3 * 4096)
    sound.write_bytes(data)
    with pytest.raises(StoreCorrupt):
        store = open_store(sound)
        try:
            list(store.entries("s-1"))
        finally:
            store.close()


@contextmanager
def somebody_without_rights() -> Iterator[None]:
    """Root may write anywhere, so a test of root becomes somebody else for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A directory that everybody may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_directory_without_write_permission(reachable: Path) -> None:
    reachable.chmod(0o555)
    with somebody_without_rights(), pytest.raises(StoreUnwritable, match="--ephemeral"):
        open_store(reachable / "sessions.db")
    reachable.chmod(0o755)
    assert list(reachable.iterdir()) == []


def test_a_database_without_write_permission(reachable: Path) -> None:
    path = reachable / "sessions.db"
    open_store(path).close()
    path.chmod(0o444)
    with somebody_without_rights(), pytest.raises(StoreUnwritable, match="no permission"):
        open_store(path)


@pytest.mark.parametrize("name", ["file/sessions.db", "loop", "nul\0"])
def test_places_where_no_file_can_be(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(StoreUnwritable, match="--session-db"):
        open_store(tmp_path / name)


def test_two_ways_to_one_file_are_one_store(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "sessions.db")
    ours, theirs = open_store(tmp_path / "sessions.db"), open_store(tmp_path / "link")
    ours.create("s-1", "/").append(entry(1))
    with pytest.raises(SessionLocked):
        theirs.open("s-1")
    ours.close()
    theirs.close()


def test_names_that_mean_something_in_an_address(tmp_path: Path) -> None:
    path = tmp_path / "what? 100% #1" / "söme.db"
    open_store(path).close()
    assert path.stat().st_size > 0


def test_no_room_on_the_disk(tmp_path: Path) -> None:
    store = open_store(tmp_path / "sessions.db")
    log = store.create("s-1", "/")
    log.append(entry(1))
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnwritable, match=r"full.*Make room"):
        log.append(entry(2, OperatorNote("x" * 100_000)))
    store._connection.execute("PRAGMA max_page_count = 100000")
    log.append(entry(2))
    assert [each.seq for each in log.read()] == [1, 2]
    store.close()


def test_a_database_that_another_process_keeps_locked(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store = open_store(path, busy_timeout=0.02)
    log = store.create("s-1", "/")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked: another process"):
            log.append(entry(1))
        with pytest.raises(StoreError, match="locked: another process"):
            store.create("s-2", "/")
    log.append(entry(1))
    store.create("s-2", "/")
    store.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path / "sessions.db")
    log = store.create("s-1", "/")
    store.close()
    store.close()
    for ask in (store.sessions, lambda: log.append(entry(1)), lambda: store.open("s-1")):
        with pytest.raises(StoreError, match="closed"):
            ask()


@pytest.mark.parametrize("session", ["", "../x", "a/b", ".", "x" * 101, "a b"])
def test_ids_that_could_not_be_file_names(tmp_path: Path, session: str) -> None:
    store = open_store(tmp_path / "sessions.db")
    with pytest.raises(StoreError, match="cannot be the id"):
        store.create(session, "/")
    store.close()

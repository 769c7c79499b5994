"""Entries as rows: everything goes in, and nothing that comes out kills a session."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings

from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.events import Entry, OperatorMessage, OperatorNote, Recorded, ToolCallProposed
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.values import kind_of
from agent_cli.kernel.wire import event_from_json
from agent_cli.store.rebuild import make_anew, rebuild
from agent_cli.store.rows import body_of
from agent_cli.store.sqlite import open_store
from tests.fakes import strategies
from tests.store.made import entry


@pytest.mark.parametrize("kind", strategies.kinds(), ids=lambda kind: kind.__name__)
def test_every_event_comes_back_from_its_body(kind: type[Recorded]) -> None:
    @settings(max_examples=15, deadline=None)
    @given(strategies.values(kind))
    def check(event: Recorded) -> None:
        assert event_from_json(body_of(event)) == event

    check()


@settings(max_examples=15, deadline=None)
@given(entries=strategies.entries())
def test_any_entries_come_back_from_the_file(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Entry]
) -> None:
    store = open_store(tmp_path_factory.mktemp("db") / "sessions.db")
    log = store.create(strategies.SESSION, "/")
    for each in entries:
        log.append(each)
    assert list(log.read()) == entries
    store.close()


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    event = ToolCallProposed(ToolCall("c", "bash", {"a\udcff": ["\ud83d\ude00", "\ud800", 1]}, raw="\udcff"))
    back = event_from_json(body_of(event))
    assert back == ToolCallProposed(ToolCall("c", "bash", {"a\ufffd": ["😀", "\ufffd", 1]}, raw="\ufffd"))


def test_surrogates_inside_of_blocks_and_beyond_the_root() -> None:
    event = OperatorMessage((Text("a\udcff"), Text("plain")))
    assert event_from_json(body_of(event)) == OperatorMessage((Text("a\ufffd"), Text("plain")))


def test_what_json_cannot_hold_is_refused() -> None:
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(StoreError, match="'tool-call-proposed' cannot be written as JSON"):
        body_of(ToolCallProposed(ToolCall("c", "bash", deep)))


@pytest.mark.parametrize(
    "body",
    [
        '\'{"kind":"from-the-future","x":1}\'',
        '\'{"kind":"operator-note"\'',
        "''",
        "x'ff00fe'",
        "CAST(x'7bfffe7d' AS TEXT)",
        "7",
        "'[]'",
    ],
)
def test_a_row_that_cannot_be_read_is_a_note_in_its_place(tmp_path: Path, body: str) -> None:
    path = tmp_path / "sessions.db"
    store = open_store(path)
    log = store.create("s-1", "/")
    for seq in (1, 2, 3):
        log.append(entry(seq))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(
            f"UPDATE entry SET body = {body}, kind = CAST(x'ff' AS TEXT), branch = x'fe' WHERE seq = 2"
        )
    first, second, third = log.read()
    assert (first, third) == (entry(1), entry(3))
    assert second.seq == 2
    assert isinstance(second.event, OperatorNote)
    assert second.event.level == "warning"
    assert second.event.text.startswith("Entry 2 (")
    log.append(entry(4))
    assert [each.seq for each in store.entries("s-1")] == [1, 2, 3, 4]
    rebuild(store._connection)
    assert store.find("s-1").events == 4
    store.close()


def test_a_gap_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store = open_store(path)
    log = store.create("s-1", "/")
    for seq in range(1, 7):
        log.append(entry(seq))
    log.close()
    store._connection.execute("DELETE FROM entry WHERE seq IN (2, 3)")
    log = store.open("s-1")
    log.append(entry(7))
    assert [each.seq for each in log.read()] == [1, 4, 5, 6, 7]
    assert [each.seq for each in log.read(since=2)] == [4, 5, 6, 7]
    store.close()


@pytest.mark.parametrize("seq", [1, 2, 4])
def test_the_file_itself_refuses_gaps_and_repetitions(tmp_path: Path, seq: int) -> None:
    store = open_store(tmp_path / "sessions.db")
    log = store.create("s-1", "/")
    log.append(entry(1))
    log.append(entry(2))
    log._last = seq - 1
    with pytest.raises(StoreError, match="Another process has written"):
        log.append(entry(seq))
    log._last = 2
    log.append(entry(3))
    assert store.find("s-1").events == 3
    store.close()


def test_kinds_stand_beside_the_bodies(tmp_path: Path) -> None:
    store = open_store(tmp_path / "sessions.db")
    store.create("s-1", "/").append(entry(1))
    assert store._connection.execute("SELECT kind FROM entry").fetchall() == [(kind_of(OperatorNote("")),)]
    store.close()


@pytest.mark.parametrize("column", ["time", "turn", "step"])
@pytest.mark.parametrize("value", ["'late'", "x'ff'", "-1", "1e308", "9223372036854775807"])
def test_a_number_that_damage_changed_is_none(tmp_path: Path, column: str, value: str) -> None:
    store = open_store(tmp_path / "sessions.db")
    log = store.create("s-1", "/")
    log.append(entry(1))
    store._connection.execute(f"UPDATE entry SET {column} = {value}")
    (read,) = log.read()
    assert getattr(read, column) == 0
    log.append(entry(2))
    store.close()


@pytest.mark.parametrize(
    ("column", "value", "shown"),
    [("model", "x'ff'", "\ufffd"), ("events", "'many'", 0), ("updated", "-1e308", 0.0), ("title", "7", "7")],
)
def test_a_list_shows_what_is_left_of_a_damaged_row(
    tmp_path: Path, column: str, value: str, shown: object
) -> None:
    store = open_store(tmp_path / "sessions.db")
    store.create("s-1", "/").append(entry(1))
    store._connection.execute(f"UPDATE session SET {column} = {value}")
    assert getattr(store.find("s-1"), column) == shown
    make_anew(store.path)
    assert getattr(store.find("s-1"), column) != shown or column == "model"
    store.close()


@pytest.mark.parametrize("seq", ["9223372036854775807", "'last'", "x'ff'"])
def test_numbers_that_none_can_follow_are_told_with_the_place_to_fork_at(tmp_path: Path, seq: str) -> None:
    store = open_store(tmp_path / "sessions.db")
    log = store.create("s-1", "/")
    log.append(entry(1))
    log.append(entry(2))
    log.close()
    store._connection.execute("DROP TRIGGER entry_follows")
    store._connection.execute(
        f"INSERT INTO entry SELECT session, {seq}, 0, 0, 0, '', kind, body FROM entry WHERE seq = 2"
    )
    with pytest.raises(StoreError, match="--fork s-1@2"):
        store.open("s-1")
    fork = store.fork("s-1", "s-2")
    fork.append(entry(3, session="s-2"))
    assert [each.seq for each in fork.read()] == [1, 2, 3]
    store.close()

"""A session forked at an entry, taken away, and found by what was said in it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_cli.kernel.errors import SessionLocked, SessionNotFound, StoreError
from agent_cli.kernel.events import AssistantMessage, Entry, ModelSwitched, OperatorMessage, TurnStarted
from agent_cli.kernel.messages import Text
from agent_cli.store.rebuild import make_anew
from agent_cli.store.sqlite import SqliteStore, open_store
from tests.fakes import strategies
from tests.store.made import entry, started


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = open_store(tmp_path / "sessions.db")
    yield made
    made.close()


def said(seq: int, text: str, session: str = "s-1", turn: int = 1) -> Entry:
    return entry(seq, OperatorMessage((Text(text),)), session, turn)


def answered(seq: int, text: str) -> Entry:
    return entry(seq, AssistantMessage((Text(text),), "p-1", "m-1"), turn=1)


def conversation(store: SqliteStore) -> None:
    log = store.create("s-1", "/home/me")
    for each in (
        entry(1, started()),
        entry(2, TurnStarted("m-1"), turn=1),
        said(3, "Mend the parser, please"),
        answered(4, "The tokenizer dropped a bracket."),
        entry(5, ModelSwitched("p-1", "m-2"), turn=1),
        said(6, "Now the printer", turn=2),
    ):
        log.append(each)


def test_a_fork_begins_as_the_other_one_did_and_goes_its_own_way(store: SqliteStore) -> None:
    conversation(store)
    log = store.fork("s-1", "s-2", 4)
    log.append(said(5, "Try the other way", "s-2", 2))
    assert [each.seq for each in store.entries("s-2")] == [1, 2, 3, 4, 5]
    assert [each.event for each in store.entries("s-2")][:4] == [each.event for each in store.entries("s-1")][
        :4
    ]
    assert len(list(store.entries("s-1"))) == 6, "the other one stays as it is"
    info = store.find("s-2")
    assert (info.title, info.model, info.cwd, info.events, info.turns) == (
        "Mend the parser, please", "p-1/m-1", "/home/me", 5, 2,
    )  # fmt: skip
    assert (info.created, info.updated) == (1001.0, 1005.0)


def test_a_whole_fork_has_the_last_model(store: SqliteStore) -> None:
    conversation(store)
    store.fork("s-1", "s-2")
    assert msgspec.structs.replace(store.find("s-2"), id="s-1") == store.find("s-1")


@pytest.mark.parametrize("seq", [0, -1, 7])
def test_there_is_no_fork_where_there_is_no_entry(store: SqliteStore, seq: int) -> None:
    conversation(store)
    with pytest.raises(StoreError, match="the session has entries 1 to 6"):
        store.fork("s-1", "s-2", seq)
    with pytest.raises(SessionNotFound):
        store.find("s-2")
    store.create("s-2", "/")


def test_a_session_that_is_written_is_not_taken_away(store: SqliteStore) -> None:
    conversation(store)
    with pytest.raises(SessionLocked):
        store.remove("s-1")
    assert store.find("s-1").events == 6


def test_what_was_said_goes_with_its_session(tmp_path: Path) -> None:
    store = open_store(tmp_path / "sessions.db")
    conversation(store)
    store.fork("s-1", "s-2", 3).close()
    store.close()
    store = open_store(tmp_path / "sessions.db")
    store.remove("s-1")
    assert [found.session.id for found in store.search("parser")] == ["s-2"]
    assert store.search("tokenizer") == []
    with pytest.raises(SessionNotFound):
        store.find("s-1")
    assert store.create("s-1", "/").session == "s-1", "the id is free again"
    store.close()


def test_it_is_found_by_all_words_in_any_order_and_by_beginnings(store: SqliteStore) -> None:
    conversation(store)
    assert [found.seq for found in store.search("please parser")] == [3]
    assert [found.seq for found in store.search("PRINT")] == [6]
    (found,) = store.search("bracket")
    assert (found.session.id, found.seq, found.around) == ("s-1", 4, "The tokenizer dropped a bracket.")
    assert store.search("parser printer") == []
    assert store.search("  ") == []


@settings(max_examples=40, deadline=None)
@example(words="\0")
@given(words=st.text(max_size=30))
def test_no_words_are_a_mistake(words: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    store = open_store(tmp_path_factory.mktemp("store") / "sessions.db")
    conversation(store)
    store.search(words)
    store.close()


@settings(max_examples=12, deadline=None)
@given(log=strategies.logs(), data=st.data())
def test_a_fork_is_the_beginning_of_any_log(
    log: list[Entry], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = open_store(tmp_path_factory.mktemp("store") / "sessions.db")
    if log:
        kept = store.create(log[0].session, "/")
        for each in log:
            kept.append(each)
        end = data.draw(st.integers(1, len(log)))
        fork = store.fork(log[0].session, "fork", end)
        assert [each.event for each in fork.read()] == [each.event for each in kept.read()][:end]
    store.close()


DAMAGE = (
    "DELETE FROM said_data",
    "UPDATE said_data SET block = x'ff00'",
    "DELETE FROM said_docsize",
    "DROP TABLE said_idx",
    "DROP TABLE said_content",
    "DELETE FROM said_config",
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_in_the_index_stops_no_session_and_is_mended(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "sessions.db"
    store = open_store(path)
    conversation(store)
    store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA writable_schema = ON")
        other.execute(damage)
    store = open_store(path)
    log = store.open("s-1")
    last = [each.seq for each in log.read()][-1]
    for step in (1, 2, 3):
        log.append(said(last + step, f"still here {step}"))
    assert [each.seq for each in log.read()] == list(range(1, last + 4))
    with contextlib.suppress(StoreError):
        store.search("here")
    log.close()
    make_anew(store.path)
    assert len(store.search("still here")) == 3
    store.fork("s-1", "s-2").append(said(last + 4, "and a fork", session="s-2"))
    assert len(store.search("fork")) == 1
    store.remove("s-1")
    assert len(store.search("still")) == 3, "those of the fork"
    store.close()


def test_a_search_in_a_damaged_index_says_how_to_mend_it(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store = open_store(path)
    conversation(store)
    store._connection.execute("DROP TABLE said_data")
    with pytest.raises(StoreError, match="agent-cli sessions rebuild"):
        store.search("parser")
    make_anew(store.path)
    assert store.search("parser")
    store.close()

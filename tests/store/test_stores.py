"""What both stores promise."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from agent_cli.kernel.errors import SessionLocked, SessionNotFound, StoreError
from agent_cli.kernel.events import Entry, ModelSwitched, OperatorMessage, TurnStarted
from agent_cli.kernel.messages import Text
from agent_cli.ports import Log
from agent_cli.store.info import SessionInfo
from agent_cli.store.memory import MemoryLog, MemoryStore
from agent_cli.store.sqlite import SqliteStore, open_store
from tests.fakes import strategies
from tests.store.made import entry, started

Store = SqliteStore | MemoryStore


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = open_store(tmp_path / "sessions.db") if request.param == "sqlite" else MemoryStore()
    yield made
    made.close()


def filled(store: Store, session: str, *entries: Entry, cwd: str = "/home/me") -> Log:
    log = store.create(session, cwd)
    for each in entries:
        log.append(each)
    return log


def test_what_was_appended_is_read_in_order(store: Store) -> None:
    log = filled(store, "s-1", *(entry(seq) for seq in range(1, 700)))
    assert list(log.read()) == [entry(seq) for seq in range(1, 700)]
    assert [each.seq for each in log.read(since=697)] == [698, 699]
    assert list(log.read(since=699)) == []
    assert list(store.entries("s-1", since=698)) == [entry(699)]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(strategies.logs())
def test_a_log_comes_back_as_it_was(store: Store, log: list[Entry]) -> None:
    session = f"s-{len(store.sessions())}-{id(log)}"
    held = filled(store, session)
    written = [
        Entry(session, each.seq, each.time, each.turn, each.step, each.event, each.branch) for each in log
    ]
    for each in written:
        held.append(each)
    held.close()
    assert list(store.entries(session)) == written


@pytest.mark.parametrize("seq", [0, 1, 2, 4, -1])
def test_only_the_next_seq_is_taken(store: Store, seq: int) -> None:
    log = filled(store, "s-1", entry(1), entry(2))
    with pytest.raises(StoreError, match="cannot follow entry 2"):
        log.append(entry(seq))
    log.append(entry(3))
    assert [each.seq for each in log.read()] == [1, 2, 3]


def test_an_entry_of_another_session_is_refused(store: Store) -> None:
    log = filled(store, "s-1")
    with pytest.raises(StoreError, match="session 's-2'"):
        log.append(entry(1, session="s-2"))


def test_closing_gives_up_the_right_to_write(store: Store) -> None:
    log = filled(store, "s-1", entry(1))
    with pytest.raises(SessionLocked):
        store.open("s-1")
    log.close()
    log.close()
    with pytest.raises(StoreError, match="closed"):
        log.append(entry(2))
    again = store.open("s-1")
    again.append(entry(2))
    assert [each.seq for each in again.read()] == [1, 2]
    log.close()
    with pytest.raises(SessionLocked):
        store.open("s-1")


def test_a_session_without_events_can_be_opened_and_is_not_listed(store: Store) -> None:
    store.create("s-1", "/home/me").close()
    assert store.sessions() == []
    assert store.latest("/home/me") is None
    assert store.find("s-1").events == 0
    store.open("s-1").append(entry(1))
    assert [info.id for info in store.sessions()] == ["s-1"]


def test_an_id_is_given_once(store: Store) -> None:
    filled(store, "s-1", entry(1)).close()
    with pytest.raises(StoreError, match="'s-1' already"):
        store.create("s-1", "/")
    assert len(list(store.open("s-1").read())) == 1


def test_unknown_sessions_are_said_to_be_unknown(store: Store) -> None:
    for ask in (store.open, store.entries, store.find):
        with pytest.raises(SessionNotFound, match="no session 'gone'"):
            ask("gone")
    with pytest.raises(SessionNotFound):
        store.rename("gone", "x")


def test_the_list_tells_what_the_events_told(store: Store) -> None:
    filled(
        store,
        "s-1",
        entry(1, started("/srv/tree", "m-1")),
        entry(2, TurnStarted("m-1"), turn=1),
        entry(3, OperatorMessage((Text("\n  mend the parser  \nplease"),)), turn=1),
        entry(4, ModelSwitched("p-2", "m-2"), turn=1),
        entry(5, OperatorMessage((Text("and the tests"),)), turn=2),
        cwd="/elsewhere",
    )
    assert store.sessions() == [
        SessionInfo("s-1", "mend the parser", "", "/srv/tree", "p-2/m-2", 1001.0, 1005.0, 5, 2)
    ]


def test_a_subtask_says_nothing_about_its_session(store: Store) -> None:
    switched = Entry("s-1", 3, 1003.0, 1, 1, ModelSwitched("p-2", "m-2"), "s-1:sub:x-1")
    told = Entry("s-1", 2, 1002.0, 1, 1, OperatorMessage((Text("read this"),)), "s-1:sub:x-1")
    filled(store, "s-1", entry(1, started("/srv/tree", "m-1")), told, switched)
    assert (store.find("s-1").model, store.find("s-1").title) == ("p-1/m-1", "")


def test_long_titles_are_cut_and_empty_messages_give_none(store: Store) -> None:
    filled(
        store, "s-1", entry(1, OperatorMessage((Text(" \n "),))), entry(2, OperatorMessage((Text("x" * 99),)))
    )
    assert store.find("s-1").title == "x" * 59 + "…"


def test_the_latest_of_a_directory(store: Store) -> None:
    first = filled(store, "s-1", entry(1), cwd="/a")
    filled(store, "s-2", entry(1, session="s-2"), cwd="/a")
    filled(store, "s-3", entry(1, session="s-3"), entry(2, session="s-3"), cwd="/b")
    for seq in range(2, 9):
        first.append(entry(seq))
    assert (found := store.latest("/a")) and found.id == "s-1"
    assert store.latest("/c") is None
    assert [info.id for info in store.sessions()] == ["s-1", "s-3", "s-2"]
    assert [info.id for info in store.sessions(limit=2)] == ["s-1", "s-3"]


def test_finding_by_id_name_and_beginning(store: Store) -> None:
    for session in ("aa-1", "aa-2", "b"):
        filled(store, session, entry(1, session=session))
    store.rename("aa-2", "parser")
    store.rename("aa-1", "b")
    assert store.find("aa-1").id == "aa-1"
    assert store.find("parser").id == "aa-2"
    assert store.find("b").id == "b"
    assert store.find("aa-2").name == "parser"
    with pytest.raises(SessionNotFound, match=r"2 sessions begin with 'aa'.*aa-2 .*aa-1 "):
        store.find("aa")
    with pytest.raises(SessionNotFound, match=r"Near: aa-2 \(parser\)"):
        store.find("parsre")
    with pytest.raises(SessionNotFound, match=r"The latest are"):
        store.find("zzzzzz")
    with pytest.raises(SessionNotFound):
        store.find("")


def test_names_are_unique_and_can_be_taken_away(store: Store) -> None:
    filled(store, "s-1", entry(1))
    filled(store, "s-2", entry(1, session="s-2"))
    store.rename("s-1", "mine")
    store.rename("s-1", "mine")
    with pytest.raises(StoreError, match="'mine' already"):
        store.rename("s-2", "mine")
    store.rename("s-1", "")
    store.rename("s-2", "")
    assert store.find("s-1").name == ""


def test_directories_whose_names_are_not_utf8(store: Store) -> None:
    cwd = "/home/caf\udce9"
    filled(store, "s-1", entry(1, started(cwd)), cwd=cwd)
    assert (found := store.latest(cwd)) and found.id == "s-1"


def test_a_lease_whose_file_is_gone_can_be_given_up(tmp_path: Path) -> None:
    store = open_store(tmp_path / "sessions.db")
    log = filled(store, "s-1", entry(1))
    shutil.rmtree(tmp_path / "sessions.db-locks")
    log.close()
    assert [each.seq for each in store.open("s-1").read()] == [1]
    store.close()


def test_a_memory_log_needs_no_store() -> None:
    log = MemoryLog("s-1")
    log.append(entry(1))
    assert [each.seq for each in log.read()] == [1]
    log.close()


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
def test_a_file_that_is_taken_away_while_it_is_in_use_is_noticed(tmp_path: Path, replaced: bool) -> None:
    store = open_store(tmp_path / "sessions.db")
    log = filled(store, "s-1", entry(1))
    (tmp_path / "sessions.db").unlink()
    if replaced:
        (tmp_path / "sessions.db").write_bytes(b"another one")
    with pytest.raises(StoreError, match="removed or replaced while it was in use"):
        log.append(entry(2))
    log.close()
    store.close()

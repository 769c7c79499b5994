"""Kill switches in the shared file: seen by every connection, and kept when they were taken back."""

from __future__ import annotations

import sqlite3
import time

import pytest

from agent_cli.kernel.errors import StoreError
from agent_cli.store.sqlite import open_store
from agent_cli.store.switches import NotOn, Switches
from tests.fakes.pace import slowness


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sessions.db"


def test_another_connection_sees_it_at_once_and_who_took_it_back(path):
    one, other = open_store(path), open_store(path)
    assert one.switches.on() == ()
    other.switches.turn_on("all", "fire", "ann", 1.0)
    assert [(switch.scope, switch.by, switch.why) for switch in one.switches.on()] == [("all", "ann", "fire")]
    one.switches.turn_off("all", "out", "bob", 2.0)
    assert other.switches.on() == ()
    (kept,) = other.switches.every()
    assert (kept.by, kept.at, kept.restored_by, kept.restored, kept.restored_why) == (
        "ann",
        1.0,
        "bob",
        2.0,
        "out",
    )
    for store in (one, other):
        store.close()


def test_the_first_reason_holds_and_a_second_turn_is_a_new_record(path):
    store = open_store(path)
    store.switches.turn_on("all", "fire", "ann", 1.0)
    assert store.switches.turn_on("all", "smoke", "bob", 2.0).why == "fire"
    store.switches.turn_off("all", "", "ann", 3.0)
    store.switches.turn_on("all", "smoke", "bob", 4.0)
    assert [switch.why for switch in store.switches.every()] == ["smoke", "fire"]
    store.close()


def test_what_is_not_on_cannot_be_taken_back(path):
    store = open_store(path)
    store.switches.turn_on("tool:bash", "x", "ann", 1.0)
    with pytest.raises(NotOn, match="On are: tool:bash"):
        store.switches.turn_off("all", "", "ann", 2.0)
    store.close()


def test_a_file_of_an_older_version_that_cannot_be_written_has_none(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    assert Switches(connection, path).on() == ()
    connection.close()


def test_a_table_that_is_gone_is_no_answer(path):
    store = open_store(path)
    other = sqlite3.connect(path)
    other.execute("DROP TABLE kill_switch")
    other.close()
    with pytest.raises(StoreError):
        store.switches.on()
    store.close()


def test_looking_costs_microseconds(path):
    store = open_store(path)
    for number in range(20):
        store.switches.turn_on(f"session:{number}", "x", "ann", 1.0)
    store.switches.on()
    best = min(_timed(store.switches.on) for _ in range(5))
    assert best < 0.0005 * slowness(), f"{best * 1e6:.0f} us for one look"
    store.close()


def _timed(look) -> float:
    begun = time.perf_counter()
    for _ in range(100):
        look()
    return (time.perf_counter() - begun) / 100


@pytest.mark.parametrize("column", ["scope", "why", "at"])
def test_one_that_is_damaged_counts_as_one_that_cannot_be_read(path, column):
    store = open_store(path)
    store.switches.turn_on("all", "fire", "ann", 1.0)
    store._connection.execute(f"UPDATE kill_switch SET {column} = x'ff'")
    with pytest.raises(StoreError, match="a kill switch in it is damaged"):
        Switches(store._connection, path).on()
    store.close()

"""Pools in the shared file: one winner of the last slot, leases, and a ledger that can be replayed."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.guardrails.admission import Committed, Pool
from agent_cli.kernel.errors import StoreError
from agent_cli.store.lease import take
from agent_cli.store.pools import Held, Pools, lock_of, open_pools, replay

ROUNDS = 100


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def pools(path: Path):
    found = open_pools(path)
    found.set(Pool("p", runs=2, usd=18.0), "ann", 1.0)
    yield found
    found.close()


def asking(run: str, usd: float = 1.0, lease: float = 100.0, calls: float = 0.0) -> Held:
    return Held(run, "p", f"s-{run}", "debug", usd, calls, 0.0, 0, 10.0, lease, "1")


def begin(path: Path, name: str) -> subprocess.Popen[str]:
    racer = Path(__file__).with_name("racer.py")
    return subprocess.Popen(
        [sys.executable, str(racer), str(path), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def told(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_of_two_processes_exactly_one_gets_the_last_slot(path):
    pools = open_pools(path)
    pools.set(Pool("p", runs=1), "ann", 1.0)
    racers = [begin(path, name) for name in ("one", "two")]
    try:
        for number in range(ROUNDS):
            for racer in racers:
                told(racer, str(number))
            assert sorted(heard(racer) for racer in racers) == ["lost", "won"]
            for racer in racers:
                told(racer, "release")
            assert [heard(racer) for racer in racers] == ["free", "free"]
    finally:
        for racer in racers:
            racer.kill()
            racer.communicate()
    assert replay(pools.books.ledger("p")) == Committed(0, 0.0, 0.0)
    pools.close()


def test_a_process_that_was_killed_loses_its_place_after_the_lease_and_not_before(path):
    pools = open_pools(path)
    pools.set(Pool("p", runs=1), "ann", 1.0)
    racer = begin(path, "one")
    told(racer, "0")
    assert heard(racer) == "won"
    (held,) = pools.books.held("p")
    late = held.lease + 1
    assert pools.admit(asking("b"), late), "its lease is over, but it lives"
    racer.send_signal(signal.SIGKILL)
    racer.communicate()
    assert pools.admit(asking("b"), held.lease - 1), "nobody owns it, but its lease holds"
    assert pools.admit(asking("b"), late) == ()
    assert [each.kind for each in pools.books.ledger("p")] == ["reserved", "expired", "reserved"]
    pools.close()


def test_a_run_that_renews_keeps_its_place(pools: Pools):
    lock = take(pools.locks, lock_of("a"))
    assert pools.admit(asking("a", lease=20.0), 10.0) == ()
    lock.release()
    pools.renew(asking("a"), 90.0)
    pools.admit(asking("b"), 50.0)
    assert {held.run for held in pools.books.held("p")} == {"a", "b"}
    pools.admit(asking("c"), 91.0)
    assert {held.run for held in pools.books.held("p")} == {"b", "c"}


def test_what_does_not_fit_is_told_and_nothing_of_it_is_reserved(pools: Pools):
    pools.admit(asking("a", 15.40), 10.0)
    (short,) = pools.admit(asking("b", 3.20), 11.0)
    assert short.excess == pytest.approx(0.60)
    assert [held.run for held in pools.books.held("p")] == ["a"]


def test_a_top_up_is_as_atomic_as_a_reservation(pools: Pools):
    pools.admit(asking("a", 10.0), 10.0)
    assert pools.top_up(asking("a"), 8.0, 11.0) == ()
    assert pools.top_up(asking("a"), 0.01, 12.0)
    assert pools.books.held("p")[0].usd == 18.0


def test_what_was_not_spent_comes_back_and_what_was_is_history(pools: Pools):
    pools.admit(asking("a", 2.0), 10.0)
    pools.consume(asking("a"), 0.5, 20.0)
    assert pools.begin(asking("a"), 3, 30.0).granted == 3
    pools.release(asking("a"), 70.0)
    last = pools.books.ledger("p")[-1]
    assert (last.kind, last.usd) == ("released", 1.5)
    (past,) = pools.books.past("p", "debug")
    assert (past.reserved, past.spent, past.calls, past.seconds) == (2.0, 0.5, 3, 60.0)
    assert pools.books.past("p", "chat") == ()


def test_tool_calls_of_all_runs_together_keep_to_the_minute(path: Path, pools: Pools):
    """Whoever asks, in whatever process: in no minute more begin than the pool lets through."""
    pools.set(Pool("p", runs=9, calls=5), "ann", 1.0)
    other = open_pools(path)
    for run in "ab":
        assert pools.admit(asking(run), 10.0) == ()
    assert pools.begin(asking("a"), 3, 20.0).granted == 3
    assert other.begin(asking("b"), 9, 50.0).granted == 2, "a batch begins with what there is room for"
    room = other.begin(asking("b"), 7, 60.0)
    assert (room.granted, room.opens_in) == (0, 20.0)
    assert room.reason == "5 of 5 tool calls of this minute were made"
    assert pools.begin(asking("a"), 9, 80.0).granted == 3, "a minute after the first three"
    assert pools.begin(asking("a"), 1, 109.0).granted == 0
    pools.set(Pool("p", runs=9, calls=6), "ann", 1.0)
    assert pools.begin(asking("a"), 2, 109.0).granted == 1, "a limit that is raised counts at once"
    assert {held.run: held.made for held in pools.books.held("p")} == {"a": 7, "b": 2}
    other.close()


def test_a_pool_that_nobody_made_admits_nobody(pools: Pools):
    with pytest.raises(StoreError, match="There is no pool 'q'"):
        pools.admit(Held("a", "q", "s", "", 1.0, 0.0, 0.0, 0, 1.0, 2.0, "1"), 1.0)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["admit", "top-up", "consume", "release", "wait"]),
        st.integers(0, 4),
        st.floats(0.01, 9.0),
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_the_ledger_replays_to_what_is_held_and_no_limit_is_passed(tmp_path_factory, steps):
    pools = open_pools(tmp_path_factory.mktemp("pools") / "sessions.db")
    pools.set(Pool("p", runs=3, usd=18.0), "ann", 1.0)
    now = 10.0
    for what, number, usd in steps:
        run = asking(str(number), usd, now + 5)
        there = {held.run for held in pools.books.held("p")}
        match what:
            case "admit" if run.run not in there:
                pools.admit(run, now)
            case "top-up" if run.run in there:
                with contextlib.suppress(StoreError):  # nobody owns it and its lease is over: it is gone
                    pools.top_up(run, usd, now)
            case "consume" if run.run in there:
                pools.consume(run, usd, now)
            case "release":
                pools.release(run, now)
            case _:
                now += usd
        held = pools.books.held("p")
        found = replay(pools.books.ledger("p"))
        assert found.runs == len(held) <= 3
        assert found.usd == pytest.approx(sum(each.usd for each in held))
        assert found.usd <= 18.0 + 1e-6
    pools.close()

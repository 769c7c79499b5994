"""A turn in a pool: it waits, it gets a part, or it is refused; and it gives back what it held."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_cli.compose.admission import PoolGate
from agent_cli.config.sections.limits import Admission
from agent_cli.engine.session import Session
from agent_cli.guardrails.admission import Pool, Tree
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Interrupt
from agent_cli.kernel.usage import Usage
from agent_cli.store.pools import Held, Pools, open_pools
from tests.fakes.clock import FakeClock, settle
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool, never

DEAR = Usage(input=1_000, output=50_000)
"""$0.101 at the prices of the fake model."""


@pytest.fixture
def pools(tmp_path: Path):
    found = open_pools(tmp_path / "sessions.db")
    found.set(Pool("p", runs=1, usd=2.0), "ann", 1.0)
    yield found
    found.close()


def opened(
    pools: Pools,
    provider: Playing,
    *tools: FakeTool,
    said: Admission | None = None,
    most: float = 1.5,
    **changes: Any,
) -> tuple[Session, ListLog, FakeClock, PoolGate]:
    log, clock = ListLog(), FakeClock()
    gate = PoolGate(pools, said or Admission(pool="p"), "s1", "debug", Tree(most))
    session = open_session(provider, *tools, log=log, clock=clock, gate=gate, **changes)
    return session, log, clock, gate


def other(pools: Pools, clock: FakeClock, usd: float = 1.0) -> Held:
    """Another run that holds a place."""
    held = Held("other", "p", "s-other", "", usd, 0.0, 0.0, 0, clock.now(), clock.now() + 1e6, "1")
    assert pools.admit(held, clock.now()) == ()
    return held


def kinds(pools: Pools) -> list[str]:
    return [posting.kind for posting in pools.books.ledger("p")]


def ending(log: ListLog) -> ev.TurnCompleted | ev.TurnError:
    return next(event for event in reversed(log.events) if isinstance(event, ev.TERMINAL))


async def test_a_turn_reserves_before_the_model_and_gives_back_what_it_did_not_spend(pools):
    seen: list[int] = []

    async def looks(path: str, _: Any) -> str:
        seen.append(len(pools.books.held("p")))
        return path

    session, log, _, _ = opened(
        pools,
        Playing(wants(("read", {"path": "a"}), usage=DEAR), says("done", usage=DEAR)),
        FakeTool("read", looks),
    )
    await run(session, say("go"))
    assert seen == [1]
    assert pools.books.held("p") == ()
    assert kinds(pools) == ["reserved", "consumed", "consumed", "consumed", "released"]
    last = pools.books.ledger("p")[-1]
    assert last.usd == pytest.approx(1.5 - 0.202)
    assert ending(log).outcome == "completed"
    (past,) = pools.books.past("p", "debug")
    assert (past.calls, past.spent) == (1, pytest.approx(0.202))
    await session.close()


async def test_it_waits_for_room_and_then_begins(pools):
    session, log, clock, _ = opened(pools, provider := Playing(says("done")))
    held = other(pools, clock)
    session.send(say("go"))
    await settle()
    await clock.advance(5.0)
    assert provider.asked == []
    (note,) = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert note.startswith("waiting for room in pool p, 600 s at most: 1 of 1 runs are taken")
    pools.release(held, clock.now())
    await clock.advance(1.0)
    await session.idle()
    assert ending(log).outcome == "completed"
    assert kinds(pools) == ["reserved", "queued", "released", "reserved", "consumed", "released"]
    mine = [posting.run for posting in pools.books.ledger("p") if posting.run != "other"]
    assert len(set(mine)) == 1, "what waited is what was admitted"
    await session.close()


async def test_a_queue_has_an_end(pools):
    session, log, clock, _ = opened(pools, provider := Playing(), said=Admission(pool="p", wait=3.0))
    other(pools, clock)
    session.send(say("go"))
    for _ in range(10):
        await settle()
        await clock.advance(0.5)
    await session.idle()
    end = ending(log)
    assert (end.outcome, end.exit_code) == ("guardrail-stop", 75)
    assert isinstance(end, ev.TurnError)
    assert end.error_kind == "refused"
    assert end.message.startswith("pool p has no room: 1 of 1 runs are taken and this run needs 1; $1.00 of")
    assert "(it waited 3 s)" in end.message
    assert provider.asked == []
    assert kinds(pools) == ["reserved", "queued", "rejected"]
    await session.close()


async def test_an_interrupt_ends_the_waiting(pools):
    session, log, clock, _ = opened(pools, Playing())
    other(pools, clock)
    session.send(say("go"))
    await settle()
    session.send(Interrupt())
    await session.idle()
    assert ending(log).outcome == "interrupted"
    assert len(pools.books.held("p")) == 1
    await session.close()


async def test_a_run_is_rejected_at_once_where_the_operator_wants_that(pools):
    session, log, clock, _ = opened(
        pools, provider := Playing(), said=Admission(pool="p", when_full="reject"), most=3.2
    )
    pools.set(Pool("p", runs=24, usd=18.0), "ann", 1.0)
    other(pools, clock, 15.40)
    await run(session, say("go"))
    (trip,) = [event for event in log.events if isinstance(event, ev.GuardrailTrip)]
    assert (trip.guardrail, trip.signal, trip.severity) == ("admission", "pool:p", "block")
    assert "$15.40 of $18.00 are reserved and this run needs $3.20, $0.60 too much" in trip.reason
    assert provider.asked == []
    await session.close()


async def test_a_degraded_run_gets_what_is_left_and_stops_there(pools):
    pools.set(Pool("p", runs=4, usd=1.15), "ann", 1.0)
    reads = FakeTool("read")
    session, log, clock, _ = opened(
        pools,
        Playing(
            wants(*(("read", {"path": f"{n}"}) for n in range(6))), wants(("read", {"path": "z"}), usage=DEAR)
        ),
        reads,
        said=Admission(pool="p", when_full="degrade"),
    )
    other(pools, clock, 1.05)
    await run(session, say("go"))
    assert reads.most_running <= 2
    assert ending(log).message.startswith("per-turn cost ceiling exceeded")
    assert "degraded" in kinds(pools)
    assert session._core.limits.max_turn_cost is None, "the next turn asks anew"
    await session.close()


async def test_a_degraded_run_without_a_place_is_rejected(pools):
    session, log, clock, _ = opened(pools, Playing(), said=Admission(pool="p", when_full="degrade"))
    other(pools, clock)
    await run(session, say("go"))
    assert ending(log).exit_code == 75
    await session.close()


async def test_a_hard_pool_pays_each_call_before_it_is_sent(pools):
    pools.set(Pool("p", runs=4, usd=0.03), "ann", 1.0)
    log_usage = Usage(input=100, output=1_000)
    session, log, _, _ = opened(
        pools,
        provider := Playing(*[wants(("read", {"path": f"{n}"}), usage=log_usage) for n in range(9)]),
        FakeTool("read"),
        said=Admission(pool="p", hard=True),
        most=0.01,
    )
    await run(session, say("go"))
    assert kinds(pools).count("topped-up") >= 1
    end = ending(log)
    assert end.outcome == "guardrail-stop"
    assert "pool p cannot pay for the next request" in end.message
    spent = sum(posting.usd for posting in pools.books.ledger("p") if posting.kind == "consumed")
    assert spent <= 0.03
    assert 0 < len(provider.asked) < 9
    assert pools.books.held("p") == ()
    await session.close()


async def test_a_lease_is_renewed_while_the_turn_runs(pools):
    session, _, clock, _ = opened(
        pools,
        Playing(wants(("read", {"path": "a"}))),
        FakeTool("read", never),
        said=Admission(pool="p", lease=60.0),
    )
    session.send(say("go"))
    await settle()
    before = pools.books.held("p")[0].lease
    for _ in range(10):
        await clock.advance(20.0)
    assert pools.books.held("p")[0].lease - before >= 180.0
    session.send(Interrupt())
    await session.idle()
    assert pools.books.held("p") == ()
    await session.close()


async def test_a_pool_that_cannot_be_asked_admits_nobody(pools):
    session, log, _, _ = opened(pools, provider := Playing())
    pools._connection.execute("DROP TABLE reservation")
    await run(session, say("go"))
    assert provider.asked == []
    told = ending(log)
    assert (told.outcome, told.exit_code) == ("guardrail-unavailable", 1)
    assert "the check admission is unavailable" in told.message
    assert "make the session database writable" in told.message
    pools._connection.execute("CREATE TABLE reservation (run TEXT)")
    await session.close()


@pytest.mark.parametrize("hard", [False, True])
async def test_a_pool_that_is_gone_meanwhile_lets_nothing_more_through(pools, hard: bool):
    async def cuts(path: str, _: Any) -> str:
        pools._connection.execute("ALTER TABLE reservation RENAME TO gone")
        return path

    tool = FakeTool("read", cuts)
    session, log, _, gate = opened(
        pools,
        provider := Playing(
            *(wants(("read", {"path": path}), usage=DEAR) for path in "ab"),
            says("x"),
        ),
        tool,
        said=Admission(pool="p", hard=hard),
        most=0.001 if hard else 1.5,
    )
    await run(session, say("go"))
    assert tool.ran == ["a"], "nothing is dispatched that cannot be posted"
    assert len(provider.asked) == (1 if hard else 2)
    end = ending(log)
    assert end.outcome == "guardrail-unavailable"
    assert "no such table: reservation" in end.message
    assert [type(event) for event in log.events if isinstance(event, ev.TERMINAL)] == [ev.TurnError]
    pools._connection.execute("ALTER TABLE gone RENAME TO reservation")
    await session.close()
    assert gate.enter(2e9) is None, "the lock of the run that ended is free"
    gate.close()


async def test_a_session_between_turns_holds_nothing(pools):
    session, _, _, gate = opened(pools, Playing(says("one"), says("two")))
    for _ in range(2):
        await run(session, say("go"))
        assert pools.books.held("p") == ()
    assert gate.expected().why == "", "two runs say nothing yet"
    await session.close()


async def test_a_run_that_needs_more_than_the_whole_pool_does_not_wait_for_it(pools):
    session, log, _clock, _ = opened(pools, provider := Playing(), most=3.2)
    await run(session, say("go"))
    assert "this run needs $3.20" in ending(log).message
    assert "it waited" not in ending(log).message
    assert provider.asked == []
    assert kinds(pools) == ["rejected"]
    await session.close()


async def advanced(clock: FakeClock, seconds: int) -> None:
    for _ in range(seconds * 4):
        await clock.advance(0.25)


async def test_calls_wait_until_the_minute_of_the_pool_has_room(pools):
    pools.set(Pool("p", runs=4, usd=9.0, calls=3), "ann", 1.0)
    reads = FakeTool("read")
    session, log, clock, _ = opened(
        pools, Playing(wants(*(("read", {"path": f"{n}"}) for n in range(5))), says("done")), reads
    )
    session.send(say("go"))
    await settle()
    assert reads.ran == ["0", "1", "2"]
    await advanced(clock, 59)
    assert reads.ran == ["0", "1", "2"]
    await advanced(clock, 2)
    await session.idle()
    assert reads.ran == ["0", "1", "2", "3", "4"]
    assert ending(log).outcome == "completed"
    (note,) = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert note == (
        "tool calls wait for room in pool p, 600 s at most: 3 of 3 tool calls of this minute were made, the next may"
        " begin in 60 s"
    )
    assert kinds(pools).count("throttled") == 1
    await session.close()


@pytest.mark.parametrize(("when_full", "wait"), [("reject", 600.0), ("queue", 5.0)])
async def test_a_turn_whose_calls_may_not_begin_in_time_ends(pools, when_full: Any, wait: float):
    pools.set(Pool("p", runs=4, usd=9.0, calls=1), "ann", 1.0)
    reads = FakeTool("read")
    session, log, clock, _ = opened(
        pools,
        provider := Playing(wants(*(("read", {"path": f"{n}"}) for n in range(3))), says("done")),
        reads,
        said=Admission(pool="p", when_full=when_full, wait=wait),
    )
    session.send(say("go"))
    await settle()
    await advanced(clock, 6)
    await session.idle()
    assert (reads.ran, len(provider.asked)) == (["0"], 1)
    end = ending(log)
    assert (end.outcome, end.exit_code) == ("guardrail-stop", 75)
    assert end.message.startswith("pool p lets no further tool call begin: 1 of 1 tool calls of this minute")
    (trip,) = [event for event in log.events if isinstance(event, ev.GuardrailTrip)]
    assert (trip.guardrail, trip.signal, trip.halted_turn) == ("admission", "pool-calls", True)
    returned = [event for event in log.events if isinstance(event, ev.ToolReturned)]
    assert [each.executed for each in returned] == [True, False, False]
    assert pools.books.held("p") == ()
    await session.close()


async def test_a_batch_that_is_made_smaller_goes_on_with_what_ran(pools):
    pools.set(Pool("p", runs=4, usd=9.0, calls=2), "ann", 1.0)
    reads = FakeTool("read")
    session, log, clock, _ = opened(
        pools,
        Playing(
            wants(*(("read", {"path": f"{n}"}) for n in range(5))),
            wants(("read", {"path": "x"})),
            says("done"),
        ),
        reads,
        said=Admission(pool="p", when_full="degrade"),
    )
    session.send(say("go"))
    await settle()
    assert reads.ran == ["0", "1"]
    returned = [event for event in log.events if isinstance(event, ev.ToolReturned)]
    assert [each.executed for each in returned] == [True, True, False, False, False]
    (told,) = {event.output.for_model[0].text for event in returned[2:]}
    assert told.startswith(
        "not run: 2 of 2 tool calls of this minute were made, which all runs of pool p share"
    )
    await advanced(clock, 61)
    await session.idle()
    assert reads.ran == ["0", "1", "x"], (
        "the next batch waits for one, so that the model does not ask in vain"
    )
    assert ending(log).outcome == "completed"
    await session.close()


async def test_an_interrupt_ends_the_waiting_of_a_call(pools):
    pools.set(Pool("p", runs=4, usd=9.0, calls=1), "ann", 1.0)
    reads = FakeTool("read")
    session, log, clock, _ = opened(
        pools, Playing(wants(("read", {"path": "a"}), ("read", {"path": "b"}))), reads
    )
    session.send(say("go"))
    await settle()
    await clock.advance(1.0)
    session.send(Interrupt())
    await session.idle()
    assert (ending(log).outcome, reads.ran) == ("interrupted", ["a"])
    assert [event.executed for event in log.events if isinstance(event, ev.ToolReturned)] == [True, False]
    await session.close()

"""What stops a turn, what stops a session, and how each says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Interrupt, Reset, Withdraw
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text
from agent_cli.kernel.usage import Usage
from agent_cli.ports import Alert, Came
from tests.fakes.clock import FakeClock, settle
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import ask_writes, is_fact, open_session, run, say, until
from tests.fakes.tools import FakeTool, never

DEAR = Usage(input=1_000, output=50_000)
"""$0.101 at the prices of the fake model."""


def trips(log: ListLog) -> list[ev.GuardrailTrip]:
    return [event for event in log.events if isinstance(event, ev.GuardrailTrip)]


def endings(log: ListLog) -> list[ev.TurnCompleted | ev.TurnError]:
    return [event for event in log.events if isinstance(event, ev.TERMINAL)]


def outcomes(log: ListLog) -> list[tuple[str, int]]:
    return [(end.outcome, end.exit_code) for end in endings(log)]


def again(log: ListLog, provider: Playing, *tools: FakeTool, **changes: Any) -> Session:
    """The session in a new process: what counts is what was written."""
    return open_session(provider, *tools, log=ListLog(entries=list(log.read())), **changes)


def dear_turns(count: int) -> list[ev.Finished]:
    return [wants(("read", {"path": f"{n}"}), usage=DEAR) for n in range(count)]


# ── money ──


async def test_a_turn_that_costs_too_much_ends_and_the_next_one_starts_afresh():
    log, tool = ListLog(), FakeTool("read")
    session = open_session(
        Playing(*dear_turns(1), says("cheap")), tool, log=log, limits=Limits(max_turn_cost=0.05)
    )
    await run(session, say("go"))
    (trip,) = trips(log)
    assert trip.reason == "per-turn cost ceiling exceeded: this turn cost $0.1010, ceiling is $0.0500"
    assert (trip.scope, trip.halted_turn, trip.signal, trip.limit) == ("turn", True, "turn-cost", 0.05)
    assert "1 in a row now: at 3 the session halts" in trip.then
    assert "NOT halted" in trip.then
    assert tool.ran == [], "nothing is dispatched once the money is spent"
    assert session.halted == ""
    await run(session, say("and?"))
    assert outcomes(log) == [("guardrail-stop", 1), ("completed", 0)]
    await session.close()


async def test_three_dear_turns_in_a_row_halt_the_session_and_a_reset_needs_no_budget():
    log = ListLog()
    provider = Playing(*dear_turns(3), says("ok"))
    limits = Limits(max_turn_cost=0.05)
    session = open_session(provider, FakeTool("read"), log=log, limits=limits)
    for _ in range(3):
        await run(session, say("go"))
    last = trips(log)[-1]
    assert last.scope == "session"
    assert last.reason.startswith("3 turns in a row were stopped by the per-turn cost ceiling")
    await run(session, say("refused", "now"))
    assert outcomes(log)[-1] == ("halted", 3)
    reopened = again(log, Playing(), limits=limits)
    assert "3 turns in a row" in reopened.halted
    assert again(log, Playing()).halted == "", "no ceiling is set any more"
    session.send(Reset("cost_ceiling"))
    await run(session, say("go on"))
    assert outcomes(log)[-1] == ("completed", 0)
    for one in (session, reopened):
        await one.close()


async def test_a_turn_within_its_bound_clears_the_count():
    log = ListLog()
    provider = Playing(*dear_turns(2), says("cheap"), *dear_turns(2))
    session = open_session(provider, FakeTool("read"), log=log, limits=Limits(max_turn_cost=0.05))
    for _ in range(5):
        await run(session, say("go"))
    assert [trip.scope for trip in trips(log)] == ["turn"] * 4
    await session.close()


async def test_an_answer_that_meets_the_ceiling_is_delivered_and_halts_what_comes_after():
    async def whole(_: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        yield ev.TextDelta("answer")
        yield ev.UsageSoFar(DEAR)
        yield says("answer", usage=DEAR)

    log = ListLog()
    session = open_session(Playing(whole), log=log, limits=Limits(max_session_cost=0.05))
    await run(session, say("go"))
    (trip,) = trips(log)
    assert (trip.halted_turn, trip.scope) == (False, "session")
    assert outcomes(log) == [("completed", 0)]
    assert log.kinds.index("guardrail-trip") < log.kinds.index("turn-completed")
    assert session.halted
    await session.close()


async def test_a_stream_that_has_become_too_dear_is_not_read_to_its_end():
    read: list[str] = []

    async def long(_: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        yield ev.TextDelta("half ")
        yield ev.UsageSoFar(DEAR)
        yield ev.TextDelta("more")
        read.append("to its end")

    log, provider = ListLog(), Playing(long)
    session = open_session(provider, log=log, limits=Limits(max_turn_cost=0.05))
    await run(session, say("go"))
    said = next(event for event in log.events if isinstance(event, ev.AssistantMessage))
    assert (said.partial, said.parts) == (True, (Text("half "),))
    assert (read, session.state.total.usage) == ([], DEAR)
    assert outcomes(log) == [("guardrail-stop", 1)]
    await session.close()


@pytest.mark.parametrize("guardrail", ["cost_ceiling", "all"])
async def test_a_reset_that_would_trip_again_is_refused_with_the_least_amount(guardrail: Any):
    log = ListLog()
    session = open_session(
        Playing(*dear_turns(1), says("ok")),
        FakeTool("read"),
        log=log,
        limits=Limits(max_session_cost=0.05),
    )
    await run(session, say("go"))
    session.send(Reset(guardrail, 0.05))
    note = next(event for event in reversed(log.events) if isinstance(event, ev.OperatorNote))
    assert "at least $0.06" in note.text
    assert "guardrail-reset" not in log.kinds
    session.send(Reset(guardrail, 0.06))
    await run(session, say("go on"))
    assert outcomes(log)[-1] == ("completed", 0)
    assert session.state.total.cost > 0.1, "spent dollars stay spent"
    await session.close()


async def test_eighty_percent_is_told_once_a_turn_and_once_for_the_sessions_ceiling():
    log = ListLog()
    provider = Playing(*[wants(("read", {"path": "a"})) for _ in range(4)], says("1"), says("2"))
    limits = Limits(max_steps=5, max_session_cost=0.0007)
    session = open_session(provider, FakeTool("read"), log=log, limits=limits)
    await run(session, say("go"))
    await run(session, say("and?"))
    warned = [event.dimension for event in log.events if isinstance(event, ev.BudgetWarning)]
    assert warned == ["steps", "cost"]
    reopened = again(log, Playing(), limits=limits)
    assert ("cost", 0.0007) in reopened.state.budget_warned
    await reopened.close()
    await session.close()


# ── the soft landing ──


async def test_there_is_one_grace_step_also_when_a_message_comes_meanwhile():
    log, provider = ListLog(), Playing(wants(("read", {"path": "a"})), says("enough"), says("next"))
    session = open_session(provider, FakeTool("read"), log=log, limits=Limits(max_steps=1))
    session.send(say("go"))
    await until(session, lambda event: isinstance(event, ev.Entry) and event.step == 2)
    session.send(say("also this"))
    await session.idle()
    assert [prompt.tool_choice for prompt in provider.asked] == ["auto", "none", "auto"]
    assert [end.exhausted for end in endings(log)] == ["steps", None]
    await session.close()


async def test_an_empty_grace_answer_ends_the_turn_without_another_step():
    log, provider = ListLog(), Playing(wants(("read", {"path": "a"})), says(""))
    session = open_session(provider, FakeTool("read"), log=log, limits=Limits(max_steps=1))
    await run(session, say("go"))
    (end,) = endings(log)
    assert isinstance(end, ev.TurnError)
    assert (end.error_kind, end.outcome, end.exhausted, end.exit_code) == (
        "canceled",
        "budget-exhausted",
        "steps",
        1,
    )
    await session.close()


async def test_57_used_and_4_asked_of_60_runs_none_and_says_57():
    log, tool = ListLog(), FakeTool("read")
    batches = [wants(*[("read", {"path": f"{n}.{m}"}) for m in range(19)]) for n in range(3)]
    four = wants(*[("read", {"path": f"x{m}"}) for m in range(4)])
    session = open_session(
        Playing(*batches, four, says("enough")), tool, log=log, limits=Limits(max_tool_calls=60)
    )
    await run(session, say("go"))
    assert len(tool.ran) == 57
    assert session.state.turn_calls == 57
    (trip,) = trips(log)
    assert trip.reason.startswith("tool-call ceiling reached (57/60)")
    assert (trip.used, trip.limit) == (57, 60)
    settled = [e for e in log.events if isinstance(e, ev.ToolReturned) and not e.executed]
    assert [ev.as_text(one.output)[:50] for one in settled] == [
        "not run: tool-call ceiling reached (57/60); 4 more"
    ] * 4
    await session.close()


async def test_the_wall_clock_does_not_count_the_time_a_person_takes():
    clock, log = FakeClock(), ListLog()
    writer = FakeTool("write", never, read_only=False)
    session = open_session(
        Playing(wants(("write", {"path": "a"}))),
        writer,
        log=log,
        clock=clock,
        judge=ask_writes,
        limits=Limits(max_duration=60),
    )
    session.send(say("go"))
    await until(session, is_fact(ev.ApprovalRequested))
    await clock.advance(1_000)
    assert not endings(log)
    session.send(Answer(next(iter(session.state.pending)), allowed=True))
    await settle()
    await clock.advance(61)
    await session.idle()
    (end,) = endings(log)
    assert (end.outcome, end.exhausted) == ("budget-exhausted", "duration")
    result = next(event for event in log.events if isinstance(event, ev.ToolReturned))
    assert "wall-clock ceiling reached (60 s" in ev.as_text(result.output)
    await session.close()


# ── the watchdog and refusals ──


class Cuts:
    """A signal that cuts the turn at every result of that tool."""

    def __init__(self, name: str = "no-op-streak", scope: ev.StopScope = "turn") -> None:
        self.name = name
        self._scope: ev.StopScope = scope

    def returned(self, result: Came, /) -> Alert | None:
        if result.call.name != "bad":
            return None
        return Alert(self.name, "critical", self._scope, "nothing changed 3 times")

    def forget(self) -> None:
        """There is nothing."""


async def test_three_turns_in_a_row_cut_by_the_same_signal_halt_the_session():
    log = ListLog()
    provider = Playing(*[wants(("bad", {"path": f"{n}"})) for n in range(3)])
    session = open_session(provider, FakeTool("bad"), log=log, signals=(Cuts(),), watchdog="enforce")
    for _ in range(3):
        await run(session, say("go"))
    assert [trip.scope for trip in trips(log)] == ["turn", "turn", "session"]
    assert trips(log)[-1].reason.startswith("3 turns in a row were stopped by no-op-streak")
    assert session.halted.startswith("watchdog")
    session.send(Reset("watchdog"))
    assert session.halted == ""
    await session.close()


async def test_a_cut_cancels_what_still_runs_and_says_why():
    log = ListLog()
    provider = Playing(wants(("slow", {"path": "a"}), ("bad", {"path": "b"})))
    session = open_session(
        provider, FakeTool("slow", never), FakeTool("bad"), log=log, signals=(Cuts(),), watchdog="enforce"
    )
    await run(session, say("go"))
    returned = {e.tool: ev.as_text(e.output) for e in log.events if isinstance(e, ev.ToolReturned)}
    assert "the turn was stopped: nothing changed 3 times" in returned["slow"]
    assert outcomes(log) == [("loop-detected", 1)]
    await session.close()


async def test_equal_refusals_end_the_turn_without_a_trip_and_leave_a_halt_alone():
    log = ListLog()
    calls = [wants(("write", {"path": "./a"}), ("write", {"path": f"b{n}"})) for n in range(3)]
    session = open_session(
        Playing(*calls), FakeTool("write", read_only=False), log=log, judge=ask_writes, watchdog="enforce"
    )
    session.send(say("go"))
    refused: list[str] = []
    async for event in session.events():
        if isinstance(event, ev.Entry) and isinstance(event.event, ev.ApprovalRequested):
            if event.event.subject == "./a":
                refused.append(event.event.call_id)
                session.send(Answer(event.event.call_id, allowed=False))
            elif len(refused) < 3:
                session.send(Answer(event.event.call_id, allowed=True))
        if isinstance(event, ev.Entry) and isinstance(event.event, ev.TERMINAL):
            break
    await session.idle()
    assert trips(log) == []
    finding = next(event for event in log.events if isinstance(event, ev.GuardrailFinding))
    assert (finding.check, finding.severity) == ("refusal_storm", "halt")
    assert "made and refused 3 times" in finding.message
    assert outcomes(log) == [("guardrail-stop", 1)]
    assert session.halted == ""
    await session.close()


# ── messages that wait ──


async def test_messages_to_a_halted_session_survive_the_process_and_come_in_order():
    log = ListLog()
    limits = Limits(max_session_cost=0.05)
    session = open_session(Playing(*dear_turns(1)), FakeTool("read"), log=log, limits=limits)
    await run(session, say("go"))
    for text in ("first", "second", "third"):
        session.send(say(text, "after" if text == "second" else "steer"))
    assert len(endings(log)) == 1, "nothing is refused: it waits"
    provider = Playing(says("ok"))
    reopened = again(log, provider, limits=limits)
    assert [text.content for text in reopened.state.queued] == [
        (Text(t),) for t in ("first", "second", "third")
    ]
    reopened.send(say("fourth"))
    reopened.send(Reset("cost_ceiling", 5.0))
    await reopened.idle()
    said = [part.text for m in provider.asked[0].messages for part in m.parts if isinstance(part, Text)]
    assert said[-4:] == ["first", "second", "third", "fourth"]
    assert reopened.state.queued == ()
    for one in (session, reopened):
        await one.close()


async def test_what_waits_can_be_taken_back_and_stays_taken_back():
    log, provider = ListLog(), Playing(says("long"), says("ok"))
    provider.hold = asyncio.Event()
    session = open_session(provider, log=log)
    session.send(say("go"))
    await settle()
    session.send(say("first", "after"))
    session.send(say("second", "after"))
    taken, kept = session.state.waiting
    session.send(Withdraw(taken))
    session.send(Withdraw(taken))
    session.send(Withdraw(99))
    assert list(session.state.waiting) == [kept]
    assert list(again(log, Playing()).state.waiting) == [kept]
    assert sum(isinstance(event, ev.MessageWithdrawn) for event in log.events) == 1
    provider.hold.set()
    await session.idle()
    said = [part.text for m in provider.asked[1].messages for part in m.parts if isinstance(part, Text)]
    assert said[-1] == "second"
    assert "first" not in said
    await session.close()


async def test_what_waited_in_a_process_that_died_goes_out_with_the_next_word():
    log, provider = ListLog(), Playing(says("long"))
    provider.hold = asyncio.Event()
    session = open_session(provider, log=log)
    session.send(say("go"))
    await settle()
    session.send(say("later", "after"))
    session.send(say("steered"))
    once_more = Playing(says("ok"))
    reopened = again(log, once_more)
    assert len(reopened.state.queued) == 2
    assert once_more.asked == []
    await run(reopened, say("now", "now"))
    said = [part.text for m in once_more.asked[0].messages for part in m.parts if isinstance(part, Text)]
    assert said[-3:] == ["later", "steered", "now"]
    session.send(Interrupt())
    for one in (session, reopened):
        await one.close()

"""How used-up steps, tool calls and tokens end a turn: softly, with one answer, or at once where that is wanted."""

from __future__ import annotations

import pytest

from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import Usage
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

MANY = Usage(input=900, output=200)


def trips(log: ListLog) -> list[ev.GuardrailTrip]:
    return [event for event in log.events if isinstance(event, ev.GuardrailTrip)]


def ending(log: ListLog) -> ev.TurnCompleted | ev.TurnError:
    (end,) = (event for event in log.events if isinstance(event, ev.TERMINAL))
    return end


def look(number: int, usage: Usage | None = None) -> ev.Finished:
    return wants(("read", {"path": f"{number}"}), usage=usage)


async def test_tokens_that_an_answer_used_up_stop_its_calls_and_one_more_step_answers():
    log, tool = ListLog(), FakeTool("read")
    provider = Playing(look(1), look(2, MANY), says("as far as I got", usage=MANY))
    session = open_session(provider, tool, log=log, limits=Limits(max_tokens=1_000))
    await run(session, say("go"))
    end = ending(log)
    assert (end.outcome, end.exhausted, end.exit_code) == ("budget-exhausted", "tokens", 0)
    assert isinstance(end, ev.TurnCompleted)
    assert end.finish_reason == "budget-exhausted"
    assert tool.ran == ["1"], "no call runs once the tokens are used up"
    settled = [event for event in log.events if isinstance(event, ev.ToolReturned)][-1]
    assert ev.as_text(settled.output) == "not run: token ceiling reached (1210/1000)"
    assert [prompt.tool_choice for prompt in provider.asked] == ["auto", "auto", "none"]
    assert [trip.reason for trip in trips(log)] == ["token ceiling reached (1210/1000)"], (
        "the last step trips nothing"
    )
    assert session.state.turn_row.usage.total == 110 + 2 * 1_100, "what the last step took counts, once"
    await session.close()


async def test_an_answer_that_crosses_the_tokens_is_the_last_one_and_needs_no_other():
    log, provider = ListLog(), Playing(look(1), says("all of it", usage=MANY))
    session = open_session(provider, FakeTool("read"), log=log, limits=Limits(max_tokens=1_000))
    await run(session, say("go"))
    end = ending(log)
    assert (end.outcome, end.exhausted, end.exit_code) == ("budget-exhausted", "tokens", 0)
    assert (len(provider.asked), session.state.answer) == (2, "all of it")
    (trip,) = trips(log)
    assert (trip.halted_turn, trip.then.split(";")[0]) == (False, "The turn has its answer")
    await session.close()


@pytest.mark.parametrize(
    "limits", [Limits(max_steps=2), Limits(max_tool_calls=1), Limits(max_tokens=5_000)], ids=str
)  # fmt: skip
async def test_an_answer_within_every_ceiling_is_an_ordinary_one(limits: Limits):
    log, provider = ListLog(), Playing(look(1), says("done"))
    session = open_session(provider, FakeTool("read"), log=log, limits=limits)
    await run(session, say("go"))
    assert (ending(log).outcome, ending(log).exhausted, trips(log)) == ("completed", None, [])
    await session.close()


HARD = [
    (Limits(max_steps=1, on_exhaustion="fail"), [look(1)], "steps", ["1"]),
    (Limits(max_tool_calls=1, on_exhaustion="fail"), [look(1), look(2)], "tool-calls", ["1"]),
    (Limits(max_tokens=1_000, on_exhaustion="fail"), [look(1), look(2, MANY)], "tokens", ["1"]),
    (Limits(max_tokens=1_000, on_exhaustion="fail"), [says("all of it", usage=MANY)], "tokens", []),
]


@pytest.mark.parametrize(("limits", "replies", "what", "ran"), HARD)
async def test_where_that_is_wanted_what_is_used_up_fails_without_another_request(
    limits: Limits, replies: list[ev.Finished], what: str, ran: list[str]
):
    log, tool, provider = ListLog(), FakeTool("read"), Playing(*replies)
    session = open_session(provider, tool, log=log, limits=limits)
    await run(session, say("go"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert (end.error_kind, end.outcome, end.exhausted, end.exit_code) == (
        "canceled",
        "budget-exhausted",
        what,
        1,
    )
    assert (len(provider.asked), tool.ran) == (len(replies), ran)
    (trip,) = trips(log)
    assert (trip.halted_turn, end.message) == (True, trip.reason)
    assert "NOT halted" in trip.then
    await session.close()


async def test_a_last_step_that_costs_too_much_is_delivered_and_says_so():
    """Money counts in the last step, too, but its answer is there."""
    log = ListLog()
    dear = says("as far as I got", usage=Usage(input=1_000, output=50_000))
    session = open_session(
        Playing(look(1), dear), FakeTool("read"), log=log, limits=Limits(max_steps=1, max_turn_cost=0.05)
    )
    await run(session, say("go"))
    assert (ending(log).exhausted, ending(log).exit_code) == ("steps", 0)
    assert [(trip.guardrail, trip.halted_turn) for trip in trips(log)] == [
        ("step_ceiling", False), ("cost_ceiling", False),
    ]  # fmt: skip
    assert trips(log)[-1].then.startswith("The turn has its answer; the session is NOT halted")
    await session.close()

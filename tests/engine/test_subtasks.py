"""A subtask: a fresh context under the session, of which only the digest comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from agent_cli.guardrails.book import signals
from agent_cli.guardrails.checks.armed import Actions, Armed
from agent_cli.guardrails.ledger import Children
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Interrupt
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Prompt, Text, ToolResult, text_of
from agent_cli.kernel.usage import Usage
from agent_cli.ports import Facts, Proposal, Ruling
from tests.fakes.clock import FakeClock, settle
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import allow, is_fact, run, say, until
from tests.fakes.tools import FakeTool, never
from tests.fakes.two_models import asks, opened, tools

PARENT = "s1"


def of_branches(log: ListLog) -> dict[str, list[ev.Recorded]]:
    found: dict[str, list[ev.Recorded]] = {}
    for entry in log.read():
        found.setdefault(entry.branch, []).append(entry.event)
    return found


def results(log: ListLog) -> list[ev.ToolReturned]:
    return [event for event in of_branches(log)[""] if isinstance(event, ev.ToolReturned)]


def ends(log: ListLog) -> list[ev.SubtaskCompleted]:
    return [event for event in log.events if isinstance(event, ev.SubtaskCompleted)]


def said_to(prompt: Prompt) -> str:
    return text_of(prompt.messages[0].parts)


# ── what it is ──


async def test_it_sees_its_own_words_and_one_message_and_only_its_digest_comes_back():
    log = ListLog()
    large = Playing(asks("where is x set?"), says("in a.py"))
    small = Playing(wants(("grep", {"path": "x"})), says("x is set in a.py:3"))
    session = opened(large, small, *tools(), log=log)
    await run(session, say("a secret of the conversation"))
    first = small.asked[0]
    assert [tool.name for tool in first.tools] == ["grep", "read_file"]
    assert first.model == "small-1"
    assert len(first.messages) == 1
    assert "where is x set?" in said_to(first)
    assert "secret" not in str(small.asked)
    assert "only your last message reaches it" in first.system[0]
    (digest,) = [part for part in large.asked[1].messages[-1].parts if isinstance(part, ToolResult)]
    assert digest.content == (Text("x is set in a.py:3"),)
    assert "content of x" not in str(large.asked)
    await session.close()


async def test_its_facts_stand_in_a_branch_and_those_about_it_in_the_parents():
    log = ListLog()
    small = Playing(wants(("grep", {"path": "x"})), says("found"))
    session = opened(Playing(asks("q"), says("ok")), small, *tools(), log=log)
    await run(session, say("go"))
    branches = of_branches(log)
    branch = f"{PARENT}:sub:agentic_grep-1"
    assert set(branches) == {"", branch}
    kinds = [type(event) for event in branches[branch]]
    assert kinds[:2] == [ev.TurnStarted, ev.OperatorMessage]
    assert kinds[-1] is ev.TurnCompleted
    started = next(event for event in branches[""] if isinstance(event, ev.SubtaskStarted))
    call = next(event for event in branches[""] if isinstance(event, ev.ToolCallProposed)).call
    assert (started.subtask, started.call_id, started.model) == (branch, call.call_id, "small-1")
    assert ends(log)[0].outcome == "completed"
    assert [entry.step for entry in log.read() if entry.branch][-1] == 2
    assert session.state.step == 2
    await session.close()


async def test_cost_and_tokens_roll_up_and_steps_and_calls_stay_its_own():
    log = ListLog()
    large = Playing(asks("q"), says("ok"))
    usage = Usage(input=1_000, output=100)
    small = Playing(wants(("grep", {"path": "x"}), usage=usage), says("found", usage=usage))
    session = opened(large, small, *tools(), log=log)
    await run(session, say("go"))
    state = session.state
    own = 2 * (100 * 1.0 + 10 * 2.0) / 1e6
    theirs = 2 * (1_000 * 100.0 + 100 * 200.0) / 1e6
    assert state.total.cost == pytest.approx(own + theirs)
    assert state.turn_row.cost == pytest.approx(own + theirs)
    assert state.below.cost == pytest.approx(theirs)
    assert state.models["small-1"].cost == pytest.approx(theirs)
    assert ends(log)[0].cost == pytest.approx(theirs)
    assert state.total.usage.total == 2 * 110 + 2 * 1_100
    assert (state.turn_steps, state.turn_calls) == (2, 1)
    assert state.context_tokens < 1_000, "what the subtask read does not fill the parent's window"
    (row,) = state.subtasks.values()
    assert (row.steps, row.calls, row.outcome) == (2, 1, "completed")
    await session.close()
    again = opened(Playing(), Playing(), *tools(), log=log)
    assert again.state.total.cost == pytest.approx(own + theirs), "the log says the same"
    assert again.state.subtasks == state.subtasks
    assert again.state.answer == "ok"
    await again.close()


async def test_several_run_side_by_side():
    waiting = asyncio.Event()
    both = asyncio.Event()
    log = ListLog()

    async def held(playing: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        if len(playing.asked) == 2:
            both.set()
        await waiting.wait()
        yield says(f"answer to {said_to(playing.asked[0])[-3:]}")

    session = opened(Playing(asks("one", "two"), says("ok")), Playing(held, held), *tools(), log=log)
    session.send(say("go"))
    await both.wait()
    assert [row.outcome for row in session.state.subtasks.values()] == ["", ""]
    waiting.set()
    await session.idle()
    assert [end.outcome for end in ends(log)] == ["completed", "completed"]
    assert len(of_branches(log)) == 3
    await session.close()


async def test_without_a_small_model_it_runs_on_the_sessions_own():
    large = Playing(asks("q"), says("found"), says("ok"))
    session = opened(large, Playing(), *tools(), small=lambda card: "")
    await run(session, say("go"))
    assert [prompt.model for prompt in large.asked] == ["fake-1"] * 3
    assert large.asked[1].session != large.asked[0].session, "a run of its own at the service"
    await session.close()


async def test_a_small_model_that_cannot_be_opened_is_told_once():
    log = ListLog()
    large = Playing(asks("q"), says("found"), asks("q"), says("found"), says("ok"))
    session = opened(large, Playing(), *tools(), log=log, small=lambda card: "no-such")
    await run(session, say("go"))
    notes = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert notes == ["subtasks run on fake-1: unknown model 'no-such'"]
    await session.close()


# ── how it ends ──


async def test_it_says_where_it_was_cut_short():
    log = ListLog()
    small = Playing(*[wants(("grep", {"path": str(n)})) for n in range(2)], says("what I have"))
    session = opened(Playing(asks("q"), says("ok")), small, *tools(), log=log, children=Children(max_steps=2))
    await run(session, say("go"))
    told = ev.as_text(results(log)[0].output)
    assert "was cut short: its budget of steps was used up" in told
    assert told.endswith("what I have")
    assert not results(log)[0].output.ok
    assert small.asked[-1].tool_choice == "none"
    await session.close()


async def test_it_says_where_it_stopped_talking():
    log = ListLog()
    empty = ev.Finished((), Usage(input=5), "small-1", "stop", "end_turn")
    session = opened(Playing(asks("q"), says("ok")), Playing(empty, empty), *tools(), log=log)
    await run(session, say("go"))
    assert "stopped talking" in ev.as_text(results(log)[0].output)
    assert session.state.answer == "ok"
    await session.close()


async def test_a_time_limit_of_its_own_cuts_it_and_the_turn_goes_on():
    log, clock = ListLog(), FakeClock()
    small = Playing(wants(("grep", {"path": "x"})))
    session = opened(
        Playing(asks("q"), says("ok")),
        small,
        *tools(never),
        log=log,
        clock=clock,
        children=Children(max_duration=60.0),
    )
    session.send(say("go"))
    await settle()
    await clock.advance(61)
    await session.idle()
    assert "wall-clock ceiling" in ends(log)[0].digest
    assert session.state.ending == ev.TurnCompleted("completed", "end_turn")
    await session.close()


async def test_the_sessions_time_limit_cuts_what_runs_in_it():
    log, clock = ListLog(), FakeClock()
    session = opened(
        Playing(asks("q")),
        Playing(wants(("grep", {"path": "x"}))),
        *tools(never),
        log=log,
        clock=clock,
        limits=Limits(max_duration=30.0),
    )
    session.send(say("go"))
    await settle()
    await clock.advance(31)
    await session.idle()
    assert ends(log)[0].outcome == "interrupted"
    assert isinstance(session.state.ending, ev.TurnError)
    assert session.state.ending.exhausted == "duration"
    await session.close()


async def test_an_interrupt_stops_what_runs_inside_and_keeps_what_it_had():
    log = ListLog()
    slow = FakeTool("grep", never)
    small = Playing(wants(("grep", {"path": "x"}), text="I saw a.py so far."))
    session = opened(Playing(asks("q")), small, slow, FakeTool("read_file"), log=log)
    session.send(say("go"))
    await until(session, lambda event: isinstance(event, ev.Entry) and bool(slow.running))
    session.send(Interrupt())
    await session.idle()
    assert slow.running == 0
    (result,) = results(log)
    told = ev.as_text(result.output)
    assert "cancelled by the operator" in told
    assert "I saw a.py so far." in told
    assert ends(log)[0].outcome == "interrupted"
    ending = session.state.ending
    assert isinstance(ending, ev.TurnError)
    assert ending.outcome == "interrupted"
    for branch in of_branches(log).values():
        assert sum(isinstance(event, ev.TERMINAL) for event in branch) == 1
    await session.close()


async def test_an_interrupt_stops_all_that_run_side_by_side():
    log = ListLog()
    slow = FakeTool("grep", never)
    small = Playing(wants(("grep", {"path": "x"})), wants(("grep", {"path": "y"})))
    session = opened(Playing(asks("one", "two")), small, slow, FakeTool("read_file"), log=log)
    session.send(say("go"))
    await until(session, lambda _: slow.running == 2)
    session.send(Interrupt())
    await session.idle()
    assert [end.outcome for end in ends(log)] == ["interrupted", "interrupted"]
    assert len(results(log)) == 2
    await session.close()


# ── the gate ──


def ask_grep(proposal: Proposal, facts: Facts) -> Ruling:
    if proposal.tool != "grep" or any(grant == "grep:*" for grant in facts.grants):
        return Ruling("allow", "test", "")
    return Ruling("ask", "test", "it looks")


async def test_what_it_asks_names_the_one_who_asks_and_a_grant_holds_for_the_session():
    log = ListLog()
    search = FakeTool("grep")
    small = Playing(wants(("grep", {"path": "x"})), wants(("grep", {"path": "y"})), says("found"))
    session = opened(
        Playing(asks("q"), says("ok")), small, search, FakeTool("read_file"), log=log, judge=ask_grep
    )
    session.send(say("go"))
    await until(session, is_fact(ev.ApprovalRequested))
    (asked,) = session.state.pending.values()
    assert asked.agent == "agentic_grep-1"
    session.send(Answer(asked.call_id, allowed=True, scope="tool"))
    await session.idle()
    assert search.ran == ["x", "y"], "asked once"
    assert session.state.grants == ("grep:*",)
    assert not session.state.pending
    await session.close()
    again = opened(Playing(), Playing(), *tools(), log=log)
    assert again.state.grants == ("grep:*",)
    await again.close()


async def test_waiting_for_the_operator_stops_the_clock_of_the_session_too():
    clock = FakeClock()
    session = opened(
        Playing(asks("q"), says("ok")),
        Playing(wants(("grep", {"path": "x"})), says("found")),
        *tools(),
        clock=clock,
        judge=ask_grep,
        limits=Limits(max_duration=30.0),
    )
    session.send(say("go"))
    await until(session, is_fact(ev.ApprovalRequested))
    await clock.advance(3_600)
    session.send(Answer(next(iter(session.state.pending)), allowed=True))
    await session.idle()
    assert session.state.ending == ev.TurnCompleted("completed", "end_turn")
    await session.close()


# ── ceilings ──


async def test_the_sessions_cost_ceiling_stops_it_in_its_own_turn():
    log = ListLog()
    dear = Usage(input=10_000)
    small = Playing(wants(("grep", {"path": "x"}), usage=dear), says("never asked"))
    session = opened(Playing(asks("q")), small, *tools(), log=log, limits=Limits(max_session_cost=0.5))
    await run(session, say("go"))
    assert len(small.asked) == 1
    assert ends(log)[0].outcome == "guardrail-stop"
    ending = session.state.ending
    assert isinstance(ending, ev.TurnError)
    assert ending.exhausted == "cost"
    assert session.halted
    await session.close()


async def test_its_slice_stops_it_and_the_session_goes_on():
    log = ListLog()
    usage = Usage(input=600)  # 6 cents
    small = Playing(wants(("grep", {"path": "x"}), usage=usage), wants(("grep", {"path": "y"}), usage=usage))
    session = opened(
        Playing(asks("q"), says("ok")), small, *tools(), log=log, limits=Limits(max_session_cost=1.0)
    )
    await run(session, say("go"))
    assert len(small.asked) == 2, "the first step left something of its ten cents, the second did not"
    assert ends(log)[0].outcome == "guardrail-stop"
    assert session.state.ending == ev.TurnCompleted("completed", "end_turn")
    assert not session.halted
    assert session.state.halts.trips == [], "it is not the session that tripped"
    await session.close()


async def test_under_hard_budgets_each_reserves_in_its_own_slice_and_all_of_them_in_the_session():
    """A call of a sibling is set aside in the session, and not in somebody else's slice."""
    log, waiting, both = ListLog(), asyncio.Event(), asyncio.Event()
    reserved: list[float] = []

    async def held(playing: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        if len(playing.asked) == 2:
            reserved.append(session._core.reserve.total)
            both.set()
        await waiting.wait()
        yield says("found", usage=Usage(input=2_000, output=10))

    session = opened(
        Playing(asks("one", "two"), says("ok")),
        Playing(held, held),
        *tools(),
        log=log,
        limits=Limits(reserve=True, max_session_cost=15.0),
    )
    session.send(say("go"))
    await both.wait()
    waiting.set()
    await session.idle()
    assert [end.outcome for end in ends(log)] == ["completed", "completed"]
    assert 1.6 < reserved[0] < 2.4, "two calls of about a dollar at worst, each counted once"
    assert session._core.reserve.held == {}, "none is under way"
    await session.close()


async def test_its_calls_count_against_the_ceiling_of_the_session_and_it_has_a_tenth_of_them():
    log, reader = ListLog(), tools()
    batch = wants(*[("grep", {"path": f"{n}"}) for n in range(2)])
    small = Playing(batch, batch, says("two of four"))
    large = Playing(asks("q"), wants(*[("grep", {"path": f"p{n}"}) for n in range(18)]), says("enough"))
    session = opened(large, small, *reader, log=log, limits=Limits(max_tool_calls=20))
    await run(session, say("go"))
    (end,) = ends(log)
    assert (end.outcome, "its budget of tool-calls was used up" in end.digest) == ("budget-exhausted", True)
    (trip,) = [event for event in of_branches(log)[""] if isinstance(event, ev.GuardrailTrip)]
    assert trip.reason.startswith("tool-call ceiling reached (3/20); 18 more asked for")
    await session.close()


async def test_additive_budgets_come_on_top_of_the_sessions():
    usage = Usage(input=1_000)  # 10 cents, as much as the session may spend
    small = Playing(wants(("grep", {"path": "x"}), usage=usage), says("found", usage=usage))
    session = opened(
        Playing(asks("q"), says("ok")),
        small,
        *tools(),
        limits=Limits(max_session_cost=0.1),
        children=Children("additive", max_cost=0.3),
    )
    await run(session, say("go"))
    assert session.state.ending == ev.TurnCompleted("completed", "end_turn")
    assert not session.halted
    assert session.state.total.cost == pytest.approx(0.2, abs=0.01)
    await session.close()


async def test_with_nothing_left_to_spend_it_is_not_started():
    log = ListLog()
    session = opened(
        Playing(asks("q"), says("ok")), Playing(), *tools(), log=log, limits=Limits(max_tokens=115)
    )
    await run(session, say("go"))
    assert "nothing is left" in ev.as_text(results(log)[0].output)
    assert not session.state.subtasks
    await session.close()


async def test_a_circle_inside_cuts_the_subtask_and_halts_no_session():
    log = ListLog()
    small = Playing(*[wants(("grep", {"path": "x"})) for _ in range(9)])
    session = opened(
        Playing(asks("q"), says("ok")),
        small,
        *tools(),
        log=log,
        signals=signals(),
        fresh_signals=signals,
        watchdog="enforce",
    )
    await run(session, say("go"))
    assert ends(log)[0].outcome == "loop-detected"
    assert len(small.asked) == 5
    (trip,) = [event for event in log.events if isinstance(event, ev.GuardrailTrip)]
    assert (trip.signal, trip.scope) == ("repeated-tool-call", "turn")
    assert trip.then.startswith("The subtask was stopped")
    assert session.state.ending == ev.TurnCompleted("completed", "end_turn")
    assert not session.halted
    await session.close()


# ── death and resume ──


async def test_killed_inside_the_call_becomes_outcome_unknown_and_the_session_goes_on():
    log = ListLog()
    session = opened(Playing(asks("q")), Playing(wants(("grep", {"path": "x"}))), *tools(never), log=log)
    session.send(say("go"))
    await until(
        session,
        lambda event: (
            isinstance(event, ev.Entry) and bool(event.branch) and isinstance(event.event, ev.ToolCallStarted)
        ),
    )
    entries = list(log.read())  # what is on disk when the process is killed here
    await session.close()
    large = Playing(says("on we go"))
    again = opened(large, Playing(), *tools(), log=ListLog(entries=entries))
    assert not again.state.running
    (row,) = again.state.subtasks.values()
    assert row.outcome == "interrupted"
    await run(again, say("and now?"))
    assert "outcome unknown" in str(large.asked[0].messages)
    assert again.state.answer == "on we go"
    await again.close()


async def test_call_ids_stay_different_across_branches():
    log = ListLog()
    same = ev.Finished(
        wants(("grep", {"path": "x"})).parts, Usage(input=5), "small-1", "tool-calls", "tool_use"
    )
    small = Playing(same, says("one"), same, says("two"))
    session = opened(Playing(asks("a"), asks("b"), says("ok")), small, *tools(), log=log)
    await run(session, say("go"))
    ids = [event.call.call_id for event in log.events if isinstance(event, ev.ToolCallProposed)]
    assert len(ids) == len(set(ids)) == 4
    await session.close()


# ── which tools ──


async def test_the_wrappers_stand_only_where_their_inner_tools_do():
    large = Playing(says("ok"))
    session = opened(large, Playing(), FakeTool("read_file"), FakeTool("grep"))
    await run(session, say("go"))
    assert [tool.name for tool in large.asked[0].tools] == [
        "read_file",
        "grep",
        "agentic_read_file",
        "agentic_grep",
    ]
    await session.close()


async def test_its_reduction_is_its_own():
    log = ListLog()
    big = FakeTool("grep", lambda path, say: asyncio.sleep(0, "x" * 30_000))
    steps = [
        wants(("grep", {"path": str(n)}), usage=Usage(input=6_000 * (n + 1), output=100)) for n in range(7)
    ]
    small = Playing(*steps, *[says(f"found {n}") for n in range(4)])
    session = opened(
        Playing(asks("q"), says("ok")),
        small,
        big,
        FakeTool("read_file"),
        log=log,
        summary_prompt="Summarize.",
        judge=allow,
    )
    await run(session, say("go"))
    branches = of_branches(log)
    inner = branches[f"{PARENT}:sub:agentic_grep-1"]
    assert any(isinstance(event, ev.CompactionPerformed) for event in inner)
    assert not any(isinstance(event, ev.CompactionPerformed) for event in branches[""])
    assert ends(log)[0].outcome == "completed"
    await session.close()


async def test_what_a_subtask_does_counts_in_the_turn_that_it_works_for():
    """A bound that each subtask had for itself would be none."""
    log = ListLog()
    large = Playing(wants(("grep", {"path": "a"})), asks("q"), wants(("grep", {"path": "c"})), says("ok"))
    small = Playing(wants(("grep", {"path": "b"})), says("found"))
    session = opened(large, small, *tools(), log=log, armed=Armed(actions=Actions(max_per_turn={"grep": 2})))
    await run(session, say("go"))
    await session.close()
    ran = [
        event.executed for event in log.events if isinstance(event, ev.ToolReturned) and event.tool == "grep"
    ]
    assert ran == [True, True, False]

"""What the operator sets for single tools: time, number of calls, arguments, and that one must be used."""

from __future__ import annotations

import asyncio

from agent_cli.engine.parts import Settings
from agent_cli.engine.tuning import Tuning
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer
from agent_cli.kernel.events import Output, ToolReturned, as_text
from agent_cli.kernel.messages import Text
from agent_cli.permissions.book import judge
from agent_cli.ports import Facts, Say
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import is_fact, open_session, run, say, until
from tests.fakes.tools import FakeTool, never


def results(log: ListLog) -> list[Output]:
    return [entry.event.output for entry in log.read() if isinstance(entry.event, ToolReturned)]


def told(log: ListLog) -> list[str]:
    return [as_text(output) for output in results(log)]


def settings(**tunings: Tuning) -> Settings:
    return Settings(run_status=False, tunings=tunings)


async def _half(path: str, say: Say) -> str:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError as cut:
        cut.args = ("rows 1 to 3",)
        raise
    return path


async def _all_the_same(path: str, say: Say) -> str:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError as cut:
        cut.args = ("written", Output((Text("written"),), changed=(path,)))
        raise
    return path


async def test_a_call_whose_time_is_up_is_a_result_that_keeps_what_it_had():
    log = ListLog()
    session = open_session(
        Playing(wants(("slow", {"path": "a"})), wants(("half", {"path": "b"})), says("done")),
        FakeTool("slow", never), FakeTool("half", _half),
        log=log, settings=settings(slow=Tuning(timeout=0.02), half=Tuning(timeout=0.02)),
    )  # fmt: skip
    await run(session, say("go"))
    await session.close()
    slow, half = told(log)
    assert slow == (
        "slow: timed out after 0.02s — its call was cancelled, anything it returned may be partial"
    )
    assert half == f"{slow.replace('slow', 'half')}: rows 1 to 3"
    assert [output.ok for output in results(log)] == [False, False]
    assert session.state.answer == "done"


async def test_a_result_that_succeeded_all_the_same_is_left_alone():
    log = ListLog()
    session = open_session(
        Playing(wants(("write", {"path": "a"})), says("done")),
        FakeTool("write", _all_the_same, read_only=False),
        log=log, settings=settings(write=Tuning(timeout=0.02)),
    )  # fmt: skip
    await run(session, say("go"))
    await session.close()
    assert results(log) == [Output((Text("written"),), changed=("a",))]


async def test_a_time_limit_of_the_tool_itself_is_not_taken_for_ours():
    async def late(path: str, say: Say) -> str:
        raise TimeoutError("the database")

    log = ListLog()
    session = open_session(
        Playing(wants(("read", {"path": "a"})), says("done")),
        FakeTool("read", late), log=log, settings=settings(read=Tuning(timeout=60)),
    )  # fmt: skip
    await run(session, say("go"))
    await session.close()
    assert "crashed (TimeoutError: the database)" in told(log)[0]


async def test_calls_of_a_turn_are_counted_also_within_a_batch():
    log = ListLog()
    read = FakeTool("read")
    twice = (("read", {"path": "a"}), ("read", {"path": "b"}))
    session = open_session(
        Playing(wants(*twice), wants(("read", {"path": "c"})), says("one"), wants(*twice), says("two")),
        read, log=log, settings=settings(read=Tuning(max_calls=1)),
    )  # fmt: skip
    await run(session, say("go"))
    await run(session, say("again"))
    await session.close()
    assert read.ran == ["a", "a"]
    refused = "not run: `read` may be called 1 times in a turn, and was; go on without it"
    assert told(log).count(refused) == 3


async def test_a_call_that_the_operator_refuses_is_not_counted():
    log = ListLog()
    write = FakeTool("write", read_only=False)
    call: tuple[str, dict[str, object]] = ("write", {"path": "a"})
    session = open_session(
        Playing(wants(call), wants(call), wants(call), says("done")),
        write, log=log, settings=settings(write=Tuning(max_calls=1)), judge=judge,
        facts=Facts("ask", attended=True, roots=(("/p", "rw"),)),
    )  # fmt: skip
    running = asyncio.create_task(run(session, say("go")))
    seen = 0
    for allowed in (False, True):
        asked = (await until(session, is_fact(ev.ApprovalRequested), seen))[-1]
        assert isinstance(asked, ev.Entry)
        assert isinstance(asked.event, ev.ApprovalRequested)
        seen = asked.seq
        session.send(Answer(asked.event.call_id, allowed))
    await running
    await session.close()
    assert write.ran == ["a"]
    assert told(log)[0].startswith("The operator refused this call.")
    assert told(log)[2].startswith("not run: `write` may be called 1 times")


async def test_pinned_arguments_are_hidden_and_win():
    log = ListLog()
    read = FakeTool("read")
    model = Playing(wants(("read", {"path": "mine", "note": "x"})), wants(("read", {})), says("done"))
    session = open_session(model, read, log=log, settings=settings(read=Tuning(args={"path": "theirs"})))
    await run(session, say("go"))
    await session.close()
    assert read.ran == ["theirs", "theirs"]
    (spec,) = model.asked[0].tools
    assert set(spec.schema["properties"]) == {"note"}
    assert spec.schema["required"] == []


async def test_a_required_tool_is_forced_once_and_only_success_satisfies():
    async def fails(path: str, say: Say) -> str:
        if path == "a":
            raise RuntimeError("no")
        return "yes"

    check = FakeTool("check", fails)
    model = Playing(
        wants(("check", {"path": "a"})), says("done too early"), wants(("check", {"path": "b"})), says("done")
    )
    session = open_session(model, check, settings=settings(check=Tuning(required=True)))
    await run(session, say("go"))
    await session.close()
    assert [prompt.tool_choice for prompt in model.asked] == ["auto", "auto", "check", "auto"]
    assert check.ran == ["a", "b"]
    assert isinstance(session.state.ending, ev.TurnCompleted)


async def test_a_required_tool_that_is_not_used_even_when_forced_ends_the_turn():
    model = Playing(says("no"), says("still no"), says("next turn"), says("x"))
    session = open_session(
        model, FakeTool("check"), settings=settings(check=Tuning(required=True), gone=Tuning(required=True))
    )
    await run(session, say("go"))
    assert len(model.asked) == 2
    await run(session, say("go"))
    await session.close()
    assert [prompt.tool_choice for prompt in model.asked] == ["auto", "check", "auto", "check"]

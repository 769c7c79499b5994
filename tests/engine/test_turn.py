"""How a turn goes on, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from agent_cli.context.bounds import bound
from agent_cli.engine.parts import Settings
from agent_cli.guardrails.book import signals
from agent_cli.guardrails.breaker import Breakers
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Interrupt, Reset, SetMode, SetModel
from agent_cli.kernel.errors import (
    AuthFailed,
    ConfigError,
    ConnectionFailed,
    ContextOverflow,
    RateLimited,
    StreamCut,
    ToolError,
)
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text, ToolCall, ToolResult
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.ports import Facts, OpenModel, Proposal, Ruling
from tests.fakes.clock import FakeClock, InstantClock, settle
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, OneModel, Playing, says, wants
from tests.fakes.sessions import ask_writes, is_fact, open_session, run, say, until
from tests.fakes.tools import FakeTool, never


def results(log: ListLog) -> list[ev.ToolReturned]:
    return [event for event in log.events if isinstance(event, ev.ToolReturned)]


def ending(log: ListLog) -> ev.TurnCompleted | ev.TurnError:
    return next(event for event in reversed(log.events) if isinstance(event, ev.TERMINAL))


# ── batches ──


async def test_an_unknown_tool_and_unfit_arguments_are_results_and_the_rest_goes_on():
    log, read = ListLog(), FakeTool("read_file")
    calls = wants(("read_fil", {"path": "a"}), ("read_file", {"pth": "a"}), ("read_file", {"path": "b"}))
    session = open_session(Playing(calls, says("ok")), read, log=log)
    await run(session, say("go"))
    texts = [ev.as_text(result.output) for result in results(log)]
    assert "did you mean 'read_file'" in texts[0]
    assert "did you mean 'path'" in texts[1]
    assert texts[2] == "content of b"
    assert read.ran == ["b"]
    await session.close()


async def test_arguments_that_are_no_object_are_a_result():
    log = ListLog()
    broken = ev.Finished((ToolCall("x", "read", None, '["a"]'),), Usage(), "fake-1", "tool-calls")
    session = open_session(Playing(broken, says("ok")), FakeTool("read"), log=log)
    await run(session, say("go"))
    assert "not a JSON object" in ev.as_text(results(log)[0].output)
    await session.close()


async def test_reads_run_side_by_side_writes_alone_and_results_stand_in_the_order_of_the_calls():
    gates = {name: asyncio.Event() for name in "abc"}
    order: list[str] = []

    async def read(path: str, _: object) -> str:
        await gates[path].wait()
        order.append(path)
        return path

    reader, writer = FakeTool("read", read), FakeTool("write", read_only=False)
    provider = Playing(
        wants(
            ("read", {"path": "a"}),
            ("read", {"path": "b"}),
            ("write", {"path": "w"}),
            ("read", {"path": "c"}),
        ),
        says("ok"),
    )
    session = open_session(provider, reader, writer)
    session.send(say("go"))
    await settle()
    assert (reader.running, writer.ran) == (2, [])
    gates["b"].set()
    await settle()
    gates["a"].set()
    gates["c"].set()
    await session.idle()
    assert order == ["b", "a", "c"]
    told = [part.content for part in provider.asked[1].messages[-1].parts if isinstance(part, ToolResult)]
    assert told[0] == (Text("a"),)
    assert told[1] == (Text("b"),)
    assert told[3] == (Text("c"),)
    await session.close()


async def test_no_more_reads_run_at_once_than_the_setting_says():
    reader = FakeTool("read", lambda path, _: asyncio.sleep(0, path))
    calls = wants(*[("read", {"path": str(n)}) for n in range(7)])
    session = open_session(
        Playing(calls, says("ok")), reader, settings=Settings(run_status=False, concurrency=3)
    )
    await run(session, say("go"))
    assert reader.most_running == 3
    assert len(reader.ran) == 7
    await session.close()


async def test_a_tool_that_fails_or_crashes_returns_an_error_and_the_turn_goes_on():
    async def fail(path: str, _: object) -> str:
        if path == "a":
            raise ToolError("no such file: a")
        raise ValueError("bug")

    log = ListLog()
    calls = wants(("read", {"path": "a"}), ("read", {"path": "b"}))
    session = open_session(Playing(calls, says("ok")), FakeTool("read", fail), log=log)
    await run(session, say("go"))
    first, second = results(log)
    assert ev.as_text(first.output) == "no such file: a"
    assert "crashed (ValueError: bug)" in ev.as_text(second.output)
    assert ending(log).outcome == "completed"
    await session.close()


async def test_a_large_result_is_bounded_and_a_bounded_tool_is_left_alone():
    async def large(path: str, _: object) -> str:
        return "é" * 50_000

    log = ListLog()
    tools = FakeTool("read", large), FakeTool("page", large, bounded=True)
    calls = wants(("read", {"path": "a"}), ("page", {"path": "a"}))
    session = open_session(Playing(calls, says("ok")), *tools, log=log)
    await run(session, say("go"))
    cut, whole = (ev.as_text(result.output) for result in results(log))
    assert len(cut.encode()) < 33_000
    assert "left out here" in cut
    assert whole == "é" * 50_000
    await session.close()


def test_a_result_within_the_bound_is_the_same_object():
    output = ev.Output((Text("short"),))
    assert bound(output) is output


async def test_a_call_id_that_was_used_before_gets_a_new_one():
    same = ev.Finished((ToolCall("x", "read", {"path": "a"}),), Usage(), "fake-1", "tool-calls")
    log, provider = ListLog(), Playing(same, same, says("ok"))
    session = open_session(provider, FakeTool("read"), log=log)
    await run(session, say("go"))
    ids = [result.call_id for result in results(log)]
    assert len(set(ids)) == 2
    assert sum(isinstance(part, ToolResult) for m in provider.asked[-1].messages for part in m.parts) == 2
    await session.close()


# ── requests ──


async def test_a_failed_request_is_sent_again_and_its_text_withdrawn():
    async def cut(_: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        yield ev.UsageSoFar(Usage(input=50))
        yield ev.TextDelta("half an ans")
        raise StreamCut("gone")

    log, clock = ListLog(), InstantClock()
    provider = Playing(cut, RateLimited("slow", retry_after=7.0), says("whole"))
    session = open_session(provider, log=log, clock=clock)
    await run(session, say("go"))
    retries = [event for event in log.events if isinstance(event, ev.Retry)]
    assert [retry.error_kind for retry in retries] == ["stream-cut", "rate-limit"]
    assert 0.25 <= clock.slept[0] <= 0.5
    assert sum(clock.slept[1:]) == pytest.approx(7.0)
    assert clock.slept[1:8] == pytest.approx([1.0] * 7), "told every second"
    assert len(provider.asked) == 3
    assert session.state.answer == "whole"
    assert session.state.total.usage == Usage(input=150, output=13), "the failed attempt was paid too"
    assert provider.asked[2].messages == provider.asked[0].messages
    await session.close()


async def test_three_failures_are_three_requests_two_retries_and_exit_75():
    log, provider = ListLog(), Playing(*[ConnectionFailed("down")] * 4)
    session = open_session(provider, log=log)
    await run(session, say("go"))
    assert len(provider.asked) == 3
    assert log.kinds.count("retry") == 2
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert (end.error_kind, end.exit_code) == ("provider", 75)
    await session.close()


@pytest.mark.parametrize(
    ("problem", "kind", "outcome"),
    [
        (AuthFailed("401"), "error", "error"),
        (ContextOverflow("too long"), "overflow", "context-overflow"),
    ],
)
async def test_what_cannot_be_mended_is_not_sent_again(problem: Exception, kind: str, outcome: str):
    log, provider = ListLog(), Playing(problem, says("never"))
    session = open_session(provider, log=log)
    await run(session, say("go"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert (len(provider.asked), end.error_kind, end.outcome, end.exit_code) == (1, kind, outcome, 1)
    await session.close()


async def test_when_the_attempts_are_used_up_the_fallback_model_goes_on_with_the_same_conversation():
    async def cut(_: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        yield ev.TextDelta("half")
        raise ConnectionFailed("down")

    log, provider = ListLog(), Playing(cut, ConnectionFailed("down"), cut, says("saved"))
    models = OneModel(provider, CARD, ModelCard("fake-2", "fake"))
    session = open_session(
        provider,
        log=log,
        models=models,
        model=models.open("fake-1"),
        fallbacks=("fake-0", "fake-1", "fake-2"),
    )
    await run(session, say("go"))
    assert [prompt.model for prompt in provider.asked] == ["fake-1"] * 3 + ["fake-2"]
    assert [e.model for e in log.events if isinstance(e, ev.ModelSwitched)] == ["fake-2"]
    assert not any(isinstance(e, ev.AssistantMessage) and e.partial for e in log.events)
    assert (session.state.answer, ending(log).outcome) == ("saved", "completed")
    await session.close()


async def test_a_refusal_of_the_request_never_falls_back():
    provider = Playing(AuthFailed("401"))
    models = OneModel(provider, CARD, ModelCard("fake-2", "fake"))
    session = open_session(provider, models=models, model=models.open("fake-1"), fallbacks=("fake-2",))
    await run(session, say("go"))
    assert len(provider.asked) == 1
    await session.close()


async def test_an_open_breaker_answers_at_once_and_names_itself():
    clock, breakers = FakeClock(), Breakers(threshold=1)
    provider = Playing(ConnectionFailed("down"), says("back"))
    settings = Settings(run_status=False, attempts=1)
    log = ListLog()
    session = open_session(provider, log=log, clock=clock, breakers=breakers, settings=settings)
    await run(session, say("one"))
    await run(session, say("two"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert "not asked now" in end.message
    assert (end.exit_code, len(provider.asked)) == (75, 1)
    await clock.advance(30)
    await run(session, say("three"))
    assert session.state.answer == "back"
    assert breakers.of("fake").standing() == "closed"
    await session.close()


async def test_an_interrupted_probe_leaves_the_breaker_to_the_next_caller():
    clock, breakers = FakeClock(), Breakers(threshold=1)
    provider = Playing(ConnectionFailed("down"), says("slow"), says("back"))
    session = open_session(
        provider, clock=clock, breakers=breakers, settings=Settings(run_status=False, attempts=1)
    )
    await run(session, say("one"))
    await clock.advance(30)
    provider.hold = asyncio.Event()
    session.send(say("two"))
    await settle()
    assert breakers.of("fake").standing() == "probing"
    session.send(Interrupt())
    await session.idle()
    provider.hold = None
    await run(session, say("three"))
    assert session.state.answer == "back"
    await session.close()


async def test_an_empty_answer_is_asked_for_once_more():
    log, provider = ListLog(), Playing(says(""), says("now"))
    session = open_session(provider, log=log)
    await run(session, say("go"))
    assert (session.state.answer, ending(log).outcome) == ("now", "completed")
    await session.close()


async def test_a_refusal_without_text_is_not_asked_for_again():
    log = ListLog()
    provider = Playing(ev.Finished((), Usage(), "fake-1", "refusal", "refusal"))
    session = open_session(provider, log=log)
    await run(session, say("go"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert "refusal" in end.message
    await session.close()


async def test_an_answer_cut_in_its_text_is_continued_once():
    def cut(text: str) -> ev.Finished:
        return ev.Finished((Text(text),), Usage(), "fake-1", "length", "max_tokens")

    log, provider = ListLog(), Playing(cut("one, "), cut("two, "))
    session = open_session(provider, log=log)
    await run(session, say("count"))
    assert session.state.answer == "one, two, "
    assert [m.role for m in provider.asked[1].messages] == ["user", "assistant", "user"]
    assert (len(provider.asked), ending(log).outcome) == (2, "completed")
    await session.close()


@pytest.mark.parametrize("reason", ["pause", "other"])
async def test_an_answer_that_broke_off_is_continued(reason: ev.FinishReason):
    log = ListLog()
    provider = Playing(
        ev.Finished((Text("I will call"),), Usage(), "fake-1", reason, "MALFORMED"), says("done")
    )
    session = open_session(provider, log=log)
    await run(session, say("go"))
    assert (len(provider.asked), session.state.answer) == (2, "I will call\n\ndone")
    await session.close()


async def test_cut_arguments_run_only_where_they_change_nothing():
    parts = (
        ToolCall("a", "read", None, '{"path": "x'),
        ToolCall("b", "write", None, '{"path": "y", "note": "hal'),
    )
    log, read, write = ListLog(), FakeTool("read"), FakeTool("write", read_only=False)
    provider = Playing(ev.Finished(parts, Usage(), "fake-1", "length", "max_tokens"), says("ok"))
    session = open_session(provider, read, write, log=log)
    await run(session, say("go"))
    assert (read.ran, write.ran) == (["x"], [])
    told = {result.tool: ev.as_text(result.output) for result in results(log)}
    assert "cut off by the output limit" in told["write"]
    await session.close()


async def test_arguments_wrapped_in_prose_are_mended_and_run():
    parts = (ToolCall("b", "write", None, 'Sure: {"path": "y",}'),)
    write = FakeTool("write", read_only=False)
    session = open_session(Playing(ev.Finished(parts, Usage(), "fake-1", "tool-calls"), says("ok")), write)
    await run(session, say("go"))
    assert write.ran == ["y"]
    await session.close()


# ── interrupts, steering, switches ──


async def test_an_interrupt_in_mid_stream_keeps_the_text_and_the_session_goes_on():
    provider = Playing(says("a long answer"), says("second"))
    provider.hold = asyncio.Event()
    log = ListLog()
    session = open_session(provider, log=log)
    session.send(say("go"))
    await settle()
    session.send(Interrupt())
    await session.idle()
    provider.hold = None
    partial = next(event for event in log.events if isinstance(event, ev.AssistantMessage))
    assert partial.partial
    assert partial.parts == (Text("a long answer "),)
    assert ending(log).exit_code == 130
    assert provider.aborted == 1
    await run(session, say("go on"))
    assert [m.role for m in provider.asked[1].messages] == ["user", "assistant", "user"]
    await session.close()


@pytest.mark.parametrize("how", ["interrupt", "close"])
async def test_a_stop_right_behind_a_message_ends_the_turn_once(how: str):
    log, provider = ListLog(), Playing(says("never"))
    provider.hold = asyncio.Event()
    session = open_session(provider, log=log)
    session.send(say("go"))
    if how == "interrupt":
        session.send(Interrupt())
        await asyncio.wait_for(session.idle(), 5)
    await asyncio.wait_for(session.close(), 5)
    assert [event.exit_code for event in log.events if isinstance(event, ev.TERMINAL)] == [130]


async def test_an_interrupt_cancels_running_tools_and_settles_the_rest():
    log, reader = ListLog(), FakeTool("read", never)
    writer = FakeTool("write", read_only=False)
    calls = wants(("read", {"path": "a"}), ("read", {"path": "b"}), ("write", {"path": "c"}))
    session = open_session(Playing(calls, says("fine")), reader, writer, log=log)
    session.send(say("go"))
    await until(session, is_fact(ev.ToolCallStarted))
    await settle()
    session.send(Interrupt())
    await session.idle()
    assert [result.executed for result in results(log)] == [True, True, False]
    assert (reader.running, writer.ran) == (0, [])
    await run(session, say("on"))
    assert session.state.answer == "fine"
    await session.close()


async def test_a_message_typed_while_the_turn_runs_is_delivered_before_the_next_request():
    gate = asyncio.Event()

    async def wait(path: str, _: object) -> str:
        await gate.wait()
        return path

    provider = Playing(wants(("read", {"path": "a"})), says("ok"), says("later"))
    session = open_session(provider, FakeTool("read", wait))
    session.send(say("go"))
    await settle()
    session.send(say("look at b too"))
    session.send(say("and then this", when="after"))
    assert len(session.state.queued) == 2
    gate.set()
    await session.idle()
    assert provider.asked[1].messages[-1].parts[-1] == Text("look at b too")
    assert provider.asked[2].messages[-1].parts[-1] == Text("and then this")
    assert (session.state.turn, session.state.queued) == (2, ())
    await session.close()


async def test_a_message_that_comes_with_the_last_answer_keeps_the_turn_going():
    async def answer(_: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        session.send(say("one more thing"))
        yield says("first")

    provider = Playing(answer, says("second"))
    session = open_session(provider)
    await run(session, say("go"))
    assert (session.state.turn, session.state.answer) == (1, "second")
    await session.close()


class AnyName(OneModel):
    """Says yes to every name, as the provider does that only plays a script."""

    def open(self, name: str, /) -> OpenModel:
        return OpenModel(self.provider, CARD)


async def test_a_name_that_stands_for_the_model_in_use_switches_nothing_and_says_so():
    log = ListLog()
    models = AnyName(Playing())
    session = open_session(models.provider, log=log, models=models, model=models.open("fake-1"))
    session.send(SetModel("nosuch"))
    assert not any(isinstance(event, ev.ModelSwitched) for event in log.events)
    (note,) = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert note == "nosuch is fake/fake-1 here, which is in use: nothing was changed"
    await session.close()


async def test_a_switch_of_model_and_mode_is_a_fact_and_an_unknown_model_changes_nothing():
    provider, log = Playing(says("a"), says("b")), ListLog()
    other = ModelCard("fake-2", "fake")
    models = OneModel(provider, CARD, other)
    session = open_session(provider, log=log, models=models, model=models.open("fake-1"))
    await run(session, say("go"))
    session.send(SetModel("fake-9"))
    session.send(SetModel("fake-2"))
    session.send(SetMode("yolo"))
    await run(session, say("go"))
    assert [p.model for p in provider.asked] == ["fake-1", "fake-2"]
    assert any(isinstance(e, ev.OperatorNote) and "fake-9" in e.text for e in log.events)
    assert session.state.mode == "yolo"
    assert session.state.total.unpriced
    await session.close()
    again = open_session(Playing(), log=ListLog(entries=list(log.read())))
    assert again.state.mode == "yolo"
    await again.close()


async def test_a_session_resumed_with_another_model_says_so_once():
    log = ListLog()
    session = open_session(Playing(says("a")), log=log)
    await run(session, say("go"))
    await session.close()
    provider = Playing(says("b"))
    models = OneModel(provider, ModelCard("fake-2", "fake"))
    resumed = ListLog(entries=list(log.read()))
    again = open_session(provider, log=resumed, models=models, model=models.open("fake-2"))
    await run(again, say("more"))
    assert [e.model for e in resumed.events if isinstance(e, ev.ModelSwitched)] == ["fake-2"]
    assert provider.asked[0].messages[0].parts == (Text("go"),)
    await again.close()


# ── ceilings ──


async def test_used_up_steps_land_softly_with_one_answer_without_tools():
    log = ListLog()
    provider = Playing(
        wants(("read", {"path": "a"})), wants(("read", {"path": "b"})), says("as far as I got")
    )
    session = open_session(provider, FakeTool("read"), log=log, limits=Limits(max_steps=2))
    await run(session, say("go"))
    end = ending(log)
    assert isinstance(end, ev.TurnCompleted)
    assert (end.outcome, end.exhausted, end.exit_code) == ("budget-exhausted", "steps", 0)
    assert [prompt.tool_choice for prompt in provider.asked] == ["auto", "auto", "none"]
    assert log.kinds.count("budget-warning") == 1
    await session.close()


async def test_a_tool_call_in_the_grace_step_is_never_run_and_ends_the_turn():
    log, tool = ListLog(), FakeTool("read")
    provider = Playing(wants(("read", {"path": "a"})), wants(("read", {"path": "b"})))
    session = open_session(provider, tool, log=log, limits=Limits(max_steps=1))
    await run(session, say("go"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert (end.outcome, end.exhausted, end.exit_code) == ("budget-exhausted", "steps", 1)
    assert tool.ran == ["a"]
    assert not results(log)[-1].executed
    await session.close()


async def test_a_batch_over_the_tool_call_ceiling_is_settled_whole_without_running():
    log, tool = ListLog(), FakeTool("read")
    provider = Playing(
        wants(("read", {"path": "a"}), ("read", {"path": "b"})),
        wants(("read", {"path": "c"}), ("read", {"path": "d"})),
        says("enough"),
    )
    session = open_session(provider, tool, log=log, limits=Limits(max_tool_calls=3))
    await run(session, say("go"))
    assert sorted(tool.ran) == ["a", "b"]
    assert session.state.turn_calls == 2
    assert [e.reason for e in log.events if isinstance(e, ev.GuardrailTrip)] == [
        "tool-call ceiling reached (2/3); 2 more asked for at once, none of them ran"
    ]
    assert ending(log).exhausted == "tool-calls"
    await session.close()


async def test_on_exhaustion_fail_stops_without_a_grace_step():
    log, provider = ListLog(), Playing(wants(("read", {"path": "a"})))
    session = open_session(
        provider, FakeTool("read"), log=log, limits=Limits(max_steps=1, on_exhaustion="fail")
    )
    await run(session, say("go"))
    assert (len(provider.asked), ending(log).exit_code) == (1, 1)
    await session.close()


async def test_a_session_over_its_cost_ceiling_refuses_turns_until_more_is_granted():
    log = ListLog()
    provider = Playing(says("dear"), says("again"))
    session = open_session(provider, log=log, limits=Limits(max_session_cost=0.0001))
    await run(session, say("go"))
    first = ending(log)
    assert (first.outcome, first.exhausted, first.exit_code) == ("guardrail-stop", "cost", 1)
    await run(session, say("and?", "now"))
    assert (ending(log).outcome, ending(log).exit_code, len(provider.asked)) == ("halted", 3, 1)
    session.send(Reset("cost_ceiling", 5.0))
    await run(session, say("and now?"))
    assert session.state.answer == "again"
    await session.close()


async def test_the_wall_clock_is_one_deadline_over_retries():
    clock, log = FakeClock(), ListLog()
    provider = Playing(*[ConnectionFailed("down")] * 3)
    settings = Settings(run_status=False, first_delay=30.0)
    session = open_session(
        provider, log=log, clock=clock, settings=settings, limits=Limits(max_duration=40.0)
    )
    session.send(say("go"))
    await settle()
    await clock.advance(31)
    assert len(provider.asked) == 2
    await clock.advance(10)
    await session.idle()
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert (end.outcome, end.exhausted, end.exit_code) == ("budget-exhausted", "duration", 1)
    trip = next(event for event in log.events if isinstance(event, ev.GuardrailTrip))
    assert (trip.guardrail, trip.signal, trip.halted_turn) == ("duration_ceiling", "duration", True)
    await session.close()


async def test_the_window_is_never_overfilled_knowingly():
    log = ListLog()
    provider = Playing(says("full", usage=Usage(input=96_000, output=10)))
    session = open_session(provider, log=log)
    await run(session, say("go"))
    await run(session, say("more"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert (end.outcome, len(provider.asked)) == ("context-overflow", 1)
    await session.close()


async def test_the_asked_output_never_exceeds_what_the_window_leaves():
    provider = Playing(says("a", usage=Usage(input=93_000, output=1_000)), says("b"))
    session = open_session(provider)
    await run(session, say("go"))
    await run(session, say("more"))
    assert provider.asked[0].max_output is None
    asked = provider.asked[1].max_output
    assert asked is not None
    assert asked <= 6_000
    await session.close()


# ── the watchdog ──


def looping() -> Playing:
    return Playing(*[wants(("read", {"path": "a"})) for _ in range(9)])


async def test_under_enforce_the_fifth_equal_call_is_cut_before_it_runs():
    log, tool = ListLog(), FakeTool("read")
    session = open_session(looping(), tool, log=log, signals=signals(), watchdog="enforce")
    await run(session, say("go"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert (end.outcome, end.exit_code, len(tool.ran)) == ("loop-detected", 1, 4)
    assert log.kinds.count("guardrail-trip") == 1
    await run(session, say("again", "now"))
    assert ending(log).exit_code == 3
    reopened = open_session(
        Playing(), log=ListLog(entries=list(log.read())), signals=signals(), watchdog="enforce"
    )
    assert "watchdog" in reopened.halted
    lenient = open_session(
        Playing(), log=ListLog(entries=list(log.read())), signals=signals(), watchdog="warn"
    )
    assert lenient.halted == ""
    session.send(Reset("watchdog"))
    assert session.halted == ""
    for opened in (session, reopened, lenient):
        await opened.close()


async def test_under_warn_it_is_told_and_not_cut():
    log, tool = ListLog(), FakeTool("read")
    provider = Playing(*[wants(("read", {"path": "a"})) for _ in range(6)], says("ok"))
    session = open_session(provider, tool, log=log, signals=signals(), watchdog="warn")
    await run(session, say("go"))
    told = [event.check for event in log.events if isinstance(event, ev.GuardrailFinding)]
    assert (len(tool.ran), told) == (6, ["repeated-tool-call", "stuck-interaction"])
    assert ending(log).outcome == "completed"
    await session.close()


async def test_different_results_are_not_a_loop():
    count = iter(range(100))

    async def changing(path: str, _: object) -> str:
        return f"line {next(count)}"

    log = ListLog()
    provider = Playing(*[wants(("read", {"path": "./a"})) for _ in range(8)], says("ok"))
    session = open_session(
        provider, FakeTool("read", changing), log=log, signals=signals(), watchdog="enforce"
    )
    await run(session, say("go"))
    assert ending(log).outcome == "completed"
    await session.close()


async def test_under_feedback_the_model_is_told_at_its_next_turn():
    provider = Playing(*[wants(("read", {"path": "a"})) for _ in range(6)], says("ok"), says("next"))
    session = open_session(provider, FakeTool("read"), signals=signals(), watchdog="feedback")
    await run(session, say("go"))
    await run(session, say("and?"))
    told = provider.asked[-1].messages[-1].parts[-1]
    assert isinstance(told, Text)
    assert told.text.startswith("[watchdog]")
    assert "repeated-tool-call" in told.text
    await session.close()


async def test_a_message_to_a_halted_session_waits_and_drives_the_first_turn_after_the_reset():
    provider = Playing(says("dear"), says("again"), says("third"))
    session = open_session(provider, limits=Limits(max_session_cost=0.0001))
    await run(session, say("go"))
    await run(session, say("waits"))
    await run(session, say("waits too"))
    assert len(provider.asked) == 1
    assert len(session.state.queued) == 2
    session.send(Reset("cost_ceiling", 5.0))
    await session.idle()
    assert session.state.queued == ()
    said = [part.text for m in provider.asked[-1].messages for part in m.parts if isinstance(part, Text)]
    assert said.index("waits") < said.index("waits too")
    await session.close()


async def test_an_approval_that_holds_once_grants_nothing():
    def control(proposal: Proposal, facts: Facts) -> Ruling:
        return Ruling("ask", "control-plane", "it decides", once_only=True)

    remembered: list[str] = []
    log, tool = ListLog(), FakeTool("write", read_only=False)
    provider = Playing(wants(("write", {"path": "a"})), says("ok"))
    session = open_session(
        provider, tool, log=log, judge=control, remember=lambda rule, _: remembered.append(rule)
    )
    session.send(say("go"))
    asked = (await until(session, is_fact(ev.ApprovalRequested)))[-1]
    assert isinstance(asked, ev.Entry)
    assert isinstance(asked.event, ev.ApprovalRequested)
    assert (asked.event.once_only, asked.event.suggestion) == (True, "")
    session.send(Answer(asked.event.call_id, allowed=True, scope="always"))
    await session.idle()
    assert (tool.ran, remembered, session.state.grants) == (["a"], [], ())
    await session.close()


async def test_an_always_that_cannot_be_written_ends_no_turn_and_holds_for_the_session():
    def broken(rule: str, verdict: str) -> None:
        raise ConfigError("the config cannot be written")

    log, tool = ListLog(), FakeTool("write", read_only=False)
    provider = Playing(wants(("write", {"path": "a"})), wants(("write", {"path": "b"})), says("ok"))
    session = open_session(provider, tool, log=log, judge=ask_writes, remember=broken)
    session.send(say("go"))
    asked = (await until(session, is_fact(ev.ApprovalRequested)))[-1]
    session.send(Answer(asked.event.call_id, allowed=True, scope="always"))
    await session.idle()
    assert tool.ran == ["a", "b"]
    assert ev.OperatorNote("the config cannot be written", "error") in log.events
    assert isinstance(log.events[-1], ev.TurnCompleted)
    await session.close()


async def test_a_grant_answers_the_waiting_calls_that_it_covers_whichever_was_answered():
    def judge(proposal: Proposal, facts: Facts) -> Ruling:
        return Ruling("allow" if facts.grants else "ask", "test", "")

    tool = FakeTool("write", read_only=False)
    calls = wants(*[("write", {"path": str(n)}) for n in range(5)])
    session = open_session(Playing(calls, says("ok")), tool, judge=judge)
    session.send(say("go"))
    await settle()
    last = list(session.state.pending)[-1]
    session.send(Answer(last, allowed=True, scope="tool"))
    await asyncio.wait_for(session.idle(), 5)
    assert tool.ran == ["0", "1", "2", "3", "4"]
    await session.close()


async def test_a_result_that_is_too_long_is_kept_whole_and_log_view_and_replay_say_where():
    async def large(path: str, _: object) -> str:
        return "start " + "x" * 90_000 + " end"

    kept: dict[str, str] = {}

    def spill(call_id: str, text: str) -> str:
        kept[call_id] = text
        return f"/s/{call_id}.txt"

    log = ListLog()
    provider = Playing(wants(("bash", {"path": "a"})), says("ok"), says("again"))
    tools = FakeTool("bash", large), FakeTool("retrieve_output", bounded=True)
    session = open_session(provider, *tools, log=log, spill=spill)
    await run(session, say("go"))
    ((call_id, whole),) = kept.items()
    assert whole == "start " + "x" * 90_000 + " end"
    (logged,) = results(log)
    told = ev.as_text(logged.output)
    assert (
        f'all of it is in /s/{call_id}.txt; go on with retrieve_output(id="{call_id}", offset=16000)' in told
    )
    assert told.startswith("start ")
    assert told.endswith(" end")
    await session.close()
    again = open_session(provider, *tools, log=ListLog(entries=list(log.read())), spill=spill)
    await run(again, say("and?"))
    for prompt in provider.asked[1:]:
        assert told in [
            ev.as_text(ev.Output(p.content))
            for m in prompt.messages
            for p in m.parts
            if isinstance(p, ToolResult)
        ]
    assert len(kept) == 1
    await again.close()


async def test_where_nothing_can_be_kept_the_call_is_as_good_as_ever():
    async def large(path: str, _: object) -> str:
        return "x" * 90_000

    log = ListLog()
    session = open_session(
        Playing(wants(("bash", {"path": "a"})), says("ok")),
        FakeTool("bash", large),
        log=log,
        spill=lambda i, t: "",
    )
    await run(session, say("go"))
    (logged,) = results(log)
    assert logged.output.ok
    assert "bytes left out here …]" in ev.as_text(logged.output)
    await session.close()


async def test_all_results_of_one_step_have_a_bound_together():
    async def page(path: str, _: object) -> str:
        return "x" * 95_000

    log = ListLog()
    calls = wants(*(("page", {"path": str(n)}) for n in range(6)))
    session = open_session(
        Playing(calls, says("ok")), FakeTool("page", page, bounded=True), log=log,
        model=OneModel(Playing(), ModelCard("fake-1", "fake", window=1_000_000)).open("fake-1")._replace(
            provider=Playing(calls, says("ok"))
        ),
    )  # fmt: skip
    await run(session, say("go"))
    sizes = [len(ev.as_text(result.output).encode()) for result in results(log)]
    assert len(sizes) == 6
    assert sum(sizes) < 206_000
    assert min(sizes) >= 1_000
    await session.close()


async def test_what_waits_survives_an_interrupt_and_goes_out_before_the_next_message():
    provider = Playing(says("long"), says("one"), says("two"), says("three"))
    provider.hold = asyncio.Event()
    session = open_session(provider)
    session.send(say("go"))
    await settle()
    session.send(say("first", when="after"))
    session.send(say("second", when="after"))
    session.send(Interrupt())
    await session.idle()
    assert (len(provider.asked), len(session.state.queued)) == (1, 2)
    provider.hold = None
    await run(session, say("third"))
    said = [prompt.messages[-1].parts[-1] for prompt in provider.asked[1:]]
    assert said == [Text("first"), Text("second"), Text("third")]
    await session.close()


async def test_every_model_that_was_used_is_closed_with_the_session():
    first, second = Playing(says("a")), Playing(says("b"))

    class Two:
        def open(self, name: str, /) -> OpenModel:
            return OpenModel(second, ModelCard("fake-2", "fake"))

    session = open_session(first, models=Two())
    await run(session, say("go"))
    session.send(SetModel("fake-2"))
    await run(session, say("go"))
    await session.close()
    assert (first.closed, second.closed) == (True, True)


async def test_who_listens_to_a_closed_session_gets_what_was_and_is_not_left_waiting():
    session = open_session(Playing(says("ok")))
    await run(session, say("go"))
    await session.close()
    kinds = [type(event.event).__name__ async for event in session.events() if isinstance(event, ev.Entry)]
    assert kinds[-1] == "SessionEnded"

"""What counts as an answer: answers that were refused, filtered, cut off, or that go on in the next one."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.wire import Arguments
from tests.fakes.log import ListLog
from tests.fakes.models import OneModel, Playing, says, wants
from tests.fakes.prompts import accepted
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

HALF = "Half an answ"


class MaybePath(Arguments, frozen=True):
    path: str = "all"


class Bare(FakeTool):
    """Needs no argument."""

    arguments = MaybePath


def ended(text: str, reason: ev.FinishReason, native: str = "", *calls: ToolCall) -> ev.Finished:
    parts = ((Text(text),) if text else ()) + calls
    return ev.Finished(parts, Usage(input=100, output=10), "fake-1", reason, native)


def ending(log: ListLog) -> ev.TurnCompleted | ev.TurnError:
    return next(event for event in reversed(log.events) if isinstance(event, ev.TERMINAL))


@pytest.mark.parametrize("text", [HALF, ""])
@pytest.mark.parametrize(
    ("reason", "native", "kind", "told"),
    [
        ("refusal", "stop", "refusal", "the model refused to answer (finish reason: refusal)"),
        (
            "refusal",
            "refusal (cyber)",
            "refusal",
            "the model refused to answer (finish reason: refusal (cyber))",
        ),
        (
            "safety",
            "content_filter",
            "content-filter",
            "a content filter of the model's service stopped the answer",
        ),
        ("safety", "SAFETY", "content-filter", "(finish reason: SAFETY)"),
    ],
)
async def test_what_was_refused_or_filtered_is_no_answer(
    text: str, reason: ev.FinishReason, native: str, kind: str, told: str
):
    log, provider = ListLog(), Playing(ended(text, reason, native), says("well"))
    session = open_session(provider, log=log)
    await run(session, say("go"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert (end.error_kind, end.outcome, end.exit_code) == (kind, "error", 1)
    assert told in end.message
    assert ("no whole answer" if text else "no answer") in end.message
    assert "/rewind" in end.message, "what to do"
    await run(session, say("something else"))
    assert session.state.answer == "well"
    accepted(provider.asked)
    await session.close()


async def test_calls_of_an_answer_that_was_filtered_do_not_run():
    log, tool = ListLog(), FakeTool("read")
    provider = Playing(ended("I", "safety", "SAFETY", ToolCall("c1", "read", {"path": "a"})), says("well"))
    session = open_session(provider, tool, log=log)
    await run(session, say("go"))
    assert tool.ran == []
    (result,) = [event for event in log.events if isinstance(event, ev.ToolReturned)]
    assert not result.executed
    assert ending(log).exit_code == 1
    await run(session, say("and now"))
    accepted(provider.asked)
    await session.close()


def grown(count: int) -> list[ev.Finished]:
    return [wants(("read", {"path": f"f{n}"}), usage=Usage(input=1_000 * n, output=20)) for n in range(count)]


async def large(path: str, _: object) -> str:
    return f"{path}: " + "x" * 12_000


async def test_an_answer_that_fills_the_window_is_asked_for_once_more_with_a_shorter_conversation():
    log = ListLog()
    card = ModelCard("fake-1", "fake", window=60_000, max_output=1_000)
    full = ended(HALF, "context", "model_context_window_exceeded")
    provider = Playing(*grown(4), full, says("the summary"), says("A whole answer."))
    models = OneModel(provider, card)
    session = open_session(
        provider,
        FakeTool("read", large),
        log=log,
        models=models,
        model=models.open("fake-1"),
        summary_prompt="S",
    )
    await run(session, say("go"))
    assert session.state.answer == "A whole answer."
    assert ending(log).exit_code == 0
    kinds = log.kinds
    assert kinds.index("compaction-performed") < kinds.index("retry"), (
        "what was shown of the first is withdrawn"
    )
    said = [event for event in log.events if isinstance(event, ev.AssistantMessage)]
    assert HALF not in str(said)
    notes = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert any("filled the context window before its end" in note for note in notes)
    assert sum(isinstance(event, ev.UsageReported) and event.purpose == "step" for event in log.events) == 6
    accepted(provider.asked)
    await session.close()


async def test_an_answer_that_fills_the_window_twice_is_an_overflow_that_keeps_what_was_said():
    log = ListLog()
    full = ended(HALF, "context", "model_context_window_exceeded")
    provider = Playing(*grown(4), full, says("the summary"), full, says("on"))
    session = open_session(provider, FakeTool("read", large), log=log, summary_prompt="S")
    await run(session, say("go"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert (end.error_kind, end.outcome, end.exit_code) == ("overflow", "context-overflow", 1)
    assert "model_context_window_exceeded" in end.message
    (kept,) = [event for event in log.events if isinstance(event, ev.AssistantMessage) and event.partial]
    assert kept.parts[0].text.strip() == HALF
    await run(session, say("and now"))
    assert session.state.answer == "on"
    await session.close()


@pytest.mark.parametrize("reason", ["length", "pause", "other"])
async def test_a_text_that_goes_on_in_the_next_answer_is_one_answer(reason: ev.FinishReason):
    log, provider = ListLog(), Playing(ended("FIRST PART. ", reason), says("SECOND PART."))
    session = open_session(provider, log=log)
    await run(session, say("go"))
    between = " " if reason == "length" else "\n\n"
    assert session.state.answer == f"FIRST PART.{between}SECOND PART."
    await session.close()


async def test_what_stood_before_a_call_that_was_cut_is_none_of_the_answer():
    call = ToolCall("c1", "read", {"path": "a"})
    provider = Playing(ended("W.", "length", "max_tokens", call), says("Rest."))
    session = open_session(provider, FakeTool("read"))
    await run(session, say("go"))
    assert session.state.answer == "Rest."
    await session.close()


async def test_each_answer_that_is_cut_is_continued_once():
    cut = [ended(text, "length", "max_tokens") for text in ("a1 ", "b1 ", "b2")]
    log = ListLog()
    provider = Playing(cut[0], wants(("read", {"path": "a"}), text="a2"), cut[1], cut[2])
    session = open_session(provider, FakeTool("read"), log=log)
    await run(session, say("go"))
    assert session.state.answer == "b1 b2", "b was continued although a had been, and not twice"
    assert next(event.text for event in log.events if isinstance(event, ev.OperatorNote)).startswith(
        "the answer was cut"
    )
    await session.close()


async def test_more_text_than_the_window_takes_is_said_where_a_stream_breaks_off_too():
    """An overflow in the middle of a stream: nothing of it stays in front of what is said the second time."""

    async def broken(playing: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        yield ev.TextDelta(HALF)
        yield ended(HALF, "context", "context")

    log = ListLog()
    session = open_session(Playing(broken), log=log)
    await run(session, say("go"))
    end = ending(log)
    assert isinstance(end, ev.TurnError)
    assert end.outcome == "context-overflow"
    await session.close()


async def test_a_call_that_was_cut_before_its_first_argument_runs_only_where_it_changes_nothing():
    parts = (ToolCall("a", "wipe", {}, "{}"), ToolCall("b", "wipe", {}, ""))
    wipe, look = Bare("wipe", read_only=False), Bare("look")
    provider = Playing(
        ended("", "length", "max_tokens", *parts),
        ended("", "length", "max_tokens", ToolCall("c", "look", {}, "")),
        says("ok"),
    )
    log = ListLog()
    session = open_session(provider, wipe, look, log=log)
    await run(session, say("go"))
    ran = {event.call_id: event.executed for event in log.events if isinstance(event, ev.ToolReturned)}
    assert ran == {"a": True, "b": False, "c": True}
    await session.close()

"""A model may send anything: the turn goes on, and the session can be opened again."""

from __future__ import annotations

import pytest

from agent_cli.engine.repair import repair
from agent_cli.guardrails.book import signals
from agent_cli.kernel import events as ev
from agent_cli.kernel.events import Finished
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.usage import Usage
from agent_cli.kernel.wire import MOST_DEPTH
from agent_cli.ports import Alert, Touches
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool

ODD = ("[1]", '"text"', "null", "12", "{broken", '{"path": 5}')


def asks(*raws: str) -> Finished:
    calls = tuple(ToolCall(f"c{number}", "read", None, raw) for number, raw in enumerate(raws))
    return Finished(calls, Usage(), "fake-1", "tool-calls", "tool_use")


class Broken:
    name = "broken"

    def feed(self, event: ev.Recorded, /) -> Alert | None:
        raise ValueError(event)


def ended(log: ListLog) -> list[ev.Recorded]:
    return [entry.event for entry in log.read() if isinstance(entry.event, (ev.TurnCompleted, ev.TurnError))]


async def test_arguments_that_are_no_object_end_neither_the_turn_nor_the_session():
    log = ListLog()
    session = open_session(Playing(asks(*ODD), says("done")), FakeTool("read"), log=log, signals=signals())
    await run(session, say("go"))
    await session.close()
    again = open_session(Playing(says("still here")), FakeTool("read"), log=log, signals=signals())
    await run(again, say("and now?"))
    await again.close()
    assert [type(event) for event in ended(log)] == [ev.TurnCompleted, ev.TurnCompleted]


async def test_a_signal_that_breaks_is_passed_over():
    log = ListLog()
    session = open_session(Playing(says("done")), log=log, signals=(Broken(),))
    await run(session, say("go"))
    await session.close()
    assert isinstance(*ended(log), ev.TurnCompleted)


def test_arguments_nested_deeper_than_can_be_written_are_none():
    def nested(depth: int) -> str:
        return '{"a":' * depth + "1" + "}" * depth

    assert repair(nested(MOST_DEPTH)) is not None
    for depth in (MOST_DEPTH + 1, 900, 10_000):
        assert repair(nested(depth)) is None


class Lost(FakeTool):
    def touches(self, args: object, /) -> Touches:
        raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")


async def test_a_tool_that_cannot_say_what_it_touches_does_not_run():
    log = ListLog()
    session = open_session(Playing(wants(("read", {"path": "a"})), says("done")), Lost("read"), log=log)
    await run(session, say("go"))
    await session.close()
    (returned,) = [entry.event for entry in log.read() if isinstance(entry.event, ev.ToolReturned)]
    assert not returned.executed
    assert "crashed" in ev.as_text(returned.output)
    assert isinstance(*ended(log), ev.TurnCompleted)


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        pytest.param("before\ud800after", "before\ufffdafter", id="half of a surrogate pair"),
        pytest.param(None, "what it returned cannot be written down", id="nothing"),
        pytest.param(b"raw", "what it returned cannot be written down", id="bytes"),
    ],
)
async def test_a_result_that_cannot_be_written_down_ends_neither_the_turn_nor_the_session(
    returned: object, told: str
):
    class Odd(FakeTool):
        async def run(self, args: object, progress: object, /) -> ev.Output:
            text = isinstance(returned, str)
            return ev.Output((Text(returned),)) if text else returned  # type: ignore[return-value]  # the mistake is the test

    log = ListLog()
    session = open_session(Playing(wants(("odd", {"path": "a"})), says("done")), Odd("odd"), log=log)
    await run(session, say("go"))
    (output,) = [event.output for event in log.events if isinstance(event, ev.ToolReturned)]
    assert told in ev.as_text(output)
    assert len(ev.as_text(output)) < 256
    assert session.state.answer == "done"
    await session.close()


async def test_a_message_that_nothing_can_encode_is_said_with_what_can_be():
    log = ListLog()
    session = open_session(Playing(says("done")), log=log)
    await run(session, say("read caf\udce9.txt"))
    await session.close()
    assert isinstance(*ended(log), ev.TurnCompleted)
    heard = [entry.event for entry in log.read() if isinstance(entry.event, ev.OperatorMessage)]
    assert [event.content for event in heard] == [(Text("read caf\ufffd.txt"),)]

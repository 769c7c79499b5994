"""A session that another program drives: orders in, events out, and always an end."""

from __future__ import annotations

import asyncio
import json
import os
import signal

import pytest

from agent_cli.headless import inbound
from agent_cli.headless.driven import drive
from agent_cli.headless.jsonl import StreamPrinter
from agent_cli.headless.narration import Level
from agent_cli.headless.printer import Voice
from agent_cli.headless.streams import Stream
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Interrupt, Say, SetMode
from agent_cli.kernel.messages import Text
from tests.fakes.feed import DONE, Feed, step
from tests.fakes.paper import Paper
from tests.headless.test_stream_schema import printed

ASKED = ev.ApprovalRequested("c1", "bash", "rm x", "mode ask", "mode")


class Pipe:
    """The program's end of stdin."""

    def __init__(self):
        self.descriptor, self._mine = os.pipe()

    def order(self, kind, **fields):
        self.write(json.dumps({"type": kind, **fields}).encode() + b"\n")

    def write(self, data):
        os.write(self._mine, data)

    def end(self):
        if self._mine >= 0:
            os.close(self._mine)
            self._mine = -1

    def close(self):
        self.end()
        os.close(self.descriptor)


@pytest.fixture
def pipe():
    made = Pipe()
    yield made
    made.close()


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  what is waited for is in a file
            await asyncio.sleep(0.005)


async def driven(feed, pipe, first=(), *, meanwhile=None):
    with Paper("stream-json", Level.QUIET) as paper:
        task = asyncio.create_task(drive(feed, first, paper.printer, descriptor=pipe.descriptor))
        if meanwhile is not None:
            await meanwhile(paper)
        code = await task
        for line in paper.lines:
            printed.validate(line)
        return code, paper.lines, paper.err


async def test_it_begins_with_ready_and_ends_with_the_result_when_stdin_ends(pipe):
    feed = Feed(*step("42"), DONE)
    pipe.order("message", text="hello")
    pipe.end()
    code, lines, _ = await driven(feed, pipe)
    assert [lines[0]["type"], lines[-2]["type"], lines[-1]["type"]] == ["ready", "session-ended", "result"]
    assert lines[0]["session"] == "S1"
    assert (code, lines[-1]["answer"], lines[-1]["exit_code"]) == (0, "42", 0)
    assert feed.commands == [Say((Text("hello"),))]


async def test_it_waits_for_the_next_message_as_long_as_stdin_is_open(pipe):
    feed = Feed(*step("42"), DONE)

    async def two(paper):
        await until(lambda: any(line["type"] == "turn-completed" for line in paper.lines))
        assert not feed.closed.is_set()
        pipe.order("message", text="again", when="now")
        await until(lambda: [line["type"] for line in paper.lines].count("turn-completed") == 2)
        pipe.order("end")

    code, lines, _ = await driven(feed, pipe, (Text("first"),), meanwhile=two)
    assert (code, lines[-1]["steps"]) == (0, 2)
    assert [command.content[0].text for command in feed.commands] == ["first", "again"]


async def test_an_approval_waits_for_the_programs_answer(pipe):
    held = asyncio.Event()
    feed = Feed(ev.StepStarted("m"), ASKED, held, *step("Done."), DONE)

    async def decide(paper):
        await until(lambda: paper.lines and paper.lines[-1]["type"] == "approval-requested")
        assert feed.commands == [Say((Text("go"),), "now")]
        pipe.order("answer", call_id="c1", allowed=True, scope="tool")
        await until(lambda: len(feed.commands) == 2)
        held.set()
        pipe.end()

    code, *_ = await driven(feed, pipe, (Text("go"),), meanwhile=decide)
    answer = feed.commands[1]
    assert isinstance(answer, Answer)
    assert (code, answer.call_id, answer.allowed, answer.scope) == (0, "c1", True, "tool")


async def test_an_approval_is_refused_once_nobody_can_answer(pipe):
    held = asyncio.Event()
    feed = Feed(ev.StepStarted("m"), ASKED, held, *step("No."), DONE)

    async def leave(paper):
        await until(lambda: paper.lines and paper.lines[-1]["type"] == "approval-requested")
        pipe.end()
        await until(lambda: len(feed.commands) == 2)
        held.set()

    await driven(feed, pipe, (Text("go"),), meanwhile=leave)
    answer = feed.commands[1]
    assert isinstance(answer, Answer)
    assert not answer.allowed
    assert "closed its input" in answer.message
    assert "--yolo" in answer.message


async def test_what_cannot_be_taken_is_told_by_line_and_changes_nothing(pipe, monkeypatch):
    monkeypatch.setattr(inbound, "LONGEST", 1_000)
    monkeypatch.setattr("agent_cli.headless.driven.LONGEST", 1_000)
    pipe.write(b"\n{\n")
    pipe.order("answer", call_id="nobody", allowed=True)
    pipe.write(b'"' + b"x" * 5_000 + b'"\n')
    pipe.order("mode", mode="plan")
    pipe.order("message", text="hello")
    pipe.end()
    feed = Feed(*step("42"), DONE)
    code, lines, _ = await driven(feed, pipe)
    wrong = [(line["line"], line["message"]) for line in lines if line["type"] == "input-error"]
    assert [number for number, _ in wrong] == [2, 3, 4]
    assert "no JSON object" in wrong[0][1]
    assert "no approval waits for an answer to 'nobody'" in wrong[1][1]
    assert "longer than 1,000 bytes" in wrong[2][1]
    assert [type(command) for command in feed.commands[1:]] == [Say]
    assert isinstance(feed.commands[0], SetMode)
    assert code == 0


async def test_the_last_line_needs_no_end(pipe):
    pipe.write(b'{"type": "message", "text": "hello"}')
    pipe.end()
    code, lines, _ = await driven(Feed(*step("42"), DONE), pipe)
    assert (code, lines[-1]["answer"]) == (0, "42")


async def test_an_interrupt_ends_the_turn_and_not_the_session(pipe):
    never = asyncio.Event()
    feed = Feed(ev.StepStarted("m"), ev.TextDelta("half"), never, DONE)

    async def interrupt(paper):
        await feed.begun.wait()
        pipe.order("interrupt")
        await until(lambda: paper.lines[-1]["type"] == "turn-error")
        assert not feed.closed.is_set()
        pipe.end()

    code, lines, _ = await driven(feed, pipe, (Text("go"),), meanwhile=interrupt)
    assert any(isinstance(command, Interrupt) for command in feed.commands)
    assert (code, lines[-1]["outcome"]) == (130, "interrupted")


async def test_without_any_message_it_is_a_usage_error(pipe):
    pipe.end()
    code, lines, err = await driven(Feed(), pipe)
    assert (code, lines[-1]["error"]["kind"], lines[-1]["exit_code"]) == (2, "usage", 2)
    assert "before there was a message" in err


@pytest.mark.parametrize("busy", [True, False])
async def test_a_signal_ends_it_cleanly_whether_a_turn_runs_or_not(pipe, busy):
    never = asyncio.Event()
    feed = Feed(*step("42"), *((never,) if busy else ()), DONE)

    async def stop(paper):
        await until(
            lambda: paper.lines and paper.lines[-1]["type"] == ("usage" if busy else "turn-completed")
        )
        os.kill(os.getpid(), signal.SIGTERM)

    code, lines, err = await driven(feed, pipe, (Text("go"),), meanwhile=stop)
    assert (code, lines[-1]["exit_code"], lines[-1]["type"]) == (143, 143, "result")
    assert "interrupted by SIGTERM" in err


async def test_a_reader_that_goes_away_ends_the_session(pipe):
    reader, writer = os.pipe()
    never = asyncio.Event()
    feed = Feed(ev.StepStarted("m"), *(ev.TextDelta("word " * 500) for _ in range(50)), never, DONE)
    printer = StreamPrinter(Stream(writer), Voice(Stream(writer), Level.QUIET))
    task = asyncio.create_task(drive(feed, (Text("go"),), printer, descriptor=pipe.descriptor))
    await feed.begun.wait()
    os.close(reader)
    assert await task == 0
    assert feed.closed.is_set()
    os.close(writer)

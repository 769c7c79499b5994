"""Never waits for a person, ends cleanly when told to, and when nobody reads any more."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from agent_cli.headless import run as running
from agent_cli.headless.narration import Level
from agent_cli.headless.printer import Voice
from agent_cli.headless.run import PRINTERS, run_once
from agent_cli.headless.streams import Stream
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Interrupt, Say
from agent_cli.kernel.messages import Text
from tests.fakes.feed import DONE, Feed, step
from tests.fakes.paper import Paper

SAY = (Text("hello"),)


async def signalled(number, *script):
    """Sends the signal once the turn has begun."""
    never = asyncio.Event()
    feed = Feed(ev.StepStarted("m"), ev.TextDelta("half"), *script, never, DONE)
    with Paper("json") as paper:
        task = asyncio.create_task(run_once(feed, SAY, paper.printer))
        await feed.begun.wait()
        os.kill(os.getpid(), number)
        code = await task
        (result,) = paper.lines
        return code, result, paper.err


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
async def test_a_signal_stops_the_turn_cleanly(number, code):
    before = signal.getsignal(number)
    got, result, err = await signalled(number)
    assert got == code == result["exit_code"]
    assert result["outcome"] == "interrupted"
    assert result["error"] == {"kind": "canceled", "message": f"interrupted by {number.name}"}
    assert err == f"agent: [session S1] interrupted by {number.name} (exit {code})\n"
    assert signal.getsignal(number) == before


async def test_an_answer_that_was_ready_wins_over_a_late_signal():
    feed = Feed(*step("42"), DONE)
    close = feed.close

    async def close_slowly(reason=""):
        if not feed.closed.is_set():
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0)
        await close(reason)

    feed.close = close_slowly
    with Paper() as paper:
        assert await run_once(feed, SAY, paper.printer) == 0
        assert paper.out == "42\n"


async def test_a_turn_that_does_not_stop_is_given_up(monkeypatch):
    monkeypatch.setattr(running, "STOP_WITHIN", 0.05)
    never = asyncio.Event()
    feed = Feed(ev.StepStarted("m"), never, obeys=False)
    with Paper("json") as paper:
        task = asyncio.create_task(run_once(feed, SAY, paper.printer))
        await feed.begun.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        assert await task == 143
        assert paper.lines[0]["error"]["message"].startswith("interrupted; the turn did not end within")
    never.set()
    await asyncio.sleep(0)


async def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Paper() as paper:
            task = asyncio.create_task(run_once(Feed(*step("42"), DONE), SAY, paper.printer))
            await asyncio.sleep(0)
            os.kill(os.getpid(), signal.SIGHUP)
            assert await task == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_an_approval_is_refused_at_once_naming_the_flag():
    asked = ev.ApprovalRequested("c1", "bash", "rm x", "mode ask", "mode")
    feed = Feed(ev.StepStarted("m"), asked, *step("No."), DONE)
    with Paper() as paper:
        assert await run_once(feed, SAY, paper.printer) == 0
    (answer,) = [command for command in feed.commands if isinstance(command, Answer)]
    assert (answer.call_id, answer.allowed) == ("c1", False)
    assert "--permission-mode" in answer.message


async def test_a_refused_turn_ends_the_run():
    feed = Feed(ev.TurnError("refused", "halted", 3, "the session is halted: watchdog"))
    with Paper() as paper:
        assert await run_once(feed, SAY, paper.printer) == 3
        assert paper.err == "agent: [session S1] the session is halted: watchdog (exit 3)\n"


async def test_the_session_is_closed_before_the_result_is_printed():
    feed = Feed(*step("42"), DONE)
    with Paper("stream-json") as paper:
        await run_once(feed, SAY, paper.printer)
        assert [line["type"] for line in paper.lines[-2:]] == ["session-ended", "result"]
    assert feed.log.closed


async def test_only_this_run_is_printed_of_a_session_that_goes_on():
    feed = Feed(*step("first"), DONE)
    with Paper() as paper:
        await run_once(feed, SAY, paper.printer)
    again = Feed(*step("second"), DONE)
    for entry in feed.log.entries:
        again.log.entries.append(entry)
    again._hub.replay()
    with Paper("stream-json") as paper:
        await run_once(again, SAY, paper.printer)
        assert "first" not in paper.out
        assert paper.lines[-1]["steps"] == 1


# ── readers ──


def piped(output_format: str):
    reader, writer = os.pipe()
    err, err_writer = os.pipe()
    out = PRINTERS[output_format](Stream(writer), Voice(Stream(err_writer), Level.NORMAL))
    return reader, out, (writer, err, err_writer)


async def test_a_reader_that_goes_away_ends_the_run_without_failure():
    reader, out, rest = piped("stream-json")
    never = asyncio.Event()
    feed = Feed(ev.StepStarted("m"), ev.TextDelta("x"), never)
    os.close(reader)
    assert await run_once(feed, SAY, out) == 0
    assert [type(command) for command in feed.commands] == [Say, Interrupt]
    assert feed.state.ending.outcome == "interrupted"
    for descriptor in rest:
        os.close(descriptor)


async def test_a_reader_that_left_before_the_answer_keeps_the_code_of_the_run():
    for end, code in ((DONE, 0), (ev.TurnError("provider", "error", 75, "down"), 75)):
        reader, out, rest = piped("json")
        os.close(reader)
        assert await run_once(Feed(*step("x"), end), SAY, out) == code
        for descriptor in rest:
            os.close(descriptor)


async def test_an_answer_that_cannot_be_written_is_not_delivered():
    full = os.open("/dev/full", os.O_WRONLY)
    with Paper() as paper:
        out = PRINTERS["text"](Stream(full), paper.printer.voice)
        assert await run_once(Feed(*step("42"), DONE), SAY, out) == 1
        assert "No space left" in paper.err
    os.close(full)


async def test_a_slow_reader_holds_up_neither_the_turn_nor_a_byte():
    reader, out, rest = piped("text")
    answer = "0123456789" * 50_000
    feed = Feed(*step(answer), DONE)
    task = asyncio.create_task(run_once(feed, SAY, out))
    await feed.closed.wait()
    assert not task.done()
    got = b""
    while not got.endswith(b"\n"):
        got += await asyncio.to_thread(os.read, reader, 65536)
    assert await task == 0
    assert got.decode() == answer + "\n"
    for descriptor in (reader, *rest):
        os.close(descriptor)


async def test_a_signal_frees_a_run_whose_reader_does_not_read(monkeypatch):
    monkeypatch.setattr(running, "STOP_WITHIN", 0.05)
    reader, out, rest = piped("text")
    feed = Feed(*step("0123456789" * 50_000), DONE)
    task = asyncio.create_task(run_once(feed, SAY, out))
    await feed.closed.wait()
    os.kill(os.getpid(), signal.SIGTERM)
    assert await task == 143
    for descriptor in (reader, *rest):
        os.close(descriptor)


async def test_a_session_that_cannot_be_closed_is_a_result_too():
    feed = Feed(ev.StepStarted("m"), ev.TextDelta("half"))

    async def break_down(reason=""):
        raise RuntimeError("a part of it is gone")

    feed.close = break_down
    feed.send = lambda command: (_ for _ in ()).throw(KeyError("first"))
    with Paper("json") as paper:
        assert await run_once(feed, SAY, paper.printer) == 1
        assert paper.lines[0]["error"] == {"kind": "internal", "message": "internal error: KeyError: 'first'"}

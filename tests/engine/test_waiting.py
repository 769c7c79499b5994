"""Waiting for something: one call of the model, many looks, each judged as a call of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from agent_cli.engine.session import Session
from agent_cli.engine.watchdog import Watchdog
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Interrupt
from agent_cli.kernel.errors import ToolError
from agent_cli.permissions.book import judge
from agent_cli.ports import Alert, Facts, Say
from agent_cli.tools.bash import Bash
from agent_cli.tools.workspace import Workspace
from tests.fakes.clock import InstantClock, settle
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import is_fact, open_session, run, say, until
from tests.fakes.tools import FakeTool, never

NAME = "wait_and_verify"


def waits(tool: str, arguments: dict[str, object], **more: object) -> tuple[str, dict[str, object]]:
    return NAME, {"check": {"tool": tool, "arguments": arguments}, **more}


def opened(log: ListLog, *tools: Any, call: tuple[str, dict[str, object]], **more: Any) -> Session:
    facts = more.pop("facts", Facts("ask", attended=True, roots=(("/p", "rw"),)))
    return open_session(
        Playing(wants(call), says("done")), *tools, log=log, judge=judge, facts=facts,
        own_tools=frozenset({NAME}), **more,
    )  # fmt: skip


def result(log: ListLog) -> ev.ToolReturned:
    return next(event for event in log.events if isinstance(event, ev.ToolReturned))


async def told(session: Session, log: ListLog) -> str:
    await run(session, say("go"))
    await session.close()
    return ev.as_text(result(log).output)


class Server:
    """Answers from the third look on; before that it is not there."""

    def __init__(self) -> None:
        self.looks = 0

    async def __call__(self, path: str, heard: Say) -> str:
        self.looks += 1
        if self.looks < 3:
            raise ToolError("connection refused")
        return "status: ready (7 workers)"


async def test_it_looks_until_the_result_holds_it():
    for wanted in ("ok", "ready (7", r"ready \(\d+ workers\)$"):
        log, clock = ListLog(), InstantClock()
        read = FakeTool("read_file", Server())
        call = waits("read_file", {"path": "a"}, until=wanted, interval=5, timeout=60)
        text = await told(opened(log, read, call=call, clock=clock), log)
        assert text == "It holds: 3 tries in 10 s.\nstatus: ready (7 workers)"
        assert result(log).output.ok
        assert [slept for slept in clock.slept if slept == 5] == [5, 5]


async def test_it_ends_in_time_and_says_what_it_saw_last():
    log = ListLog()
    read = FakeTool("read_file")
    call = waits("read_file", {"path": "a"}, until="ready", interval=10, timeout=35)
    text = await told(opened(log, read, call=call), log)
    assert text == (
        "Not yet: 4 tries in 30 s, and 'ready' was not in the result. The last result:\ncontent of a"
    )
    assert not result(log).output.ok


async def test_no_more_than_sixty_tries():
    log = ListLog()
    read = FakeTool("read_file")
    text = await told(
        opened(log, read, call=waits("read_file", {"path": "a"}, until="x", interval=0.1, timeout=300)), log
    )
    assert len(read.ran) == 60
    assert text.startswith("Not yet: 60 tries in 295 s")
    too_long = waits("read_file", {"path": "a"}, timeout=301)
    assert "timeout" in await told(opened(log2 := ListLog(), read, call=too_long), log2)


async def test_what_changes_something_is_not_repeated():
    log = ListLog()
    write = FakeTool("write_file", read_only=False)
    text = await told(
        opened(
            log, write, call=waits("write_file", {"path": "a"}), facts=Facts("yolo", True, (("/p", "rw"),))
        ),
        log,
    )
    assert text.startswith("Nothing was run: it is not certain that `write_file` only reads.")
    assert write.ran == []


async def test_what_a_rule_forbids_or_would_ask_about_is_not_looked_at():
    for facts, said in (
        (Facts("ask", True, (("/p", "rw"),), deny=("read_file:a",)), "Refused (deny: read_file:a)"),
        (Facts("ask", True, (("/q", "rw"),)), "the operator would be asked"),
    ):
        log = ListLog()
        read = FakeTool("read_file")
        text = await told(opened(log, read, call=waits("read_file", {"path": "a"}), facts=facts), log)
        assert said in text
        assert read.ran == []


async def test_of_shell_lines_only_those_that_read_and_with_their_real_end(tmp_path: Path):
    (tmp_path / "log").write_text("started\n")
    bash = Bash(Workspace(tmp_path))
    facts = Facts("yolo", True, ((str(tmp_path), "rw"),))
    for line, said in (
        ("tail -n 1 log", "It holds: 1 try in 0 s.\nstarted"),
        ("touch made", "it is not certain that the line `touch made` only reads"),
        ("cat log > made", "only reads"),
        ("cat $(touch made)", "only reads"),
    ):
        log = ListLog()
        text = await told(opened(log, bash, call=waits("bash", {"command": line}), facts=facts), log)
        assert said in text
    assert not (tmp_path / "made").exists()


async def test_it_does_not_wait_for_a_wait_nor_for_nothing():
    log = ListLog()
    call = waits(NAME, {"check": {"tool": "read_file", "arguments": {}}})
    assert "cannot be a check" in await told(opened(log, FakeTool("read_file"), call=call), log)
    log = ListLog()
    call = waits("read_file", {"path": "a"}, until=" ")
    assert "`until` is empty" in await told(opened(log, FakeTool("read_file"), call=call), log)


async def test_an_interrupt_ends_the_wait():
    log = ListLog()
    session = opened(log, FakeTool("read_file", never), call=waits("read_file", {"path": "a"}))
    running = asyncio.create_task(run(session, say("go")))
    await until(session, is_fact(ev.ToolCallStarted))
    await settle()
    session.send(Interrupt())
    await running
    await session.close()
    assert "cancelled by the operator" in ev.as_text(result(log).output)
    assert "1 try in 0 s; it did not hold yet" in ev.as_text(result(log).output)


def test_guidance_names_it_only_where_the_model_has_it():
    alert = Alert(
        "x",
        "warn",
        "turn",
        "why",
        "You repeat it. To wait for\nsomething, use wait_and_verify.",
        at_once=True,
    )
    for tools, named in (((NAME,), True), (("read_file",), False)):
        dog = Watchdog((), "feedback", lambda tools=tools: tools)
        dog._at_once.append(alert)
        word = dog.word()
        assert "You repeat it." in word
        assert (NAME in word) is named

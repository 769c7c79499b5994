"""What of the prompt changes under a session's feet is said to the operator, once, and nothing else is."""

from __future__ import annotations

import msgspec

from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import Overloaded
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, Reply, says, wants
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool


def notes(log: ListLog) -> list[tuple[str, str]]:
    return [(event.level, event.text) for event in log.events if isinstance(event, ev.OperatorNote)]


def opened(*replies: Reply) -> tuple[Session, ListLog, FakeTool]:
    log, tool = ListLog(), FakeTool("read")
    return open_session(Playing(*replies), tool, log=log), log, tool


async def test_a_long_session_changes_nothing_of_what_was_sent():
    call = ("read", {"path": "a"})
    session, log, _ = opened(
        wants(call), wants(call, call), says("one"), Overloaded("busy"), wants(call, text="hm"), says("two")
    )
    await run(session, say("first"))
    await run(session, say("second"))
    assert notes(log) == []
    await session.close()


async def test_a_tool_that_changes_is_said_once():
    session, log, tool = opened(says("one"), says("two"), says("three"))
    await run(session, say("first"))
    tool.spec = msgspec.structs.replace(tool.spec, description="Another one.")
    await run(session, say("second"))
    await run(session, say("third"))
    assert notes(log) == [
        (
            "warning",
            "the prompt cache is lost from here on and written anew: the tools changed (changed: read)",
        )
    ]
    await session.close()


async def test_what_somebody_meant_to_change_is_not_said():
    session, log, tool = opened(says("one"), says("two"), says("three"))
    await run(session, say("first"))
    session._core.record(ev.CompactionPerformed("summary", 100, 10, summary="They talked.", keeps_from=99))
    await run(session, say("second"))
    other = session._core.model
    session._core.switch(other._replace(card=msgspec.structs.replace(other.card, id="fake-2")), "chosen")
    tool.spec = msgspec.structs.replace(tool.spec, description="Another one.")
    await run(session, say("third"))
    assert notes(log) == []
    await session.close()


async def test_a_later_process_says_what_is_no_longer_as_the_last_turn_had_it():
    log, tool = ListLog(), FakeTool("read")
    for texts in (("one",), ("two", "three")):
        session = open_session(Playing(*map(says, texts)), tool, log=log)
        for text in texts:
            await run(session, say(text))
        await session.close()
        tool.spec = msgspec.structs.replace(tool.spec, description="Another one.")
    assert notes(log) == [
        ("info", "the tools changed since the last turn: the prompt cache is written anew from here on")
    ]


async def test_a_later_process_with_the_same_tools_says_nothing():
    log = ListLog()
    for text in ("one", "two"):
        session = open_session(Playing(says(text)), FakeTool("read"), log=log)
        await run(session, say(text))
        await session.close()
    assert notes(log) == []

"""Tools that come and go while a session runs, and tools that ask the operator something."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer
from agent_cli.kernel.serving import asking
from agent_cli.permissions.book import judge
from agent_cli.ports import Facts, Say, Tool
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import is_fact, open_session, run, say, until
from tests.fakes.tools import FakeTool


class Servers:
    """What a test says that there is."""

    def __init__(self, *names: str) -> None:
        self.offered: Mapping[str, Tool] = {}
        self.settled = self.closed = 0
        self.lines: list[str] = []
        self.offer(*names)

    def offer(self, *names: str) -> None:
        self.offered = {name: FakeTool(name) for name in names}

    async def settle(self, waits: Callable[[str, float], None], /) -> None:
        self.settled += 1

    def tools(self, window: int | None, /) -> Mapping[str, Tool]:
        return self.offered

    def news(self) -> list[str]:
        found, self.lines = self.lines, []
        return found

    async def close(self) -> None:
        self.closed += 1


def notes(log: ListLog) -> list[tuple[str, str]]:
    return [(event.level, event.text) for event in log.events if isinstance(event, ev.OperatorNote)]


async def test_tools_stand_behind_the_others_and_the_first_ones_cost_nothing() -> None:
    log, servers = ListLog(), Servers("mcp__a__x")
    model = Playing(wants(("mcp__a__x", {"path": "p"})), says("done"))
    session = open_session(model, FakeTool("read"), log=log, joining=servers)
    await run(session, say("go"))
    assert [spec.name for spec in model.asked[0].tools] == ["read", "mcp__a__x"]
    assert notes(log) == [("info", "tools of servers: 1 joined: mcp__a__x")]
    assert any(isinstance(event, ev.ToolReturned) and event.output.ok for event in log.events)
    await session.close()
    assert servers.closed == 1


async def test_what_changes_joins_before_the_next_request_and_is_told_with_its_price() -> None:
    log, servers = ListLog(), Servers("mcp__a__x")
    model = Playing(says("one"), says("two"), says("three"))
    session = open_session(model, FakeTool("read"), log=log, joining=servers)
    await run(session, say("first"))
    servers.offer("mcp__a__y")
    servers.lines.append("b is not there")
    await run(session, say("second"))
    await run(session, say("third"))
    anew = "; the prompt cache is lost from here on and written anew"
    assert notes(log)[1:] == [
        ("info", f"tools of servers: 1 joined: mcp__a__y; 1 left: mcp__a__x{anew}"),
        ("warning", "b is not there"),
    ]
    assert [spec.name for spec in model.asked[2].tools] == ["read", "mcp__a__y"]
    await session.close()


async def test_a_name_that_is_taken_stays_what_it_is() -> None:
    model = Playing(says("one"))
    read = FakeTool("read")
    session = open_session(model, read, log=ListLog(), joining=Servers("read"))
    await run(session, say("go"))
    assert session._core.tools()["read"] is read
    await session.close()


async def test_a_resumed_session_is_compared_with_all_of_its_tools() -> None:
    log = ListLog()
    for reply in ("one", "two"):
        session = open_session(
            Playing(says(reply), says("more")), FakeTool("read"), log=log, joining=Servers("mcp__a__x")
        )
        await run(session, say("go"))
        await run(session, say("go on"))
        await session.close()
    assert not [text for _, text in notes(log) if "since the last turn" in text]
    session = open_session(Playing(says("three")), FakeTool("read"), log=log, joining=Servers("mcp__a__y"))
    await run(session, say("go"))
    await session.close()
    assert len([text for _, text in notes(log) if "the tools changed since the last turn" in text]) == 1


async def asked_in(log: ListLog, *, attended: bool) -> tuple[str | None, list[str]]:
    """What a tool hears that asks something, when the operator says "blue"."""
    heard: list[str | None] = []

    async def work(path: str, said: Say) -> str:
        ask = asking.get()
        assert ask is not None
        heard.append(await ask("Which colour?", ("red", "blue")))
        return str(heard[0])

    facts = Facts("yolo", attended, (("/p", "rw"),))
    session = open_session(
        Playing(wants(("paint", {"path": "p"})), says("done")),
        FakeTool("paint", work),
        log=log,
        judge=judge,
        facts=facts,
    )
    running = asyncio.create_task(run(session, say("go")))
    if attended:
        seen = (await until(session, is_fact(ev.ApprovalRequested)))[-1]
        assert isinstance(seen, ev.Entry)
        assert isinstance(seen.event, ev.ApprovalRequested)
        assert seen.event.options == ("red", "blue")
        session.send(Answer(seen.event.call_id, allowed=True, edit="blue"))
    await running
    await session.close()
    return heard[0], [type(event).__name__ for event in log.events if isinstance(event, ev.ApprovalDecided)]


@pytest.mark.parametrize(("attended", "hears"), [(True, "blue"), (False, None)])
async def test_a_tool_asks_while_it_runs(attended: bool, hears: str | None) -> None:
    log = ListLog()
    heard, decided = await asked_in(log, attended=attended)
    assert heard == hears
    assert len(decided) == attended

"""The matrix: what stops, crossed with what is under way. Each cell says what may have happened when it is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from agent_cli.guardrails.book import signals
from agent_cli.guardrails.checks.armed import Armed
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer
from agent_cli.kernel.limits import Limits
from tests.drills.stage import DEAR, Came, DoesNothing, Remote, Stage
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import ask_writes
from tests.fakes.tools import FakeTool, never

DISPATCH = 1.0
FULL = 3.0
"""Seconds that a stop may take at most, on a machine that does other things."""
CEILING = Limits(max_session_cost=0.05)
SOURCES = ("kill switch", "cost ceiling", "guardrail unavailable", "loop")
PHASES = ("before model call", "during reads", "awaiting approval", "during mutation", "before output")


class Cell(NamedTuple):
    """`asked` are requests to the model, `files` are writes that may have happened, `says` stands in the reason."""

    source: str
    phase: str
    drill: Callable[[Path], Awaitable[Came]]
    outcome: str
    exit_code: int
    says: str
    asked: int
    files: tuple[str, ...] = ()
    partial: str = ""


async def _over(stage: Stage) -> Came:
    try:
        return await asyncio.wait_for(stage.came(), 20)
    finally:
        await stage.close()


def _reads(*paths: str) -> ev.Finished:
    return wants(*(("read", {"path": path}) for path in paths))


def _writes(*paths: str) -> ev.Finished:
    return wants(*(("write", {"path": path}) for path in paths))


# ── before a model call ──


async def _killed_before(directory: Path) -> Came:
    stage = Stage(directory)
    await stage.kill()
    await stage.say()
    return await _over(stage)


async def _dear_before(directory: Path) -> Came:
    stage = Stage(directory, says("dear", usage=DEAR), limits=CEILING)
    await stage.say()
    await stage.say("again")
    return await _over(stage)


async def _unavailable_before(directory: Path) -> Came:
    stage = Stage(directory)
    await stage.disconnect()
    await stage.say()
    return await _over(stage)


async def _loop_before(directory: Path) -> Came:
    stage = Stage(
        directory,
        *(_reads("same") for _ in range(5)),
        tools=(FakeTool("read"),),
        signals=signals("default"),
        watchdog="enforce",
    )
    await stage.say()
    await stage.say("again")
    return await _over(stage)


# ── reads, an approval, a mutation ──


def _during(
    reply: Callable[[], ev.Finished], stop: Callable[[Stage], Awaitable[None]], *more: ev.Finished
) -> Callable[[Path], Awaitable[Came]]:
    async def drill(directory: Path) -> Came:
        stage = Stage(directory, reply(), *more, limits=CEILING)
        await stage.begin()
        await stop(stage)
        return await _over(stage)

    return drill


def _waiting(
    stop: Callable[[Stage], Awaitable[None]], *more: ev.Finished
) -> Callable[[Path], Awaitable[Came]]:
    async def drill(directory: Path) -> Came:
        stage = Stage(directory, _writes("a.txt"), *more, limits=CEILING, judge=ask_writes)
        call_id = await stage.asks()
        await stop(stage)
        await stage.session.idle()
        stage.session.send(Answer(call_id, allowed=True))  # too late
        return await _over(stage)

    return drill


def _idle_calls(name: str, *, read_only: bool) -> Callable[[Path], Awaitable[Came]]:
    """Three that do nothing; what comes behind them is under way, or would be."""

    async def drill(directory: Path) -> Came:
        tool = DoesNothing(name, never, read_only=read_only)
        replies = wants(*((name, {"path": path}) for path in ("a", "b", "c", "z.txt")))
        stage = Stage(directory, replies, tools=(tool,), signals=signals("default"), watchdog="enforce")
        await stage.say()
        assert read_only or tool.ran == ["a", "b", "c"], "nothing behind the third began"
        return await _over(stage)

    return drill


async def _loop_waiting(directory: Path) -> Came:
    replies = [_writes("same.txt") for _ in range(5)]
    stage = Stage(directory, *replies, judge=ask_writes, signals=signals("default"), watchdog="enforce")
    assert await stage.allows_all() == 4, "nobody is asked about the fifth"
    return await _over(stage)


# ── before output ──


async def _killed_answer(directory: Path) -> Came:
    stage = Stage(directory)
    stage.provider.replies.append(stage.stalls)
    await stage.begin()
    await stage.kill()
    return await _over(stage)


async def _dear_answer(directory: Path) -> Came:
    async def dear(_: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        yield ev.TextDelta("half an answer ")
        yield ev.UsageSoFar(DEAR)
        yield ev.TextDelta("and more")
        yield says("half an answer and more", usage=DEAR)

    stage = Stage(directory, dear, limits=CEILING)
    await stage.say()
    return await _over(stage)


async def _unseen_answer(directory: Path) -> Came:
    """The server that looks at answers is gone."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    stage = Stage(directory, says("an answer"), armed=Armed(own=(Remote(port),)))
    await stage.say()
    assert "an answer" not in stage.session.state.answer
    return await _over(stage)


async def _loop_answer(directory: Path) -> Came:
    replies = [wants(("read", {"path": path})) for path in "abc"]
    stage = Stage(
        directory, *replies, tools=(DoesNothing("read"),), signals=signals("default"), watchdog="enforce"
    )
    await stage.say()
    return await _over(stage)


KILLED, DEAREST, GONE = "kill switch all is on, by ann: a drill", "cost ceiling exceeded", "cannot be read"
SPENT = says("spent", usage=DEAR)

CELLS: tuple[Cell, ...] = (
    Cell("kill switch", "before model call", _killed_before, "halted", 3, KILLED, 0),
    Cell("kill switch", "during reads", _during(lambda: _reads("a", "b"), Stage.kill), "guardrail-stop", 1, KILLED, 1),
    Cell("kill switch", "awaiting approval", _waiting(Stage.kill), "guardrail-stop", 1, KILLED, 1),
    Cell(
        "kill switch", "during mutation", _during(lambda: _writes("a.txt", "b.txt"), Stage.kill),
        "guardrail-stop", 1, KILLED, 1, ("a.txt",),
    ),
    Cell("kill switch", "before output", _killed_answer, "guardrail-stop", 1, KILLED, 1, partial="half an answer "),
    Cell("cost ceiling", "before model call", _dear_before, "halted", 3, "ceiling is $0.0500", 1),
    Cell(
        "cost ceiling", "during reads", _during(lambda: _reads("a", "b"), Stage.spend, SPENT),
        "guardrail-stop", 1, DEAREST, 2,
    ),
    Cell("cost ceiling", "awaiting approval", _waiting(Stage.spend, SPENT), "guardrail-stop", 1, DEAREST, 2),
    Cell(
        "cost ceiling", "during mutation", _during(lambda: _writes("a.txt", "b.txt"), Stage.spend, SPENT),
        "guardrail-stop", 1, DEAREST, 2, ("a.txt",),
    ),
    Cell("cost ceiling", "before output", _dear_answer, "guardrail-stop", 1, DEAREST, 1, partial="half an answer "),
    Cell("guardrail unavailable", "before model call", _unavailable_before, "halted", 3, GONE, 0),
    Cell(
        "guardrail unavailable", "during reads", _during(lambda: _reads("a", "b"), Stage.disconnect),
        "guardrail-unavailable", 1, GONE, 1,
    ),
    Cell("guardrail unavailable", "awaiting approval", _waiting(Stage.disconnect), "guardrail-unavailable", 1, GONE, 1),
    Cell(
        "guardrail unavailable", "during mutation", _during(lambda: _writes("a.txt", "b.txt"), Stage.disconnect),
        "guardrail-unavailable", 1, GONE, 1, ("a.txt",),
    ),
    Cell("guardrail unavailable", "before output", _unseen_answer, "guardrail-unavailable", 1, "remote", 1),
    Cell("loop", "before model call", _loop_before, "halted", 3, "same", 5),
    Cell("loop", "during reads", _idle_calls("read", read_only=True), "loop-detected", 1, "no", 1),
    Cell("loop", "awaiting approval", _loop_waiting, "loop-detected", 1, "same", 5, ("same.txt",)),
    Cell("loop", "during mutation", _idle_calls("write", read_only=False), "loop-detected", 1, "no", 1),
    Cell("loop", "before output", _loop_answer, "loop-detected", 1, "no", 3),
)  # fmt: skip

"""A kill switch that somebody turns while a session runs: nothing more is dispatched, and what runs is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from agent_cli.engine.asides import Asides
from agent_cli.engine.clock import SystemClock
from agent_cli.engine.killing import IDLE, POLL
from agent_cli.engine.session import Session
from agent_cli.engine.subtasks import SubtaskSpec, run_subtask
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Compact, Withdraw
from agent_cli.kernel.errors import AgentError, StoreError
from agent_cli.kernel.switching import KillSwitch
from agent_cli.permissions.book import judge
from agent_cli.ports import Facts
from tests.fakes.clock import FakeClock, settle
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import ask_writes, is_fact, open_session, run, say, until
from tests.fakes.tools import FakeTool, never


class Board:
    """Switches as a test turns them. `broken` is raised where somebody looks."""

    def __init__(self) -> None:
        self.scopes: list[str] = []
        self.broken: StoreError | None = None

    def __call__(self) -> tuple[KillSwitch, ...]:
        if self.broken is not None:
            raise self.broken
        return tuple(KillSwitch(scope, "an incident", "ann", 5.0) for scope in self.scopes)


def opened(
    provider: Playing, *tools: FakeTool, board: Board, **changes: Any
) -> tuple[Session, ListLog, FakeClock]:
    log, clock = ListLog(), FakeClock()
    return open_session(provider, *tools, log=log, clock=clock, switches=board, **changes), log, clock


def found(log: ListLog, kind: type[Any]) -> list[Any]:
    return [event for event in log.events if isinstance(event, kind)]


def endings(log: ListLog) -> list[tuple[str, int]]:
    return [(end.outcome, end.exit_code) for end in log.events if isinstance(end, ev.TERMINAL)]


async def stalls(_: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
    yield ev.TextDelta("half an ans")
    await asyncio.Event().wait()


async def test_a_turn_is_refused_before_the_model_is_asked():
    board = Board()
    session, log, _ = opened(provider := Playing(), board=board)
    board.scopes = ["all"]
    await run(session, say("go", "now"))
    assert provider.asked == []
    assert endings(log) == [("halted", 3)]
    assert "agent-cli kill-switch off --scope all" in found(log, ev.TurnError)[0].message
    await session.close()


async def test_a_model_that_stalls_is_cut_and_what_it_said_is_kept():
    board = Board()
    session, log, clock = opened(Playing(stalls), board=board)
    session.send(say("go"))
    await settle()
    board.scopes = ["all"]
    await clock.advance(POLL)
    await session.idle()
    (trip,) = found(log, ev.GuardrailTrip)
    assert (trip.guardrail, trip.signal, trip.scope, trip.halted_turn) == (
        "kill_switch",
        "all",
        "session",
        True,
    )
    assert "by ann: an incident" in trip.reason
    assert [message.partial for message in found(log, ev.AssistantMessage)] == [True]
    assert endings(log) == [("guardrail-stop", 1)]
    await session.close()


async def test_a_call_that_runs_is_cancelled_and_says_why():
    board = Board()
    session, log, clock = opened(
        Playing(wants(("read", {"path": "a"}))), FakeTool("read", never), board=board
    )
    session.send(say("go"))
    await settle()
    board.scopes = ["project:/p"]
    await clock.advance(POLL)
    await session.idle()
    (result,) = found(log, ev.ToolReturned)
    assert "kill switch project:/p is on" in ev.as_text(result.output)
    assert endings(log) == [("guardrail-stop", 1)]
    await session.close()


async def test_a_switch_between_two_calls_stops_the_second():
    board = Board()

    async def turns_it(path: str, _: Any) -> str:
        board.scopes = ["all"]
        return path

    write = FakeTool("write", turns_it, read_only=False)
    session, log, _ = opened(
        Playing(wants(("write", {"path": "a"}), ("write", {"path": "b"}))), write, board=board
    )
    await run(session, say("go"))
    assert write.ran == ["a"]
    first, second = found(log, ev.ToolReturned)
    assert first.output.ok, "what was under way was finished"
    assert not second.executed
    assert endings(log) == [("guardrail-stop", 1)]
    await session.close()


async def test_an_approval_that_waits_is_taken_back():
    board = Board()
    session, log, clock = opened(
        Playing(wants(("write", {"path": "a"}))),
        write := FakeTool("write", read_only=False),
        board=board,
        judge=ask_writes,
    )
    session.send(say("go"))
    await until(session, is_fact(ev.ApprovalRequested))
    board.scopes = ["session:s-1", f"session:{session.id}"]
    await clock.advance(POLL)
    await session.idle()
    session.send(Answer("c1", allowed=True))
    assert write.ran == []
    assert [decided.allowed for decided in found(log, ev.ApprovalDecided)] == [False]
    assert endings(log) == [("guardrail-stop", 1)]
    await session.close()


async def test_what_waits_goes_on_when_the_switch_is_taken_back():
    board = Board()
    session, log, clock = opened(Playing(says("one"), says("two")), board=board)
    await run(session, say("first"))
    board.scopes = ["all"]
    await clock.advance(IDLE)
    session.send(say("second"))
    session.send(say("third"))
    assert session.halted.startswith("kill_switch: ")
    assert len(session.state.waiting) == 2
    await settle()
    board.scopes = []
    await clock.advance(IDLE)
    await session.idle()
    assert endings(log) == [("completed", 0), ("completed", 0)]
    trip, reset = found(log, ev.GuardrailTrip)[0], found(log, ev.GuardrailReset)[0]
    assert (trip.halted_turn, reset.guardrail) == (False, "kill_switch")
    assert session.halted == ""
    await session.close()


@pytest.mark.parametrize(
    ("scope", "stops"),
    [
        ("all", True),
        ("project:/p", True),
        ("project:/", True),
        ("project:/pp", False),
        ("project:/p/sub", False),
        ("task:debug", True),
        ("task:chat", False),
        ("mode:ask", True),
        ("mode:yolo", False),
        ("session:other", False),
        ("tool:read", False),
        ("nonsense", False),
    ],
)
async def test_a_scope_stops_what_it_names(scope, stops):
    board = Board()
    board.scopes = [scope]
    session, log, _ = opened(Playing(says("hi")), board=board, task_class="debug")
    await run(session, say("go", "now"))
    assert endings(log) == ([("halted", 3)] if stops else [("completed", 0)])
    await session.close()


async def test_a_tool_that_is_switched_off_is_refused_and_the_turn_goes_on():
    board = Board()
    board.scopes = ["tool:write"]
    write = FakeTool("write", read_only=False)
    session, log, _ = opened(
        Playing(wants(("write", {"path": "a"})), says("then not")),
        write,
        board=board,
        judge=judge,
        facts=Facts("yolo", True, (("/p", "rw"),)),
    )
    await run(session, say("go"))
    assert write.ran == []
    told = ev.as_text(found(log, ev.ToolReturned)[0].output)
    assert told.startswith("Refused (kill-switch): kill switch tool:write is on, by ann: an incident.")
    assert endings(log) == [("completed", 0)]
    await session.close()


async def test_a_running_call_of_such_a_tool_is_cancelled_alone():
    board = Board()
    session, log, clock = opened(
        Playing(wants(("slow", {"path": "a"}), ("read", {"path": "b"})), says("done")),
        FakeTool("slow", never),
        FakeTool("read"),
        board=board,
    )
    session.send(say("go"))
    await settle()
    board.scopes = ["tool:slow"]
    await clock.advance(POLL)
    await session.idle()
    results = {result.tool: ev.as_text(result.output) for result in found(log, ev.ToolReturned)}
    assert "since kill switch tool:slow is on" in results["slow"]
    assert results["read"] == "content of b"
    assert endings(log) == [("completed", 0)]
    await session.close()


async def test_switches_that_cannot_be_read_count_as_on():
    board = Board()
    session, log, clock = opened(Playing(stalls), board=board)
    session.send(say("go"))
    await settle()
    board.broken = StoreError("the disk is gone")
    await clock.advance(POLL)
    await session.idle()
    assert endings(log) == [("guardrail-unavailable", 1)]
    assert "the kill switch cannot be read (the disk is gone)" in found(log, ev.GuardrailTrip)[0].reason
    await run(session, say("again", "now"))
    assert endings(log)[-1] == ("halted", 3)
    await session.close()


async def test_a_summary_under_way_is_stopped():
    board = Board()
    session, log, clock = opened(
        Playing(says("hello " * 400), stalls), board=board, summary_prompt="Write a hand-over."
    )
    await run(session, say("go"))
    session.send(Compact())
    await settle()
    board.scopes = ["all"]
    await clock.advance(IDLE)
    await session.idle()
    assert "not compacted: interrupted" in [note.text for note in found(log, ev.OperatorNote)]
    await session.close()


async def test_a_subtask_beside_the_turns_is_stopped_and_says_why():
    board = Board()
    session, _, clock = opened(Playing(stalls), board=board)
    asides: Asides = session.subtasks
    session.events()
    asked = asyncio.create_task(asides.run(SubtaskSpec("look", "You look.", "look", model="fake-1")))
    await settle()
    board.scopes = ["all"]
    await clock.advance(IDLE)
    with pytest.raises(AgentError, match="the subtask was stopped: kill switch all is on"):
        await asked
    await session.close()


async def test_a_subtask_of_the_turn_is_stopped_with_it_and_nothing_of_it_goes_on():
    board, sessions = Board(), list[Session]()

    async def delegates(path: str, _: Any) -> str:
        spec = SubtaskSpec("look", "You look.", "look", ("read",), model="fake-1")
        return (await run_subtask(sessions[0]._core, spec)).digest

    read = FakeTool("read", never)
    session, log, clock = opened(
        provider := Playing(wants(("ask", {"path": "a"})), wants(("read", {"path": "b"}))),
        FakeTool("ask", delegates),
        read,
        board=board,
    )
    sessions.append(session)
    session.send(say("go"))
    await settle(200)
    assert read.ran == ["b"], "the subtask is under way"
    board.scopes = ["all"]
    await clock.advance(POLL)
    await session.idle()
    ends = [
        (entry.branch != "", entry.event.outcome)
        for entry in log.read()
        if isinstance(entry.event, ev.TERMINAL)
    ]
    assert [below for below, _ in ends] == [True, False], "each of them ends once"
    assert ends[-1] == (False, "guardrail-stop")
    assert len(provider.asked) == 2
    below = [entry.event for entry in log.read() if entry.branch]
    (told,) = [event for event in below if isinstance(event, ev.TurnError)]
    assert told.message.startswith("kill switch all is on, by ann"), "nobody interrupted it"
    (result,) = [event for event in below if isinstance(event, ev.ToolReturned)]
    assert "since the turn was stopped: kill switch all is on" in ev.as_text(result.output)
    (end,) = found(log, ev.SubtaskCompleted)
    assert end.digest.startswith("[look was cut short: kill switch all is on, by ann: an incident."), (
        end.digest
    )
    await session.close()


async def test_a_switch_that_comes_when_the_turn_is_over_takes_nothing_from_its_ending():
    board, resting, go_on = Board(), asyncio.Event(), asyncio.Event()

    async def rests(_: str) -> None:
        resting.set()
        await go_on.wait()

    session, log, clock = opened(Playing(says("done")), board=board)
    session._core.model = session._core.model._replace(after_turn=rests)
    session.send(say("go"))
    await resting.wait()
    board.scopes = ["all"]
    await clock.advance(POLL)
    go_on.set()
    await session.idle()
    assert endings(log) == [("completed", 0)]
    await session.close()


async def test_nothing_wakes_while_nothing_runs_and_a_message_is_preceded_by_a_look():
    board = Board()
    session, log, clock = opened(Playing(says("one"), says("two")), board=board)
    session.events()
    await settle()
    assert clock.waiting == 0, "before the first message"
    await run(session, say("first"))
    await clock.advance(IDLE)
    assert clock.waiting == 0, "after a turn"
    board.scopes = ["all"]
    session.send(say("second"))
    assert found(log, ev.GuardrailTrip)[0].signal == "all", "in the log before what waits"
    await settle()
    assert clock.waiting == 1, "what waits goes out within a second from when the switch is taken back"
    session.send(Withdraw(next(iter(session.state.waiting))))
    await clock.advance(IDLE)
    assert clock.waiting == 0, "nothing waits any more"
    board.scopes = []
    session.send(say("third"))
    await session.idle()
    assert found(log, ev.GuardrailReset)
    assert endings(log) == [("completed", 0), ("completed", 0)]
    await session.close()


async def test_it_holds_within_a_second_of_real_time():
    board = Board()
    log = ListLog()
    session = open_session(Playing(stalls), log=log, clock=SystemClock(), switches=board)
    session.send(say("go"))
    await settle()
    board.scopes = ["all"]
    async with asyncio.timeout(1.0):
        await session.idle()
    assert endings(log) == [("guardrail-stop", 1)]
    await session.close()

"""The agent as a library."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import agent_cli
from agent_cli import Agent, AgentError, Session, SubtaskSpec, TurnInFlightError
from agent_cli.engine.subtasks import SubtaskResult
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Interrupt
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.messages import Message
from agent_cli.ports import Alert, Came, Touches
from tests.fakes.tools import FakeTool, PathArguments, never


class Slow(FakeTool):
    """Runs until it is cancelled, and touches nothing."""

    def __init__(self) -> None:
        super().__init__("slow", never)

    def touches(self, args: PathArguments, /) -> Touches:
        return Touches("none", args.path)


def script(tmp_path: Path, *replies: dict[str, Any]) -> Path:
    path = tmp_path / "script.jsonl"
    path.write_text("\n".join(json.dumps(reply) for reply in replies), encoding="utf-8")
    return path


def played(tmp_path: Path, *replies: dict[str, Any], **options: Any) -> Agent:
    return Agent.open("scripted", cwd=tmp_path, script=script(tmp_path, *replies), **options)


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    return {"text": "I look.", "calls": [{"name": name, "arguments": arguments}]}


def test_what_programs_import_is_there_and_nothing_else():
    assert agent_cli.Agent is Agent
    assert agent_cli.Session is Session
    assert set(agent_cli._PLACES) <= set(dir(agent_cli))
    for name in agent_cli._PLACES:
        assert getattr(agent_cli, name).__name__ == name
    stub = Path(agent_cli.__file__).with_suffix(".pyi").read_text("utf-8")
    assert {line.rpartition(" as ")[2] for line in stub.splitlines() if " as " in line} == set(
        agent_cli._PLACES
    )
    with pytest.raises(AttributeError, match="no attribute 'Agnt'"):
        _ = agent_cli.Agnt  # type: ignore[attr-defined]  # the mistake is the test
    assert Path(agent_cli.__file__).with_name("py.typed").exists()


async def test_a_turn_gives_its_answer_and_what_it_took(tmp_path: Path):
    (tmp_path / "a.txt").write_text("42\n")
    usage = {"input": 100, "output": 5}
    replies = ({**calls("read_file", path="a.txt"), "usage": usage}, {"text": "It is 42.", "usage": usage})
    async with played(tmp_path, *replies) as agent:
        reply = await agent.run("what is in a.txt?")
        assert (reply.text, reply.outcome, reply.problem) == ("It is 42.", "completed", "")
        assert (reply.steps, reply.calls, reply.usage.total) == (2, 1, 210)
        assert agent.context_window_used() == (105, False)


async def test_a_cut_turn_says_why(tmp_path: Path):
    settings = {"budgets.max_steps": 1, "budgets.on_exhaustion": "fail"}
    async with played(tmp_path, calls("list_dir"), {"text": "x"}, settings=settings) as agent:
        reply = await agent.run("go")
        assert (reply.text, reply.outcome, reply.exhausted) == ("", "budget-exhausted", "steps")
        assert "step ceiling" in reply.problem


async def test_wrong_settings_are_told_before_anything(tmp_path: Path):
    with pytest.raises(ConfigError, match="max_step"):
        played(tmp_path, {"text": "x"}, settings={"budgets.max_step": 1})
    with pytest.raises(ConfigError, match=r"budgets\.child\.max_cost_usd"):
        played(tmp_path, {"text": "x"}, settings={"budgets.children": "additive"})


async def test_during_a_turn_nothing_else_is_begun(tmp_path: Path):
    slow = Slow()
    async with played(tmp_path, calls("slow", path="x"), tools=[slow]) as agent:
        turn = asyncio.create_task(agent.run("go"))
        async for event in agent.events():
            if isinstance(event, ev.Entry) and isinstance(event.event, ev.ToolCallStarted):
                break
        for ask in (agent.compact(), agent.compact_if_needed(), agent.checkpoint(), agent.run("and now?")):
            with pytest.raises(TurnInFlightError):
                await ask
        agent.send(Interrupt())
        assert (await turn).outcome == "interrupted"


async def test_compaction_says_what_it_did_or_why_not(tmp_path: Path):
    async with played(tmp_path, *[{"text": f"answer {n} " + "word " * 900} for n in range(4)]) as agent:
        with pytest.raises(AgentError, match="nothing was said yet"):
            await agent.compact()
        for number in range(3):
            await agent.run(f"question {number} " + "word " * 900)
        assert await agent.compact_if_needed() is None
        used, _ = agent.context_window_used()
        done = await agent.compact("the words")
        assert (done.mode, done.focus) == ("summary", "the words")
        assert agent.context_window_used()[0] < used


async def test_a_subtask_between_turns_and_during_one(tmp_path: Path):
    (tmp_path / "a.txt").write_text("42\n")
    spec = SubtaskSpec("reader", "You read.", "What is in a.txt?", ("read_file",))
    async with played(tmp_path, calls("read_file", path="a.txt"), {"text": "42"}, {"text": "hello"}) as agent:
        result = await agent.run_subtask(spec)
        assert (result.how, result.digest, result.steps, result.calls) == ("finished", "42", 2, 1)
        assert (await agent.run("hi")).text == "hello"
        stats = agent.context_stats()
        assert stats.subtasks == 1
        assert stats.models[0].requests == 3
        with pytest.raises(ConfigError, match="no tool write_fil"):
            await agent.run_subtask(SubtaskSpec("x", "s", "t", ("write_fil",)))


async def test_cancelling_a_subtask_or_closing_the_agent_stops_it(tmp_path: Path):
    slow = Slow()
    spec = SubtaskSpec("x", "s", "t", ("slow",))
    agent = played(tmp_path, calls("slow", path="a"), calls("slow", path="b"), tools=[slow])

    async def begun(count: int) -> asyncio.Task[SubtaskResult]:
        task = asyncio.create_task(agent.run_subtask(spec))
        seen = 0
        async for event in agent.events():
            seen += isinstance(event, ev.Entry) and isinstance(event.event, ev.ToolCallStarted)
            if seen == count:
                break
        return task

    first = await begun(1)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = await begun(2)
    await agent.close()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert slow.running == 0
    assert [row.outcome for row in agent.session.state.subtasks.values()] == ["interrupted", "interrupted"]
    with pytest.raises(AgentError, match="closed"):
        await agent.run_subtask(spec)


async def test_a_stop_is_one_line_of_the_log_whoever_listens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    async with played(tmp_path, *[calls("list_dir")] * 9) as agent:
        await agent.run("go")
        session = agent.session.id
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert line.startswith(f"agent: [session {session}] watchdog guardrail cut the turn in flight — ")
    assert caplog.records[-1].name == "agent_cli.operator"


async def test_guardrails_are_seen_and_reset(tmp_path: Path):
    settings = {"safety.watchdog": "enforce"}
    async with played(tmp_path, *[calls("list_dir")] * 9, {"text": "well"}, settings=settings) as agent:
        assert (agent.watchdog_tripped, agent.cost_ceiling_tripped) == ("", "")
        assert (await agent.run("go")).outcome == "loop-detected"
        assert "list_dir" in agent.watchdog_tripped
        assert agent.cost_ceiling_tripped == ""
        agent.reset_watchdog()
        assert agent.watchdog_tripped == ""
        for wrong in (float("nan"), float("inf"), -1.0):
            with pytest.raises(AgentError, match="cannot be added"):
                agent.add_session_cost_budget(wrong)
        agent.add_session_cost_budget(2.5)
        assert agent.session.state.halts.added_usd == 2.5


async def test_a_halted_session_says_why_nothing_runs(tmp_path: Path):
    async with played(tmp_path, {"text": "never"}) as agent:
        agent.session._core.record(
            ev.GuardrailTrip("watchdog", "", "halt", "session", "it went in circles", halted_turn=True)
        )
        reply = await agent.run("Go on.")
        assert (reply.outcome, reply.text) == ("halted", "")
        assert "it went in circles" in reply.problem


class Failing:
    """A program's own signal."""

    name = "failing"

    def __init__(self) -> None:
        self.count = 0

    def returned(self, result: Came, /) -> Alert | None:
        self.count = 0 if result.ok else self.count + 1
        return Alert(self.name, "critical", "session", "it fails") if self.count == 3 else None

    def forget(self) -> None:
        self.count = 0


async def test_a_program_watches_with_signals_of_its_own_and_not_with_ours(tmp_path: Path):
    made: list[Failing] = []

    def fresh() -> tuple[Failing, ...]:
        made.append(Failing())
        return (made[-1],)

    same = [calls("list_dir")] * 6
    bad = [calls("read_file", path=f"none-{n}") for n in range(9)]
    async with played(tmp_path, *same, {"text": "ok"}, *bad, signals=fresh) as agent:
        assert (await agent.run("go")).outcome == "completed", "ours would have stopped it"
        assert (await agent.run("and now?")).outcome == "loop-detected"
        assert agent.watchdog_tripped == "it fails"
        assert len(made) == 1
        agent.reset_watchdog()
        assert made[0].count == 0


async def test_a_program_answers_approvals(tmp_path: Path):
    write = calls("write_file", path="a.txt", content="x\n")
    async with played(tmp_path, write, {"text": "done"}, attended=True) as agent:
        turn = asyncio.create_task(agent.run("write"))
        async for event in agent.events():
            if isinstance(event, ev.Entry) and isinstance(event.event, ev.ApprovalRequested):
                agent.send(Answer(event.event.call_id, allowed=True))
                break
        await turn
        assert (tmp_path / "a.txt").read_text() == "x\n"


async def test_a_session_is_gone_on_with(tmp_path: Path):
    async with played(tmp_path, {"text": "one"}, ephemeral=False) as agent:
        await agent.run("first")
        name = agent.session.id
    async with played(tmp_path, {"text": "two"}, resume=name) as again:
        assert again.session.id == name
        assert (await again.run("second")).text == "two"
        assert again.session.state.turn == 2


class Handover:
    """Writes a summary without a model, or fails as a test says."""

    def __init__(self, text: str | Exception) -> None:
        self.text = text
        self.seen: list[tuple[tuple[Message, ...], str]] = []

    async def summarize(self, conversation: tuple[Message, ...], focus: str, /) -> str:
        self.seen.append((conversation, focus))
        if isinstance(self.text, Exception):
            raise self.text
        return self.text


async def talked(tmp_path: Path, compactor: Handover) -> Agent:
    replies = [{"text": f"answer {n} " + "word " * 900} for n in range(4)]
    agent = played(tmp_path, *replies, compactor=compactor)
    for number in range(3):
        await agent.run(f"question {number} " + "word " * 900)
    return agent


async def test_a_compactor_of_the_program_writes_the_summary_and_no_model_is_asked(tmp_path: Path):
    own = Handover("They counted words.")
    async with await talked(tmp_path, own) as agent:
        requests = agent.context_stats().models[0].requests
        done = await agent.compact("the counting")
        ((conversation, focus),) = own.seen
        assert focus == "the counting"
        assert "question 0" in str(conversation[0])
        assert "They counted words." in done.summary
        assert done.model == ""
        assert agent.context_stats().models[0].requests == requests
        assert (await agent.run("and now?")).text.startswith("answer 3")


@pytest.mark.parametrize("wrong", [ValueError("bug"), ""])
async def test_a_compactor_that_fails_is_a_failed_summary(tmp_path: Path, wrong: str | Exception):
    async with await talked(tmp_path, Handover(wrong)) as agent:
        with pytest.raises(AgentError, match=r"compaction: (ValueError: bug|the text is empty)"):
            await agent.compact()
        assert (await agent.run("and now?")).text.startswith("answer 3")


class Record:
    """Writes a record without a model."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    async def record(self, conversation: tuple[Message, ...], note: str, /) -> str:
        self.notes.append(note)
        return f"{len(conversation)} messages about words."


async def test_a_checkpoint_by_the_model_and_by_the_program(tmp_path: Path):
    replies = [{"text": "one"}, {"text": "# Task\nThe record."}, {"text": "two"}]
    async with played(tmp_path, *replies) as agent:
        assert (agent.has_compactor, agent.has_checkpointer) == (True, True)
        await agent.run("first")
        done = await agent.checkpoint("the first task")
        assert "The record." in done.record
        (made,) = agent.context_stats().boundaries
        assert (made.kind, made.note) == ("checkpoint", "the first task")
    own = Record()
    async with played(tmp_path, {"text": "one"}, {"text": "two"}, checkpointer=own) as agent:
        await agent.run("first")
        done = await agent.checkpoint("the first task")
        assert own.notes == ["the first task"]
        assert "2 messages about words." in done.record
        assert done.model == ""
        assert (await agent.run("second")).text == "two"
    async with played(tmp_path, {"text": "x"}, settings={"checkpoint.mode": "off"}) as agent:
        await agent.run("first")
        assert not agent.has_checkpointer
        with pytest.raises(AgentError, match="no checkpoint"):
            await agent.checkpoint()


class AfterEachTurn:
    def feed(self, event: ev.Recorded, /) -> str | None:
        return "a turn" if isinstance(event, ev.TurnCompleted) else None


@pytest.mark.parametrize(
    ("options", "notes"),
    [
        ({}, []),
        ({"settings": {"checkpoint.heuristic": True}}, ["read; mend"]),
        ({"settings": {"checkpoint.heuristic": True, "checkpoint.mode": "operator"}}, ["read; mend"]),
        ({"settings": {"checkpoint.heuristic": True, "checkpoint.mode": "off"}}, []),
        ({"heuristic": AfterEachTurn()}, ["a turn"]),
    ],
)
async def test_a_task_may_end_by_itself(tmp_path: Path, options: dict[str, Any], notes: list[str]):
    items = [{"text": "read", "status": "done"}, {"text": "mend", "status": "done"}]
    replies = [calls("todo", items=items), {"text": "done"}, {"text": "next"}]
    async with played(tmp_path, *replies, checkpointer=Record(), **options) as agent:
        await agent.run("first")
        assert agent.context_stats().boundaries == (), "nothing happens before the next turn"
        await agent.run("second")
        made = agent.context_stats().boundaries
        assert [(one.kind, one.mode, one.note) for one in made] == [
            ("checkpoint", "heuristic", note) for note in notes
        ]

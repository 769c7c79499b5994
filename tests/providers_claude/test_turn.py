"""A turn that the vendor's program does: every call takes the way that every other call takes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Compact, Interrupt
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import Usage
from agent_cli.ports import Facts, Proposal, Ruling
from tests.fakes.log import ListLog
from tests.fakes.sessions import ask_writes, run, say
from tests.fakes.tools import FakeTool, never
from tests.providers_claude.delegated import CARD, Delegated, calls, facts, names, results, until

READ = {"text": "I read.", "calls": calls(("read_file", "a"), ("read_file", "b"))}
DONE = {"text": "Done."}


async def test_calls_are_recorded_before_they_run_and_go_back_to_the_program(tmp_path: Path) -> None:
    fake, log, tool = Delegated(tmp_path, {"turns": [READ, DONE]}), ListLog(), FakeTool("read_file")
    session = fake.session(tool, log=log)
    await run(session, say("go"))
    assert tool.ran == ["a", "b"]
    assert names(log) == [
        "session-started",
        "turn-started",
        "operator-message",
        "step-started",
        "assistant-message",
        "usage",
        "tool-call-proposed",
        "tool-call-proposed",
        "tool-call-started",
        "tool-result",
        "tool-call-started",
        "tool-result",
        "step-started",
        "assistant-message",
        "usage",
        "guardrail-checked",
        "turn-completed",
    ]
    assert sorted(fake.seen("got")) == ["content of a", "content of b"]
    assert [call.call.name for call in facts(log, ev.ToolCallProposed)] == ["read_file", "read_file"]
    await session.close()
    assert fake.is_gone()


async def test_how_the_program_is_run(tmp_path: Path) -> None:
    fake = Delegated(tmp_path, {"turns": [READ, DONE]})
    session = fake.session(FakeTool("read_file"), FakeTool("grep"), limits=Limits(max_steps=7))
    await run(session, say("go"))
    assert fake.flags("--tools") == [""]
    assert fake.flags("--setting-sources") == [""]
    assert fake.flags("--model") == [CARD.id]
    assert fake.flags("--max-turns") == ["7"]
    assert fake.flags("--allowedTools") == ["mcp__cli__read_file,mcp__cli__grep"]
    assert fake.seen("mode") == ["0o600"]
    assert fake.seen("system") == ["You work in /p."]
    assert fake.heard() == ["go"]
    assert "CLAUDECODE" not in fake.seen("env")[0]
    assert fake.seen("url")[0].startswith("http://127.0.0.1:")
    assert not fake.has_config()
    await session.close()


async def test_the_next_turn_goes_on_with_the_session_and_its_file_goes_at_the_end(tmp_path: Path) -> None:
    fake = Delegated(tmp_path, {"turns": [DONE]}, {"turns": [DONE]})
    session = fake.session(FakeTool("read_file"))
    await run(session, say("one"))
    await run(session, say("two"))
    first = fake.flags("--session-id")[0]
    assert fake.flags("--session-id") == [first, None]
    assert fake.flags("--resume") == [None, first]
    assert fake.heard() == ["one", "two"]
    assert [path.stem for path in fake.kept()] == [first]
    await session.close()
    assert fake.kept() == []


async def test_a_session_that_another_process_began_is_told(tmp_path: Path) -> None:
    fake, log = Delegated(tmp_path, {"turns": [READ, DONE]}, {"turns": [DONE]}), ListLog()
    first = fake.session(FakeTool("read_file"), log=log)
    await run(first, say("one"))
    await first.close()
    session = fake.session(FakeTool("read_file"), log=log)
    await run(session, say("two"))
    await session.close()
    one, two = fake.flags("--session-id")
    assert one != two
    told = fake.heard()[1]
    assert "content of b" in told
    assert told.index("one") < told.index("content of a") < told.index("Done.") < told.index("two")
    assert told.endswith("two")


async def test_a_refusal_reaches_the_program_and_nothing_runs(tmp_path: Path) -> None:
    def deny(proposal: Proposal, given: Facts) -> Ruling:
        return Ruling("deny" if proposal.touches.subject == "a" else "allow", "no-a", "a is closed")

    fake, log, tool = Delegated(tmp_path, {"turns": [READ, DONE]}), ListLog(), FakeTool("read_file")
    await run(fake.session(tool, log=log, judge=deny), say("go"))
    assert tool.ran == ["b"]
    assert [executed for _, _, executed in results(log)] == [False, True]
    assert any("Refused (no-a): a is closed." in text for text in fake.seen("got"))
    assert sorted(fake.seen("failed")) == [False, True]


async def test_the_program_waits_for_an_approval(tmp_path: Path) -> None:
    turns = [{"calls": calls(("write_file", "a"))}, DONE]
    fake, log = Delegated(tmp_path, {"turns": turns}), ListLog()
    tool = FakeTool("write_file", read_only=False)
    session = fake.session(tool, log=log, judge=ask_writes)
    session.send(say("go"))
    async for event in session.events():
        if isinstance(event, ev.Entry) and isinstance(event.event, ev.ApprovalRequested):
            assert tool.ran == []
            session.send(Answer(event.event.call_id, allowed=True))
            break
    await session.idle()
    assert tool.ran == ["a"]
    assert fake.seen("got") == ["content of a"]
    await session.close()


async def test_what_is_typed_meanwhile_is_heard_with_the_results(tmp_path: Path) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def slow(path: str, show: object) -> str:
        entered.set()
        await go_on.wait()
        return "late"

    fake, log = Delegated(tmp_path, {"turns": [{"calls": calls(("read_file", "a"))}, DONE]}), ListLog()
    session = fake.session(FakeTool("read_file", slow), log=log)
    session.send(say("go"))
    await entered.wait()
    session.send(say("also that"))
    go_on.set()
    await session.idle()
    assert fake.heard() == ["go", "also that"]
    assert len(fake.seen("argv")) == 1
    await session.close()


async def test_a_call_of_a_tool_that_is_not_there_has_the_answer_that_the_program_gave(
    tmp_path: Path,
) -> None:
    turns = [{"calls": [*calls(("read_file", "a")), *calls(("Bash", "x"), native=True)]}, DONE]
    fake, log = Delegated(tmp_path, {"turns": turns}), ListLog()
    await run(fake.session(FakeTool("read_file"), log=log), say("go"))
    assert results(log) == [
        ("Bash", "No such tool available: Bash", False),
        ("read_file", "content of a", True),
    ]


async def test_calls_without_an_id_are_found_by_what_they_want(tmp_path: Path) -> None:
    turns = [{"calls": calls(("read_file", "a"), ("read_file", "b"), nameless=True)}, DONE]
    fake, tool = Delegated(tmp_path, {"turns": turns}), FakeTool("read_file")
    await run(fake.session(tool), say("go"))
    assert sorted(tool.ran) == ["a", "b"]
    assert sorted(fake.seen("got")) == ["content of a", "content of b"]


async def test_the_step_ceiling_lands_with_an_answer_of_a_program_without_tools(tmp_path: Path) -> None:
    one = {"calls": calls(("read_file", "a"))}
    fake, log = Delegated(tmp_path, {"turns": [one, one, one]}, {"turns": [{"text": "So far."}]}), ListLog()
    await run(fake.session(FakeTool("read_file"), log=log, limits=Limits(max_steps=2)), say("go"))
    ending = facts(log, ev.TurnCompleted)
    assert [end.exhausted for end in ending] == ["steps"]
    assert fake.flags("--max-turns") == ["2", "1"]
    assert fake.flags("--resume")[1] == fake.flags("--session-id")[0]
    assert fake.flags("--allowedTools")[1] is None
    assert "content of a" in fake.heard()[1]
    assert "Answer now, without tools." in fake.heard()[1]
    assert fake.is_gone()


async def test_the_tool_call_ceiling_holds_in_the_bridge(tmp_path: Path) -> None:
    fake, tool = Delegated(tmp_path, {"turns": [READ]}, {"turns": [DONE]}), FakeTool("read_file")
    log = ListLog()
    await run(fake.session(tool, log=log, limits=Limits(max_tool_calls=1)), say("go"))
    assert tool.ran == []
    assert [end.exhausted for end in facts(log, ev.TurnCompleted)] == ["tool-calls"]


async def test_tokens_are_counted_by_step_and_what_it_spent_besides_at_the_end(tmp_path: Path) -> None:
    beside = {"input_tokens": 40, "output_tokens": 3}
    models = {"claude-haiku-4-5": {"inputTokens": 11, "outputTokens": 2}}
    fake, log = Delegated(tmp_path, {"turns": [READ, DONE], "beside": beside, "models": models}), ListLog()
    await run(fake.session(FakeTool("read_file"), log=log), say("go"))
    rows = [(fact.model, fact.usage, fact.purpose) for fact in facts(log, ev.UsageReported)]
    step = Usage(input=100, cache_read=10, cache_write=5, output=7)
    assert rows == [
        (CARD.id, step, "step"),
        (CARD.id, Usage(input=40, output=3), "subtask"),
        ("claude-haiku-4-5", Usage(input=11, output=2), "subtask"),
        (CARD.id, step, "step"),
    ]
    assert all(fact.cost for fact in facts(log, ev.UsageReported))


async def test_the_cost_ceiling_stops_it_before_its_calls_run(tmp_path: Path) -> None:
    fake, tool, log = Delegated(tmp_path, {"turns": [READ, DONE]}), FakeTool("read_file"), ListLog()
    await run(fake.session(tool, log=log, limits=Limits(max_turn_cost=0.000001)), say("go"))
    assert tool.ran == []
    assert [end.exhausted for end in facts(log, ev.TurnError)] == ["cost"]
    assert fake.is_gone()


@pytest.mark.parametrize("when", ["in a tool", "in the answer"])
async def test_an_interrupt_ends_the_program(tmp_path: Path, when: str) -> None:
    hang = {"turns": [READ], "fault": "hang"} if when == "in the answer" else {"turns": [READ]}
    fake, log = Delegated(tmp_path, hang, {"turns": [DONE]}), ListLog()
    session = fake.session(FakeTool("read_file", never), log=log)
    session.send(say("go"))
    await until(lambda: fake.heard() if when == "in the answer" else facts(log, ev.ToolCallStarted))
    session.send(Interrupt())
    await session.idle()
    assert [end.outcome for end in facts(log, ev.TurnError)] == ["interrupted"]
    assert fake.is_gone()
    await run(session, say("and now"))
    assert facts(log, ev.TurnCompleted)
    assert fake.heard()[-1].endswith("and now")
    if when == "in a tool":
        assert "cancelled by the operator" in fake.heard()[-1]
    await session.close()


async def test_its_conversation_is_not_compacted_here(tmp_path: Path) -> None:
    fake, log = Delegated(tmp_path, {"turns": [DONE]}), ListLog()
    session = fake.session(FakeTool("read_file"), log=log)
    await run(session, say("go"))
    await run(session, Compact())
    assert "compacts its conversation by itself" in facts(log, ev.OperatorNote)[-1].text
    assert session.state.context_limit is None
    await session.close()


async def test_a_message_that_looks_like_a_command_is_a_message(tmp_path: Path) -> None:
    fake = Delegated(tmp_path, {"turns": [DONE]})
    await run(fake.session(FakeTool("read_file")), say("/clear all"))
    assert fake.heard() == ["The operator says:\n/clear all"]

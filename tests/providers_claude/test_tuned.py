"""What the operator set for single tools holds for the program too."""

from __future__ import annotations

from pathlib import Path

from agent_cli.engine.parts import Settings
from agent_cli.engine.tuning import Tuning
from agent_cli.kernel import events as ev
from tests.fakes.log import ListLog
from tests.fakes.sessions import run, say
from tests.fakes.tools import FakeTool
from tests.providers_claude.delegated import Delegated, calls, facts, results

DONE = {"text": "Done."}


def tuned(**tunings: Tuning) -> Settings:
    return Settings(run_status=False, tunings=tunings)


async def test_a_tool_runs_as_often_as_it_may(tmp_path: Path) -> None:
    reads = {"calls": calls(("read_file", "a"), ("read_file", "b"))}
    fake, tool, log = Delegated(tmp_path, {"turns": [reads, DONE]}), FakeTool("read_file"), ListLog()
    session = fake.session(tool, log=log, settings=tuned(read_file=Tuning(max_calls=1)))
    await run(session, say("go"))
    await session.close()
    assert tool.ran == ["a"]
    told = [text for _, text, _ in results(log)]
    assert any("may be called 1 times" in text for text in told)
    assert sorted(fake.seen("got")) == sorted(told), "the program hears why"


async def test_a_pinned_argument_is_not_the_programs_to_give(tmp_path: Path) -> None:
    reads = {"calls": calls(("read_file", "mine"))}
    fake, tool = Delegated(tmp_path, {"turns": [reads, DONE]}), FakeTool("read_file")
    session = fake.session(tool, settings=tuned(read_file=Tuning(args={"path": "theirs"})))
    await run(session, say("go"))
    await session.close()
    assert tool.ran == ["theirs"]


async def test_a_required_tool_is_asked_for_once_more(tmp_path: Path) -> None:
    checks = {"calls": calls(("check", "a"))}
    plan = {"turns": [{"text": "Done too early."}], "more": [checks, DONE]}
    fake, tool, log = Delegated(tmp_path, plan), FakeTool("check"), ListLog()
    session = fake.session(tool, log=log, settings=tuned(check=Tuning(required=True)))
    await run(session, say("go"))
    await session.close()
    assert fake.heard() == ["go", "Call check next: it is required."]
    assert tool.ran == ["a"]
    assert len(facts(log, ev.TurnCompleted)) == 1
    assert fake.is_gone()

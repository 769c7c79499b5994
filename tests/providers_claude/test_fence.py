"""A program that does not have exactly the tools it was given, and one that fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_cli.kernel import events as ev
from agent_cli.providers.claude import child
from tests.fakes.log import ListLog
from tests.fakes.sessions import run, say
from tests.fakes.tools import FakeTool
from tests.providers_claude.delegated import Delegated, calls, facts, results

READ = {"text": "I read.", "calls": calls(("read_file", "a"))}
DONE = {"text": "Done."}


def tools() -> list[FakeTool]:
    return [FakeTool("read_file"), FakeTool("write_file", read_only=False)]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("extra-tool", "it has Bash besides"),
        ("lacking-tool", "it lacks mcp__cli__read_file"),
        ("no-init", "began to answer without having said which tools it has"),
        ("only-result", "reported a result without having said which tools it has"),
        ("wrong-token", "it lacks mcp__cli__read_file, mcp__cli__write_file"),
    ],
)
async def test_another_tool_surface_ends_the_program_and_is_not_tried_again(
    tmp_path: Path, fault: str, told: str
) -> None:
    fake, log, given = Delegated(tmp_path, {"turns": [DONE], "fault": fault}), ListLog(), tools()
    session = fake.session(*given, log=log)
    await run(session, say("go"))
    ended = facts(log, ev.TurnError)
    assert [(end.error_kind, end.exit_code) for end in ended] == [("error", 1)]
    assert told in ended[0].message
    assert len(fake.seen("argv")) == 1
    assert [tool.ran for tool in given] == [[], []]
    assert fake.seen("rogue") == []
    assert fake.is_gone()
    await session.close()


async def test_no_call_runs_before_the_tools_are_known(tmp_path: Path) -> None:
    fake, log, given = Delegated(tmp_path, {"turns": [READ, DONE], "fault": "no-init"}), ListLog(), tools()
    await run(fake.session(*given, log=log), say("go"))
    assert [end.error_kind for end in facts(log, ev.TurnError)] == ["error"]
    assert given[0].ran == []
    assert results(log) == []


async def test_a_second_client_is_refused(tmp_path: Path) -> None:
    fake, log = Delegated(tmp_path, {"turns": [READ, DONE], "fault": "second-client"}), ListLog()
    await run(fake.session(*tools(), log=log), say("go"))
    assert fake.seen("second") == [{"status": 401}]
    assert facts(log, ev.TurnCompleted)


async def test_lines_that_nobody_understands_are_passed_over(tmp_path: Path) -> None:
    fake, log = Delegated(tmp_path, {"turns": [READ, DONE], "fault": "garbage"}), ListLog()
    await run(fake.session(*tools(), log=log), say("go"))
    assert results(log) == [("read_file", "content of a", True)]
    assert facts(log, ev.TurnCompleted)


@pytest.mark.parametrize("fault", ["no-result", "crash-in-text", "crash-in-calls"])
async def test_one_that_exits_without_a_result_goes_on_with_its_session(tmp_path: Path, fault: str) -> None:
    fake, log = Delegated(tmp_path, {"turns": [READ, DONE], "fault": fault}, {"turns": [DONE]}), ListLog()
    given = tools()
    await run(fake.session(*given, log=log), say("go"))
    assert [retry.error_kind for retry in facts(log, ev.Retry)] == ["stream-cut"]
    assert "exited without reporting a result" in facts(log, ev.Retry)[0].reason
    assert fake.flags("--resume")[1] == fake.flags("--session-id")[0]
    assert len(facts(log, ev.TurnCompleted)) == 1
    assert given[0].ran == ([] if fault == "crash-in-text" else ["a"])
    assert fake.is_gone()
    if fault == "crash-in-calls":
        assert "content of a" in fake.heard()[1]


async def test_attempts_are_starts(tmp_path: Path) -> None:
    fake, log = Delegated(tmp_path, *[{"fault": "die"}] * 3), ListLog()
    await run(fake.session(*tools(), log=log), say("go"))
    assert len(fake.seen("argv")) == 3
    assert len(facts(log, ev.Retry)) == 2
    ended = facts(log, ev.TurnError)
    assert [(end.error_kind, end.exit_code) for end in ended] == [("provider", 75)]
    assert "exit code 3" in ended[0].message
    assert "it does not want to" in ended[0].message


async def test_a_session_that_it_has_lost_is_told_to_a_new_one(tmp_path: Path) -> None:
    plans: list[dict[str, Any]] = [{"turns": [DONE]}, {"fault": "lost"}, {"turns": [DONE]}]
    fake, log = Delegated(tmp_path, *plans), ListLog()
    session = fake.session(*tools(), log=log)
    await run(session, say("one"))
    await run(session, say("two"))
    assert len(facts(log, ev.TurnCompleted)) == 2
    one, lost, two = fake.flags("--session-id")
    assert lost is None
    assert one != two
    assert "one" in fake.heard()[-1]
    await session.close()
    assert fake.kept() == []


@pytest.mark.parametrize(
    ("result", "kind", "starts"),
    [
        ({"api_error_status": 529, "result": "API Error: 529 Overloaded"}, "provider", 3),
        ({"api_error_status": 401, "result": "Invalid API key"}, "error", 1),
        ({"result": "Not logged in · Please run /login"}, "error", 1),
        ({"result": "API Error: Unable to connect to API (ECONNREFUSED)"}, "provider", 3),
        ({"api_error_status": 400, "result": "Prompt is too long"}, "overflow", 1),
        ({"subtype": "error_max_turns", "result": ""}, "error", 1),
    ],
)
async def test_what_its_service_said_decides(
    tmp_path: Path, result: dict[str, Any], kind: str, starts: int
) -> None:
    fake, log = Delegated(tmp_path, *[{"result": {"is_error": True, **result}}] * 3), ListLog()
    await run(fake.session(*tools(), log=log), say("go"))
    assert [end.error_kind for end in facts(log, ev.TurnError)] == [kind]
    assert len(fake.seen("argv")) == starts
    assert fake.is_gone()


async def test_one_that_hangs_is_ended_and_started_again(tmp_path: Path) -> None:
    fake, log = Delegated(tmp_path, {"fault": "hang"}, {"turns": [DONE]}), ListLog()
    session = fake.session(*tools(), log=log, patience=1.0)
    await run(session, say("go"))
    assert [retry.error_kind for retry in facts(log, ev.Retry)][:1] == ["connection"]
    assert fake.is_gone()


async def test_a_line_without_an_end_ends_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "LONGEST_LINE", 1_000_000)
    fake, log = Delegated(tmp_path, {"fault": "endless-line"}), ListLog()
    await run(fake.session(*tools(), log=log), say("go"))
    assert "wrote a line of more than" in facts(log, ev.TurnError)[0].message
    assert len(fake.seen("argv")) == 1
    assert fake.is_gone()

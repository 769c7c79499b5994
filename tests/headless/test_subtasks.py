"""A run whose model had a subtask read for it: the answer, steps and calls are its own, the cost is all of it."""

from __future__ import annotations

import json

import pytest

from agent_cli.headless.narration import Level, Narrator
from agent_cli.headless.run import run_once
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import SetMode
from agent_cli.kernel.messages import Text
from agent_cli.kernel.usage import Usage
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.paper import Paper
from tests.fakes.two_models import asks, opened, tools

BRANCH = "s1:sub:agentic_grep-1"


async def play(output_format: str, log: ListLog | None = None) -> str:
    small = Playing(
        wants(("grep", {"path": "x"}), usage=Usage(input=1_000)),
        says("it is in a.py", usage=Usage(input=1_000)),
    )
    session = opened(Playing(asks("where?"), says("In a.py.")), small, *tools(), log=log or ListLog())
    with Paper(output_format) as paper:
        assert await run_once(session, (Text("where is it?"),), paper.printer, strict=False) == 0
        return paper.out


async def test_the_answer_is_the_runs_own_and_the_cost_is_all_of_it():
    result = json.loads(await play("json"))
    assert result["answer"] == "In a.py."
    assert (result["steps"], result["tool_calls"]) == (2, 1)
    assert result["cost_usd"] == pytest.approx(2 * 0.1 + 2 * 120e-6)
    assert {row["model"] for row in result["models"]} == {"fake-1", "small-1"}
    assert result["usage"]["input"] == 2_200


async def test_each_line_says_whose_it_is():
    lines = [json.loads(line) for line in (await play("stream-json")).splitlines()]
    facts = [line for line in lines if "seq" in line]
    assert {line["branch"] for line in facts} == {"", BRANCH}
    inner = [line["type"] for line in facts if line["branch"]]
    assert inner[:3] == ["turn-started", "operator-message", "step-started"]
    assert inner[-1] == "turn-completed"
    started = next(line for line in facts if line["type"] == "subtask-started")
    assert (started["subtask"], started["branch"], started["model"]) == (BRANCH, "", "small-1")
    assert [line["type"] for line in facts if line["type"].startswith("turn-") and not line["branch"]] == [
        "turn-started",
        "turn-completed",
    ]
    assert lines[-1]["answer"] == "In a.py."


async def test_as_text_there_is_only_the_answer():
    assert await play("text") == "In a.py.\n"


async def test_what_it_does_is_told_where_much_is_told():
    log = ListLog()
    await play("text", log)
    narrator = Narrator("s1")
    told = [line for entry in log.read() if entry.branch and (line := narrator.tell(entry))]
    assert [level for level, _ in told] == [Level.VERBOSE] * 3
    assert told[1][1] == "  agentic_grep-1: grep x: ok (0.00 s)"
    retry = ev.Entry("s1", 1, 0.0, 1, 1, ev.Retry(1, 3, 2.0, "overloaded", "busy"), BRANCH)
    waits = narrator.tell(retry)
    assert waits is not None
    assert waits[0] is Level.NORMAL
    assert "agentic_grep-1: the request failed" in waits[1]


async def test_what_was_noted_while_the_session_was_opened_is_told():
    log = ListLog()
    await play("text", log)
    again = opened(Playing(says("ok")), Playing(), log=log, notices=("look here",))
    again.send(SetMode("plan"))
    with Paper() as paper:
        await run_once(again, (Text("go on"),), paper.printer)
        assert "look here" in paper.err
        assert "agentic_grep" not in paper.err

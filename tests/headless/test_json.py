"""One object whose fields agree with the exit code; a line an event."""

from __future__ import annotations

import json

import pytest

from agent_cli.headless.run import run_once
from agent_cli.headless.summary import never_began
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import ConfigError, RateLimited, SessionLocked
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.records import line_of
from tests.fakes.feed import DONE, Feed, ran, step
from tests.fakes.paper import Paper

FIELDS = [
    "answer", "outcome", "finish_reason", "exhausted", "session", "model", "usage", "cost_usd", "cost_estimated", "models",
    "steps", "step_usage", "tool_calls", "trips", "error", "structured", "duration_s", "exit_code",
]  # fmt: skip
READ = ToolCall("c1", "read_file", {"path": "notes.txt"})


async def play(output_format, *script, strict=False):
    with Paper(output_format) as paper:
        code = await run_once(Feed(*script), (Text("hello"),), paper.printer, strict=strict)
        return code, paper.lines


async def one(*script, strict=False):
    code, lines = await play("json", *script, strict=strict)
    assert len(lines) == 1
    assert lines[0]["exit_code"] == code
    assert list(lines[0]) == FIELDS
    return lines[0]


async def test_the_object_of_an_answer():
    result = await one(*step("Look.", READ), *ran(READ, "42"), *step("It is 42."), DONE)
    duration = result.pop("duration_s")
    assert duration >= 0
    each = {"input": 100, "cache_read": 20, "cache_write": 3, "output": 40, "reasoning": 5}
    rows = result.pop("step_usage")
    assert [row.pop("step") for row in rows] == [1, 2]
    assert (
        rows
        == [
            {
                "turn": 1,
                "model": "scripted-1",
                "usage": each,
                "cached_share": 0.1626,
                "cost_usd": 0.25,
                "estimated": False,
            }
        ]
        * 2
    )
    usage = {"input": 200, "cache_read": 40, "cache_write": 6, "output": 80, "reasoning": 10}
    assert result == {
        "answer": "It is 42.",
        "outcome": "completed",
        "finish_reason": "stop",
        "exhausted": None,
        "session": "S1",
        "model": "scripted-1",
        "usage": usage,
        "cost_usd": 0.5,
        "cost_estimated": False,
        "models": [{"model": "scripted-1", "usage": usage, "cost_usd": 0.5}],
        "steps": 2,
        "tool_calls": 1,
        "trips": [],
        "error": None,
        "structured": None,
        "exit_code": 0,
    }


async def test_one_unpriced_request_makes_the_cost_unknown():
    result = await one(*step("a", READ, cost=None), *ran(READ, "x"), *step("b"), DONE)
    assert result["cost_usd"] is None
    assert result["models"][0]["cost_usd"] is None


async def test_the_object_of_a_cut_turn():
    trip = ev.GuardrailTrip("cost_ceiling", "cost", "halt", "turn", "too dear", halted_turn=True)
    end = ev.TurnError("canceled", "guardrail-stop", 1, "too dear", "cost")
    result = await one(*step("half an answer"), trip, end)
    assert result["answer"] is None
    assert result["outcome"] == "guardrail-stop"
    assert result["exhausted"] == "cost"
    assert result["finish_reason"] is None
    assert result["error"] == {"kind": "canceled", "message": "too dear"}
    assert result["trips"] == [
        {"guardrail": "cost_ceiling", "signal": "cost", "scope": "turn", "reason": "too dear"}
    ]
    assert result["exit_code"] == 1


async def test_strict_makes_a_soft_landing_an_error_with_its_answer():
    landed = ev.TurnCompleted("budget-exhausted", "budget-exhausted", exhausted="tokens")
    soft = await one(*step("so far"), landed)
    assert (soft["exit_code"], soft["error"], soft["exhausted"]) == (0, None, "tokens")
    hard = await one(*step("so far"), landed, strict=True)
    assert (hard["exit_code"], hard["answer"], hard["error"]["kind"]) == (1, "so far", "budget-exhausted")


async def test_strict_takes_no_answer_that_its_output_limit_cut_off():
    cut = ev.AssistantMessage((Text("so f"),), "scripted", "scripted-1", finish_reason="length")
    script = (ev.StepStarted("scripted-1"), cut, ev.TurnCompleted("completed", "max_tokens"))
    loose = await one(*script)
    assert (loose["exit_code"], loose["error"], loose["finish_reason"]) == (0, None, "max_tokens")
    hard = await one(*script, strict=True)
    assert (hard["exit_code"], hard["outcome"], hard["error"]["kind"]) == (1, "error", "cut-off")
    whole = await one(*script[:2], *step("ar."), DONE, strict=True)
    assert (whole["exit_code"], whole["error"]) == (0, None)


async def test_a_log_that_breaks_is_an_error():
    feed = Feed(*step("x"), DONE)
    feed.log.full = True
    with Paper("json") as paper:
        assert await run_once(feed, (Text("hello"),), paper.printer) == 1
        assert paper.lines[0]["error"] == {"kind": "store", "message": "the session database is full"}
        assert paper.err == "agent: [session S1] the session database is full (exit 1)\n"


@pytest.mark.parametrize(
    ("problem", "code", "kind"),
    [
        (ConfigError("no key"), 2, "config"),
        (SessionLocked("in use"), 1, "session-locked"),
        (RateLimited("later"), 75, "rate-limit"),
    ],
)
def test_the_object_of_a_run_that_never_began(problem, code, kind):
    with Paper("json") as paper:
        paper.printer.finish(never_began(problem))
        (result,) = paper.lines
        assert list(result) == FIELDS
        assert (result["exit_code"], result["session"], result["outcome"]) == (code, None, "error")
        assert result["error"] == {"kind": kind, "message": str(problem)}
        assert paper.err == f"agent: {problem} (exit {code})\n"


# ── stream-json ──


async def test_every_event_is_a_line_with_its_place_and_every_field():
    code, lines = await play("stream-json", *step("Look.", READ), *ran(READ, "42"), *step("It| is"), DONE)
    assert code == 0
    assert all(line["v"] == 1 for line in lines)
    assert [line["type"] for line in lines] == [
        "session-started", "turn-started", "operator-message",
        "step-started", "text-delta", "assistant-message", "usage",
        "tool-call-proposed", "tool-call-started", "tool-result",
        "step-started", "text-delta", "text-delta", "assistant-message", "usage",
        "turn-completed", "session-ended", "result",
    ]  # fmt: skip
    facts = [line for line in lines if "seq" in line]
    assert [line["seq"] for line in facts] == list(range(1, len(facts) + 1))
    for line in lines[:-1]:
        assert line["session"] == "S1"
    assert lines[9] == {
        "v": 1, "type": "tool-result", "session": "S1", "turn": 1, "step": 1, "seq": 9,
        "time": 1_700_000_000.0, "branch": "", "call_id": "c1", "tool": "read_file",
        "output": {
            "for_model": [{"kind": "text", "text": "42"}],
            "for_human": None, "ok": True, "no_op": False, "empty": False, "changed": [],
            "restless": [],
        },
        "executed": True, "duration_s": 0.5,
    }  # fmt: skip
    assert lines[4] == {"v": 1, "type": "text-delta", "session": "S1", "turn": 1, "step": 1, "text": "Look."}


async def test_the_last_line_is_the_same_object():
    script = (*step("It is 42."), DONE)
    _, lines = await play("stream-json", *script)
    single = await one(*script)
    last = {key: value for key, value in lines[-1].items() if key not in ("v", "type", "duration_s")}
    assert last == {key: value for key, value in single.items() if key != "duration_s"}


async def test_half_a_surrogate_pair_is_escaped_not_fatal():
    with Paper("stream-json") as paper:
        paper.printer.event(ev.TextDelta("\ud83d"))
        assert json.loads(paper.out)["text"] == "\ud83d"


def test_a_line_stays_one_line_for_every_reader():
    text = "a\x85b\u2028c\u2029d\x9be\x7f\n"
    line = line_of({"text": text})
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text}

"""Every way in which a one-shot run can end: its outcome, its exit code, and the fields that agree with them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any, NamedTuple

import pytest

from agent_cli.cli.entry import run

ANSWER = {"text": "It is 42."}
LOOK = {"calls": [{"name": "read_file", "arguments": {"path": "notes.txt"}}]}
LONG = {"text": "word " * 400, "pace_ms": 20}
DOWN = {"fault": {"kind": "rate-limit", "retry_after": 0, "message": "slow down"}}
CUT = {"text": "It is", "fault": {"kind": "stream-cut", "after": 1}}


class Ending(NamedTuple):
    """What is played, how it is asked for, and what comes of it. None of `kind` means that there is no error."""

    replies: list[dict[str, Any]]
    argv: tuple[str, ...]
    code: int
    outcome: str
    kind: str | None = None
    answer: str | None = None
    exhausted: str | None = None
    trip: str | None = None


ENDINGS = {
    "an answer": Ending([LOOK, ANSWER], (), 0, "completed", answer="It is 42."),
    "an answer after attempts": Ending([DOWN, ANSWER], (), 0, "completed", answer="It is 42."),
    "a soft landing": Ending(
        [LOOK, ANSWER], ("--max-steps", "1"), 0, "budget-exhausted", answer="It is 42.", exhausted="steps",
        trip="step_ceiling",
    ),
    "a soft landing that is not accepted": Ending(
        [LOOK, ANSWER], ("--max-steps", "1", "--strict"), 1, "budget-exhausted", "budget-exhausted", "It is 42.", "steps",
        "step_ceiling",
    ),
    "a budget that fails": Ending(
        [LOOK, ANSWER], ("--max-steps", "1", "--on-exhaustion", "fail"), 1, "budget-exhausted", "canceled",
        exhausted="steps", trip="step_ceiling",
    ),
    "a loop": Ending([LOOK] * 9, (), 1, "loop-detected", "canceled", trip="watchdog"),
    "no progress": Ending(
        [{"calls": [{"name": "grep", "arguments": {"pattern": f"none of {n}"}}]} for n in range(20)], (), 1,
        "no-progress", "canceled", trip="watchdog",
    ),
    "a context that does not fit": Ending(
        [{"fault": {"kind": "overflow", "used": 9, "limit": 8}}] * 6, (), 1, "context-overflow", "overflow"
    ),
    "a service that stays away": Ending([DOWN] * 3, (), 75, "error", "provider"),
    "streams that are cut": Ending([CUT] * 3, (), 75, "error", "provider"),
    "a key that is refused": Ending([{"fault": "auth"}], (), 1, "error", "error"),
    "a request that is refused": Ending([{"fault": "request"}], (), 1, "error", "error"),
    "an answer that does not fit the schema": Ending(
        [ANSWER, ANSWER], ("--json-schema", "schema.json"), 1, "error", "schema"
    ),
    "an answer that fits the schema": Ending([{"text": "42"}], ("--json-schema", "schema.json"), 0, "completed", answer="42"),
    "a wrong option": Ending([ANSWER], ("--effort", "hihg"), 2, "error", "usage"),
    "an unknown option": Ending([ANSWER], ("--efort", "high"), 2, "error", "usage"),
    "options that contradict": Ending([ANSWER], ("--ephemeral", "-c"), 2, "error", "usage"),
    "a wrong setting": Ending([ANSWER], ("--config", "wrong.json"), 2, "error", "config"),
    "a wrong schema": Ending([ANSWER], ("--json-schema", "wrong.json"), 2, "error", "config"),
    "no model": Ending([ANSWER], ("--provider", "anthropic"), 2, "error", "config"),
    "no such session": Ending([ANSWER], ("-r", "nothing-like-it"), 2, "error", "session-not-found"),
}  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("42\n")
    (tmp_path / "schema.json").write_text('{"type": "integer"}')
    (tmp_path / "wrong.json").write_text('{"type": 3}')
    return tmp_path


def line_of(project, ending: Ending) -> list[str]:
    script = project.parent / f"{project.name}.jsonl"  # where nothing that is searched for finds it
    script.write_text("".join(json.dumps(reply) + "\n" for reply in ending.replies))
    played = [] if "--provider" in ending.argv else ["--script", str(script)]
    return ["-p", "what do the notes say?", *played, *ending.argv]


def agrees(result: dict[str, Any], code: int, ending: Ending) -> None:
    assert (result["exit_code"], result["outcome"]) == (code, ending.outcome)
    assert result["answer"] == ending.answer
    assert result["exhausted"] == ending.exhausted
    assert (result["error"] and result["error"]["kind"]) == ending.kind
    assert (result["error"] is None) == (code == 0)
    trips = [trip["guardrail"] for trip in result["trips"]]
    assert trips == ([ending.trip] if ending.trip else [])
    assert (result["session"] is None) == (code == 2 or ending.kind == "session-not-found")
    if result["error"]:
        assert result["error"]["message"]


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_is_told_by_its_exit_code_and_its_object(name, project, capfd):
    ending = ENDINGS[name]
    code = run([*line_of(project, ending), "--output-format", "json"])
    said = capfd.readouterr()
    assert code == ending.code
    assert said.out.count("\n") == 1
    agrees(json.loads(said.out), code, ending)
    assert said.err.rstrip().endswith(f"(exit {code})") == (code != 0)


@pytest.mark.parametrize("name", ENDINGS)
def test_the_same_ending_in_text_and_as_a_stream(name, project, capfd):
    ending = ENDINGS[name]
    line = line_of(project, ending)
    code = run(line)
    said = capfd.readouterr()
    assert code == ending.code
    assert said.out == (f"{ending.answer}\n" if ending.answer else "")
    assert said.err.rstrip().endswith(f"(exit {code})") == (code != 0)
    code = run([*line, "--output-format", "stream-json", "--quiet"])
    *events, last = map(json.loads, capfd.readouterr().out.splitlines())
    assert (code, last.pop("type"), last.pop("v")) == (ending.code, "result", 1)
    agrees(last, code, ending)
    assert all(event["v"] == 1 for event in events)


def test_a_session_that_is_halted_refuses_with_3(project, capfd):
    ending = ENDINGS["a loop"]
    assert run([*line_of(project, ending), "--name", "stuck"]) == 1
    capfd.readouterr()
    code = run(["-p", "go on", "-r", "stuck", "--provider", "echo", "--output-format", "json"])
    said = capfd.readouterr()
    agrees(json.loads(said.out), code, Ending([], (), 3, "halted", "refused"))
    assert code == 3
    assert said.err.rstrip().endswith("(exit 3)")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_told_apart_too(project, number, code):
    ending = Ending([LONG], (), code, "interrupted", "canceled")
    running = subprocess.Popen(
        [sys.executable, "-m", "agent_cli", *line_of(project, ending), "--output-format", "stream-json"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    for line in running.stdout:
        if b"text-delta" in line:
            running.send_signal(number)
            break
    out, err = running.communicate(timeout=30)
    last = json.loads(out.splitlines()[-1])
    assert running.returncode == code
    agrees(last, code, ending)
    assert err.decode().rstrip().endswith(f"(exit {code})")

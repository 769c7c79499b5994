"""Questions of the model in a one-shot run: put on stderr, answered on standard input."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_cli.headless.questions import Questions
from agent_cli.kernel.commands import Answer
from agent_cli.kernel.events import ApprovalRequested

WHICH = {
    "calls": [{"name": "ask_user", "arguments": {"question": "Which name?", "options": ["alpha", "beta"]}}]
}
WHY = {"calls": [{"name": "ask_user", "arguments": {"question": "And why?\x1b[2J"}}]}
DONE = {"text": "Done."}


def played(
    place: Path, *argv: str, said: bytes, replies: tuple[object, ...] = (WHICH, WHY, DONE)
) -> tuple[int, str, list[str]]:
    """Exit code, stderr, and what the model read of each call."""
    script = place / "script.jsonl"
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    environ = {**os.environ, "HOME": str(place), "AGENT_CLI_HOME": str(place / "state")}
    words = [
        sys.executable,
        "-m",
        "agent_cli",
        *argv,
        "--script",
        str(script),
        "--output-format",
        "stream-json",
    ]
    done = subprocess.run(
        words, input=said, capture_output=True, cwd=place, env=environ, timeout=30, check=False
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    results = [event["output"]["for_model"][0]["text"] for event in events if event["type"] == "tool-result"]
    return done.returncode, done.stderr.decode(), results


def test_a_number_and_words_are_answers(tmp_path: Path) -> None:
    code, err, results = played(tmp_path, "-p", "go", "--ask", "stdin", "--quiet", said=b"2\n\nbecause\n")
    assert (code, results) == (0, ["The operator answered: beta", "The operator answered: because"])
    assert "? Which name?\n1 alpha\n2 beta\n" in err
    assert "? And why?\n" in err, "what would steer the terminal is taken out"


def test_where_the_input_ends_the_model_is_told_that_nobody_answers(tmp_path: Path) -> None:
    code, _, results = played(tmp_path, "-p", "go", "--ask", "stdin", said=b"1\n")
    assert (code, results[0]) == (0, "The operator answered: alpha")
    assert results[1].startswith("The operator does not answer this question")


def test_calls_that_need_approval_are_refused_as_ever(tmp_path: Path) -> None:
    write = {"calls": [{"name": "write_file", "arguments": {"path": "a", "content": "x"}}]}
    code, _, results = played(tmp_path, "-p", "go", "--ask", "stdin", said=b"y\n", replies=(write, DONE))
    assert code == 0
    assert results[0].startswith("Refused (mode: ask)")
    assert not (tmp_path / "a").exists()


def test_stdin_is_not_the_prompt_then(tmp_path: Path) -> None:
    code, err, _ = played(tmp_path, "-p", "--ask", "stdin", said=b"go\n")
    assert code == 2
    assert "standard input is for your answers" in err


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ((), False),
        (("--ask", "off"), False),
        (("--ask", "auto"), True),
        (("--task", "chat", "--provider", "scripted"), True),
    ],
)
def test_where_nobody_is_there_the_tool_is_left_out_unless_somebody_said_so(
    tmp_path: Path, words: tuple[str, ...], offered: bool
) -> None:
    code, _, results = played(tmp_path, "-p", "go", *words, said=b"", replies=(WHICH, DONE))
    assert code == 0
    assert results[0].startswith("Nobody is here to answer." if offered else "There is no tool 'ask_user'")


async def test_what_is_typed_ahead_waits_for_the_next_question() -> None:
    reader, writer = os.pipe()
    sent: list[Answer] = []
    shown: list[str] = []
    answered = asyncio.Event()

    def send(answer: Answer) -> None:
        sent.append(answer)
        answered.set()

    questions = Questions(send, shown.append, reader)
    os.write(writer, b"one\n7\n")
    questions.put(ApprovalRequested("a", "ask_user", "First?", "", "", options=("x",)))
    await answered.wait()
    questions.put(ApprovalRequested("b", "ask_user", "Second?", "", "", options=("x",)))
    os.close(writer)
    while len(sent) < 2:
        answered.clear()
        await answered.wait()
    assert sent == [Answer("a", allowed=True, edit="one"), Answer("b", allowed=True, edit="7")]
    assert [line for line in shown if line.startswith("?")] == ["? First?", "? Second?"]
    os.close(reader)

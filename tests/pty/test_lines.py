"""`--no-tui` as a person meets it: in a terminal, in a dumb one, through a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pty.terminal import Terminal

pytestmark = [pytest.mark.pty, pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")]

REPLIES = [
    {"text": "I will write it.", "calls": [{"name": "write_file", "arguments": {"path": "a.txt", "content": "hi\n"}}]},
    {"text": "It is written."},
    {"text": "word " * 400, "pace_ms": 50},
]  # fmt: skip


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.jsonl"
    path.write_text("".join(json.dumps(reply) + "\n" for reply in REPLIES))
    return str(path)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_conversation_with_an_approval_an_interrupt_and_an_end(tmp_path, script, home, term):
    env = {**home, "TERM": term}
    with Terminal("--no-tui", "--script", script, cwd=tmp_path, env=env, columns=100) as terminal:
        terminal.until("Ctrl+D leaves.")
        terminal.line("write it")
        terminal.until("allow? y once")
        assert not (tmp_path / "a.txt").exists()
        terminal.line("y")
        terminal.until("It is written.")
        terminal.until("(done")
        terminal.line("go on")
        terminal.until("word word")
        terminal.line("/mode")
        terminal.until("Permission mode")
        terminal.type("\x03")
        terminal.until("interrupted")
        terminal.line("/stats")
        terminal.until("Tokens and cost")
        terminal.line("/quit")
        assert terminal.ended() == 0
        assert "agent-cli --resume" in terminal.text
        if term == "dumb":
            assert b"\x1b" not in terminal.raw
    assert (tmp_path / "a.txt").read_text() == "hi\n"


def test_a_person_at_the_end_of_a_pipe_is_asked_too(tmp_path, script, home):
    ran = subprocess.run(
        [sys.executable, "-m", "agent_cli", "--no-tui", "--script", script],
        cwd=tmp_path, env={**os.environ, **home}, input="write it\nn not now\n", capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0
    assert "permission: write_file a.txt" in ran.stdout
    assert "It is written." in ran.stdout
    assert "\x1b" not in ran.stdout
    assert not (tmp_path / "a.txt").exists()
    assert "agent-cli --resume" in ran.stderr

"""The terminal UI as a person meets it: real keys, a real terminal, the installed command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import termios
from pathlib import Path

import pytest

from tests.pty.terminal import Terminal

pytestmark = [pytest.mark.pty, pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")]

ASK_TO_WRITE = [
    {
        "text": "I will write it.",
        "calls": [{"name": "write_file", "arguments": {"path": "a.txt", "content": "hi\n"}}],
    },
    {"text": "It is written."},
]
SLOW = [{"text": "word " * 400, "pace_ms": 50}, {"text": "second answer"}]


def script(project: Path, replies: list[dict[str, object]]) -> str:
    path = project.parent / "script.jsonl"
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    return str(path)


def test_without_a_key_the_first_run_offers_three_ways_and_the_demo_plays(
    project: Path, home: dict[str, str]
):
    with Terminal(cwd=project, env=home) as terminal:
        screen = terminal.until("play the demo")
        assert "enter a key" in screen
        assert "install the local model" in screen
        terminal.rest()  # a key that was being typed chooses nothing
        terminal.type("d")
        terminal.until("Show me what you can do.")  # it starts by itself
        screen = terminal.until("Say anything, and the script begins again.")
        assert "cached" not in screen
        assert "✗" not in screen
        terminal.line("/quit")
        assert terminal.ended() == 0
        assert b"--resume" in terminal.raw


def test_an_approval_is_given_in_place_and_the_file_is_written(project: Path, home: dict[str, str]):
    with Terminal("--script", script(project, ASK_TO_WRITE), cwd=project, env=home) as terminal:
        terminal.until("ready")
        terminal.line("write it")
        terminal.until("a.txt")
        terminal.until("once")
        assert not (project / "a.txt").exists()
        terminal.rest()  # a key that was being typed approves nothing
        terminal.type("y")
        terminal.until("It is written.")
        assert (project / "a.txt").read_text() == "hi\n"
        terminal.type("\x04")
        assert terminal.ended() == 0


def test_a_turn_is_interrupted_and_the_session_goes_on(project: Path, home: dict[str, str]):
    with Terminal("--script", script(project, SLOW), cwd=project, env=home) as terminal:
        terminal.until("ready")
        terminal.line("talk")
        terminal.until("word word")
        terminal.type("\x1b")
        terminal.until("── interrupted")
        terminal.line("again")
        terminal.until("second answer")
        terminal.type("\x03\x03")
        assert terminal.ended() == 0


def test_a_tiny_terminal_and_a_storm_of_sizes_do_no_harm(project: Path, home: dict[str, str]):
    with Terminal("--script", script(project, SLOW), cwd=project, env=home, columns=20, rows=5) as terminal:
        terminal.until("Say what")
        terminal.line("talk")
        terminal.until("word")
        for columns, rows in [(80, 24), (20, 5), (200, 50), (1, 1), (40, 10), (80, 24)] * 3:
            terminal.resize(columns, rows)
        terminal.until("word word word")
        terminal.type("\x1b")
        terminal.until("── interrupted")
        terminal.type("\x04")
        assert terminal.ended() == 0


def test_what_was_said_is_there_after_kill_9(project: Path, home: dict[str, str]):
    path = script(project, [{"text": "first answer"}, {"text": "never"}])
    with Terminal("--script", path, cwd=project, env=home) as terminal:
        terminal.until("ready")
        terminal.line("remember me")
        terminal.until("first answer")
        terminal.until("done")
        os.kill(terminal.child.pid, signal.SIGKILL)
        terminal.ended()
    with Terminal("--script", path, "--continue", cwd=project, env=home) as terminal:
        terminal.until("first answer")
        terminal.until("remember me")
        terminal.type("\x04")
        assert terminal.ended() == 0


def test_a_kill_leaves_the_terminal_as_it_was(project: Path, home: dict[str, str]):
    with Terminal("--script", script(project, SLOW), cwd=project, env=home) as terminal:
        terminal.until("ready")
        terminal.line("talk")
        terminal.until("word word")
        os.kill(terminal.child.pid, signal.SIGTERM)
        assert terminal.ended() == 143
        assert b"\x1b[?1049l" in terminal.raw, "the alternate screen was left"
        assert b"\x1b[?25h" in terminal.raw, "the cursor is shown again"


def test_what_is_typed_before_the_first_frame_is_kept(project: Path, home: dict[str, str]):
    with Terminal("--provider", "echo", cwd=project, env=home) as terminal:
        terminal.line("typed early")
        terminal.until(lambda screen: screen.count("typed early") >= 2)
        terminal.type("\x04")
        assert terminal.ended() == 0


def test_keys_that_arrive_together_act_in_their_order(project: Path, home: dict[str, str]):
    with Terminal("--provider", "echo", cwd=project, env=home) as terminal:
        terminal.until("ready")
        terminal.type("abX\x7fc\x1b[D\x1b[DZ")
        terminal.until("aZbc")
        terminal.type("\x15\x03\x03")
        terminal.ended()


def test_bytes_that_are_no_text_do_not_end_the_screen(project: Path, home: dict[str, str]):
    with Terminal("--script", script(project, SLOW), cwd=project, env=home) as terminal:
        terminal.until("ready")
        terminal.child.send(b"a\xff\xfeb")
        terminal.until("a\ufffd\ufffdb")
        terminal.type("\x03\x03")
        assert terminal.ended() == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell that controls jobs")
def test_ctrl_z_goes_to_the_shell_and_fg_comes_back(project: Path, home: dict[str, str]):
    env = {**home, "PS1": "READY> ", "HISTFILE": ""}
    with Terminal(cwd=project, env=env, program=["bash", "--norc", "--noprofile", "-i"]) as terminal:
        terminal.until("READY>")
        before = termios.tcgetattr(terminal.child.child_fd)[:4]
        terminal.line(f"{sys.executable} -m agent_cli --provider echo")
        terminal.until("ready")
        terminal.type("half")
        terminal.until("half")
        terminal.type("\x1a")
        terminal.until("Stopped")
        assert termios.tcgetattr(terminal.child.child_fd)[:4] == before, "the terminal is as it was"
        assert terminal.raw.rindex(b"\x1b[?1049l") > terminal.raw.rindex(b"\x1b[?1049h")
        terminal.line("fg")
        terminal.until("half")
        terminal.line(" done")
        terminal.until(lambda screen: screen.count("half done") >= 2)
        terminal.type("\x04")
        terminal.until(lambda _: b"READY> " in terminal.raw.rpartition(b"To go on with")[2])


def test_without_a_shell_to_go_back_to_it_does_not_stop(project: Path, home: dict[str, str]):
    with Terminal("--provider", "echo", cwd=project, env=home) as terminal:
        terminal.until("ready")
        terminal.type("\x1a")
        terminal.until("there is no shell here")
        terminal.type("\x04")
        assert terminal.ended() == 0


def test_a_message_is_written_in_the_editor_while_the_turn_goes_on(project: Path, home: dict[str, str]):
    editor = project.parent / "editor"
    editor.write_text('#!/bin/sh\necho EDITING\nread line\nprintf "%s" "$line" > "$1"\n')
    editor.chmod(0o755)
    env = {**home, "EDITOR": str(editor), "VISUAL": ""}
    with Terminal("--script", script(project, SLOW), cwd=project, env=env) as terminal:
        terminal.until("ready")
        terminal.line("talk")
        terminal.until("word word")
        terminal.type("\x07")
        terminal.until("EDITING")
        terminal.line("from the editor")
        terminal.until("▌ from the editor")
        terminal.type("\x1b")
        terminal.until("── interrupted")
        terminal.type("\x03\x03")
        assert terminal.ended() == 0

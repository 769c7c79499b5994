"""Flows through the terminal UI that go beyond one turn: what waits, what is resumed, what is left of a process that was killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import termios
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pty.terminal import WAIT, Terminal
from tests.pty.test_screen import SLOW, script

pytestmark = [pytest.mark.pty, pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")]

LETTERS = 1_000_000


def test_what_is_typed_during_a_turn_waits_in_sight_is_taken_back_and_goes_out(
    project: Path, home: dict[str, str]
):
    slow = {"text": "word " * 60, "pace_ms": 40}
    with Terminal(
        "--script", script(project, [slow, {"text": "its answer"}]), cwd=project, env=home
    ) as terminal:
        terminal.until("ready")
        terminal.line("talk")
        terminal.until("word word")
        terminal.type("to be changed\x1b\r")
        terminal.until("↳ to be changed  after this turn")
        terminal.type("\x1b[A")  # Up
        terminal.until(lambda screen: "↳" not in screen and "▌ to be changed" in screen)
        terminal.type("\x1b[F and sent\x1b\r")
        terminal.until("↳ to be changed and sent")
        terminal.until("its answer")
        assert "▌ to be changed and sent" in terminal.text
        terminal.type("\x04")
        assert terminal.ended() == 0


def test_yesterdays_session_is_found_in_the_list_and_goes_on(project: Path, home: dict[str, str]):
    for said in ("mend the parser", "write the manual"):
        command = [sys.executable, "-m", "agent_cli", "--provider", "echo", "-p", said]
        subprocess.run(
            command, cwd=project, env={**os.environ, **home}, capture_output=True, timeout=60, check=True
        )
    with Terminal("--provider", "echo", "-r", cwd=project, env=home) as terminal:
        terminal.until("Go on with which session?")
        terminal.until("write the manual")
        terminal.type("parser")
        terminal.until(lambda screen: "write the manual" not in screen and "mend the parser" in screen)
        terminal.type("\r")
        terminal.until("resumed at turn 1")
        terminal.line("and now")
        terminal.until(lambda screen: screen.count("and now") == 2)
        terminal.type("\x04")
        assert terminal.ended() == 0


def test_a_paste_of_a_megabyte_is_a_chip_and_is_sent_whole(project: Path, home: dict[str, str]):
    pasted = ("0123456789abcde\n" * (LETTERS // 16))[:LETTERS]
    with Terminal("--script", script(project, [{"text": "got it"}]), cwd=project, env=home) as terminal:
        terminal.until("ready")
        terminal.type(f"\x1b[200~{pasted}\x1b[201~")
        terminal.until("[pasted")
        assert "0123456789abcde" not in terminal.text
        terminal.line(" look at that")
        terminal.until("got it")
        terminal.type("\x04")
        assert terminal.ended() == 0
        name = terminal.raw.rpartition(b"--resume ")[2].split()[0].decode()
    exported = subprocess.run(
        [sys.executable, "-m", "agent_cli", "sessions", "export", name],
        cwd=project, env={**os.environ, **home}, capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    assert exported.count("0123456789abcde") == LETTERS // 16
    assert "look at that" in exported


def in_order(raw: bytes) -> None:
    """The last word on each mode of the terminal is that it is off, or the cursor on."""
    for mode in (b"1049", b"1000", b"1003", b"1006", b"1004"):
        on, off = raw.rfind(b"\x1b[?" + mode + b"h"), raw.rfind(b"\x1b[?" + mode + b"l")
        assert off > on, mode
    assert raw.rfind(b"\x1b[?25h") > raw.rfind(b"\x1b[?25l")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell that controls jobs")
def test_after_kill_9_the_next_start_leaves_the_terminal_in_order(project: Path, home: dict[str, str]):
    env = {**home, "PS1": "READY> ", "HISTFILE": ""}
    command = f"{sys.executable} -m agent_cli --provider echo"
    with Terminal(cwd=project, env=env, program=["bash", "--norc", "--noprofile", "-i"]) as terminal:
        terminal.until("READY>")
        before = termios.tcgetattr(terminal.child.child_fd)[:4]
        terminal.line(f"{command} & echo $! > pid; fg")
        terminal.until("ready")
        os.kill(int((project / "pid").read_text()), signal.SIGKILL)
        terminal.until("Killed")
        assert b"\x1b[?1049l" not in terminal.raw, "nobody was left to do it"
        terminal.line(command)
        terminal.until(lambda _: terminal.raw.count(b"\x1b[?1049h") == 2)
        terminal.rest()
        terminal.type("\x04")
        terminal.until(lambda _: terminal.raw.rfind(b"READY> ") > terminal.raw.rfind(b"\x1b[?1049l") > 0)
        in_order(terminal.raw)
        assert termios.tcgetattr(terminal.child.child_fd)[:4] == before


def test_a_terminal_that_was_left_without_echo_echoes_again_afterwards(project: Path, home: dict[str, str]):
    """As a shell leaves it that does not mend what a killed program did."""
    line = f"stty raw -echo; exec {sys.executable} -m agent_cli --provider echo"
    with Terminal(cwd=project, env=home, program=["sh", "-c", line]) as terminal:
        terminal.until("ready")
        terminal.type("\x04")
        terminal.until(lambda _: b"\x1b[?1049l" in terminal.raw)
        terminal.rest()
        flags = termios.tcgetattr(terminal.child.child_fd)[3]
        assert flags & termios.ECHO
        assert flags & termios.ICANON
        assert flags & termios.ISIG


# ── under tmux ──


class Tmux:
    """A server of its own, with one window."""

    def __init__(self, cwd: Path, env: dict[str, str]) -> None:
        self._base = ["tmux", "-L", f"agent-cli-{uuid.uuid4().hex[:8]}", "-f", "/dev/null"]
        self._env = {**os.environ, **env}
        self._cwd = cwd

    def __call__(self, *words: str) -> str:
        return subprocess.run(
            [*self._base, *words], cwd=self._cwd, env=self._env, capture_output=True, text=True, timeout=30, check=False
        ).stdout  # fmt: skip

    def until(self, seen: str) -> str:
        end = time.monotonic() + WAIT
        while seen not in (screen := self("capture-pane", "-p")):
            assert time.monotonic() < end, screen
        return screen


@pytest.fixture
def tmux(project: Path, home: dict[str, str]) -> Iterator[Tmux]:
    made = Tmux(project, home)
    yield made
    made("kill-server")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_under_tmux_it_types_splits_interrupts_and_leaves_the_pane_as_it_was(project: Path, tmux: Tmux):
    path = script(project, SLOW)
    tmux("new-session", "-d", "-x", "100", "-y", "30", "env PS1='READY> ' bash --norc --noprofile -i")
    tmux.until("READY>")
    tmux("send-keys", f"{sys.executable} -m agent_cli --script {path}", "Enter")
    tmux.until("ready")
    tmux("send-keys", "talk 中文", "C-j", "more", "Enter")
    screen = tmux.until("word word")
    assert "▌ talk 中文" in screen
    tmux("split-window", "-h", "-l", "50", "cat")
    tmux("select-pane", "-t", "0")
    tmux.until("word word word")
    tmux("send-keys", "M-Enter")  # nothing is typed: it sends nothing
    tmux("send-keys", "Escape")
    tmux.until("── interrupted")
    tmux("send-keys", "C-d")
    screen = tmux.until("To go on with this session")
    assert "word word" not in screen, "the pane shows what it showed before"
    assert tmux("display-message", "-p", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}").strip() == "001"

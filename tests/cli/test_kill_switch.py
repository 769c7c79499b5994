"""`agent-cli kill-switch`: stops runs of other processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_cli.cli.entry import run
from agent_cli.kernel import events as ev
from agent_cli.store.sqlite import open_store

SLOW = {"text": "word " * 200, "pace_ms": 400}
SHELL = {"calls": [{"name": "bash", "arguments": {"command": "sleep 300 & echo $! > pid; echo begun; wait"}}]}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(capfd, *argv: str) -> tuple[int, str, str]:
    code = run(list(argv))
    return (code, *capfd.readouterr())


def begin(directory: Path, line: object) -> subprocess.Popen[str]:
    """A one-shot run in a process of its own."""
    script = directory / "script.jsonl"
    script.write_text(json.dumps(line) + "\n" + json.dumps({"text": "done"}) + "\n")
    words = ["-p", "go", "--script", str(script), "--yolo", "--output-format", "stream-json"]
    return subprocess.Popen(
        [sys.executable, "-m", "agent_cli", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )


def read_until(process: subprocess.Popen[str], kind: str) -> None:
    """Reads what the run prints, up to the first of that kind."""
    assert process.stdout is not None
    assert any(json.loads(line).get("type") == kind for line in process.stdout), "it ended without one"


def facts_of(home: Path) -> list[ev.Recorded]:
    database = home / "home" / "sessions.db"
    if not database.exists():
        return []
    store = open_store(database)
    try:
        return [entry.event for info in store.sessions() for entry in store.entries(info.id)]
    finally:
        store.close()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").split()[2] != "Z"
    except FileNotFoundError:
        return not Path("/proc/self").exists()


def test_on_list_and_off_keep_who_when_and_why(home, capfd):
    code, out, _ = asked(
        capfd, "kill-switch", "on", "--scope", "all", "--why", "fire", "--by", "ann", "--json"
    )
    assert code == 0
    assert json.loads(out) | {"at": 0} == {
        "scope": "all", "on": True, "why": "fire", "by": "ann", "at": 0,
        "restored": None, "restored_by": "", "restored_why": "",
    }  # fmt: skip
    assert "is on already, by ann" in asked(capfd, "kill-switch", "on", "--scope", "all", "--why", "again")[1]
    assert "fire" in asked(capfd, "kill-switch", "list")[1]
    assert asked(capfd, "kill-switch", "off", "--scope", "all", "--why", "out")[0] == 0
    assert asked(capfd, "kill-switch", "list")[1] == "No kill switch is on.\n"
    (kept,) = json.loads(asked(capfd, "kill-switch", "list", "--all", "--json")[1])
    assert (kept["on"], kept["restored_why"]) == (False, "out")
    assert asked(capfd, "kill-switch", "off", "--scope", "all")[0] == 1


def test_project_is_this_one(home, capfd):
    (home / ".agents").mkdir()
    (home / "sub").mkdir()
    os.chdir(home / "sub")
    out = asked(capfd, "kill-switch", "on", "--scope", "project", "--why", "x", "--json")[1]
    assert json.loads(out)["scope"] == f"project:{home}"


@pytest.mark.parametrize(
    "scope", ["", "everything", "task", "task:", "tool:", "session:", "all:x", "mode:careless"]
)
def test_what_is_no_scope_is_refused(home, capfd, scope):
    code, _, err = asked(capfd, "kill-switch", "on", "--scope", scope, "--why", "x")
    assert code == 2
    assert "is no scope of a kill switch" in err


def test_a_reason_is_needed_and_a_session_has_to_be_there(home, capfd):
    assert asked(capfd, "kill-switch", "on", "--scope", "all", "--why", " ")[0] == 2
    assert asked(capfd, "kill-switch", "on", "--scope", "session:nobody", "--why", "x")[0] == 2


def test_a_name_that_nothing_has_is_told(home, capfd):
    code, _, err = asked(capfd, "kill-switch", "on", "--scope", "tool:bahs", "--why", "x")
    assert (code, "No tool here is called 'bahs'" in err) == (0, True)
    assert asked(capfd, "kill-switch", "on", "--scope", "task:debug", "--why", "x")[2] == ""


def test_explain_says_that_it_comes_first(home, capfd):
    asked(capfd, "kill-switch", "on", "--scope", "tool:bash", "--why", "x")
    code, out, _ = asked(capfd, "permissions", "explain", "bash", "rm -rf /")
    assert (code, out.splitlines()[0]) == (1, "deny  (kill-switch; mode ask)")
    assert asked(capfd, "permissions", "explain", "read_file", "a")[0] == 0


def test_guardrails_show_says_what_clears_it(home, capfd):
    asked(capfd, "-p", "hi", "--provider", "echo")
    asked(capfd, "kill-switch", "on", "--scope", "all", "--why", "x")
    store = open_store(home / "home" / "sessions.db")
    (info,) = store.sessions()
    store.close()
    told = json.loads(asked(capfd, "guardrails", "show", info.id, "--json")[1])
    assert told["halts"][0]["guardrail"] == "kill_switch"
    assert told["halts"][0]["reset"] == "agent-cli kill-switch off --scope all"


def test_a_run_that_keeps_nothing_is_stopped_too(home, capfd):
    asked(capfd, "kill-switch", "on", "--scope", "all", "--why", "x")
    code, out, _ = asked(capfd, "-p", "hi", "--provider", "echo", "--ephemeral", "--output-format", "json")
    assert (code, json.loads(out)["outcome"]) == (3, "halted")


@pytest.mark.parametrize(("line", "begun"), [(SLOW, "text-delta"), (SHELL, "tool-progress")])
def test_a_running_process_stops_within_a_second(home, capfd, line, begun):
    process = begin(home, line)
    try:
        read_until(process, begun)
        asked(capfd, "kill-switch", "on", "--scope", "all", "--why", "an incident")
        turned = time.time()
        out, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    result = json.loads(out.splitlines()[-1])
    assert (process.returncode, result["outcome"], result["exit_code"]) == (1, "guardrail-stop", 1)
    assert result["trips"][0]["guardrail"] == "kill_switch"
    assert "an incident" in result["error"]["message"]
    (ending,) = [fact for fact in facts_of(home) if isinstance(fact, ev.TERMINAL)]
    assert ending.outcome == "guardrail-stop"
    assert _stopped_at(home) - turned < 1.0
    if begun == "tool-progress":
        assert not alive(int((home / "pid").read_text("utf-8")))


def _stopped_at(home: Path) -> float:
    store = open_store(home / "home" / "sessions.db")
    try:
        (info,) = store.sessions()
        return next(e.time for e in store.entries(info.id) if isinstance(e.event, ev.GuardrailTrip))
    finally:
        store.close()

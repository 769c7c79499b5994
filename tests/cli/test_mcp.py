"""Servers of tools from end to end: `agent-cli mcp`, and one-shot runs that use them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.mcp_http import HttpServer
from tests.mcp.test_http import browser

RAW = Path(__file__).parents[1] / "fakes" / "mcp_server.py"


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Machines under load start servers slowly, and these tests are not about that."""
    monkeypatch.setenv("AGENT_CLI_MCP__WAIT", "60")


def entry(way: str = "plain", file: Path | str = "", **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-I", "-S", str(RAW), way, str(file)], **more}


def written(directory: Path, **servers: Any) -> None:
    (directory / ".agents").mkdir(exist_ok=True)
    (directory / ".agents" / "mcp.json").write_text(json.dumps({"mcpServers": servers}), "utf-8")


def script(directory: Path, *replies: dict[str, Any]) -> str:
    file = directory / "script.jsonl"
    file.write_text("".join(json.dumps(reply) + "\n" for reply in replies), "utf-8")
    return str(file)


def wants(name: str, **arguments: Any) -> dict[str, Any]:
    return {"text": "I ask.", "calls": [{"name": name, "arguments": arguments}]}


def test_servers_are_added_tried_and_removed_and_the_rest_of_the_file_stays(ask, tmp_path):
    file = tmp_path / ".agents" / "mcp.json"
    code, _, err = ask(
        "mcp", "add", "raw", "--env", "A=1", "--", sys.executable, "-I", "-S", str(RAW), "plain"
    )
    assert (code, err) == (0, "")
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text("utf-8").replace("{", '{ "$schema": "x" ,', 1)
    file.write_text(text, "utf-8")
    assert ask("mcp", "add", "far", "https://x.example/mcp", "--header", "X-Key: ${env:KEY}")[0] == 0
    assert json.loads(file.read_text("utf-8"))["mcpServers"]["far"]["headers"] == {"X-Key": "${env:KEY}"}
    assert ask("mcp", "add", "far", "npx")[0] == 2, "it is there already"
    assert ask("--trust", "mcp", "remove", "far")[0] == 0
    assert json.loads(file.read_text("utf-8")) == json.loads(text)
    code, out, _ = ask("--trust", "mcp", "test")
    assert code == 0
    assert "ready · 7 tools · 1 prompt · 1 resource" in out
    assert "mcp__raw__echo" in out
    assert "raw" in ask("mcp", "list")[1]
    assert ask("mcp", "remove", "nothing")[0] == 2


def test_a_server_that_is_not_there_fails_the_test(ask, tmp_path):
    written(tmp_path, dead=entry("dead"))
    code, out, _ = ask("--trust", "mcp", "test", "dead")
    assert code == 1
    assert "exit code 3" in out
    assert ask("mcp", "test", "other")[0] == 2


def test_a_run_uses_a_server_that_a_rule_allows(ask, tmp_path):
    written(tmp_path, raw=entry(), lost={"command": "no-such-program"})
    said = script(
        tmp_path,
        wants("mcp__raw__echo", text="from the server"),
        {"text": "Done.", "expect": {"result": "from the server"}},
    )
    config = {"permissions": {"allow": ["mcp__raw__*"]}}
    (tmp_path / ".agents" / "config.json").write_text(json.dumps(config), "utf-8")
    code, out, err = ask("-p", "go", "--trust", "--script", said, "--script-strict")
    assert (code, out.strip()) == (0, "Done.")
    assert "7 joined: mcp__raw__die" in err
    assert "no-such-program" in err


def test_nobody_there_means_no_and_an_untrusted_project_starts_nothing(ask, tmp_path):
    written(tmp_path, raw=entry("plain", tmp_path / "said"))
    said = script(tmp_path, wants("mcp__raw__echo", text="x"), {"text": "Done."})
    code, _, err = ask("-p", "go", "--script", said)
    assert code == 0
    assert "There is no tool 'mcp__raw__echo'" in err
    assert not (tmp_path / "said").exists()
    code, _, err = ask("-p", "go", "--trust", "--script", said)
    assert code == 0
    assert "it is a tool of another program, and no rule allows it; nobody is here to be asked" in err


def test_a_server_that_is_added_where_nothing_is_trusted_yet_is_not_said_to_be_unknown(ask, tmp_path):
    written(tmp_path, raw=entry())
    code, out, err = ask("mcp", "add", "more", "--", sys.executable, "-I", "-S", str(RAW), "plain")
    assert code == 0
    assert "Try it: agent-cli --trust mcp test more" in out
    assert "mcp.json does not count" in err
    assert "No server counts here yet." in ask("mcp", "list")[1]
    assert ask("mcp", "test")[0] == 1
    code, _, err = ask("mcp", "test", "more")
    assert code == 2
    assert "No server 'more' counts here: this project is not trusted" in err
    code, out, _ = ask("--trust", "mcp", "test", "more")
    assert (code, "ready" in out) == (0, True)


def test_a_secret_does_not_go_to_a_server(ask, tmp_path):
    written(tmp_path, raw=entry())
    key = "sk-ant-api03-" + "aB3dE5fG7h" * 9 + "-AAAA"
    said = script(tmp_path, wants("mcp__raw__echo", text=f"the key is {key}"), {"text": "Done."})
    _, _, err = ask("-p", "go", "--yolo", "--trust", "--script", said)
    assert "would leave this machine with mcp__raw__echo" in err


def test_it_waits_for_the_plan(ask, tmp_path):
    written(tmp_path, raw=entry())
    said = script(tmp_path, wants("mcp__raw__echo", text="x"), {"text": "Done."})
    _, _, err = ask("-p", "go", "--yolo", "--trust", "--plan-mode=required", "--script", said)
    assert "record_plan" in err


def test_a_long_result_is_bounded(ask, tmp_path):
    written(tmp_path, raw=entry())
    said = script(
        tmp_path, wants("mcp__raw__huge"), {"text": "Done.", "expect": {"result": "retrieve_output"}}
    )
    assert ask("-p", "go", "--yolo", "--trust", "--script", said, "--script-strict")[0] == 0


def test_a_prompt_takes_a_resource_along(ask, tmp_path):
    written(tmp_path, raw=entry())
    said = script(tmp_path, {"text": "Done.", "expect": {"user": "what the note says"}})
    assert ask("-p", "look at @raw:note://one", "--trust", "--script", said, "--script-strict")[0] == 0


def test_a_file_that_is_wrong_is_an_error_with_its_line(ask, tmp_path):
    written(tmp_path, raw={"comand": "x"})
    code, _, err = ask("-p", "go", "--trust", "--provider", "echo")
    assert code == 2
    assert "mcp.json:1: there is no key 'comand' here; did you mean 'command'?" in err


def test_variables_that_are_missing_are_told_at_once_and_end_nothing(ask, tmp_path):
    written(tmp_path, a=entry(env={"X": "${env:NOT_SET_1}"}), b={"url": "https://x.example/${env:NOT_SET_2}"})
    code, _, err = ask("-p", "go", "--trust", "--provider", "echo")
    assert code == 0
    (line,) = [line for line in err.splitlines() if "are not set, so these were not started" in line]
    assert "NOT_SET_1 (of a" in line
    assert "NOT_SET_2 (of b" in line


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_servers_die_with_a_run_that_is_killed(tmp_path):
    written(tmp_path, raw=entry("deaf", tmp_path / "said"))
    said = script(tmp_path, wants("mcp__raw__hang"), {"text": "Done."})
    words = [sys.executable, "-m", "agent_cli", "-p", "go", "--yolo", "--trust", "--script", said]
    run = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert run.stderr is not None
    for line in run.stderr:
        if b"busy" in line or b"mcp__raw__hang" in line:
            break
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stderr.close()
    pid = int((tmp_path / "said").read_text("utf-8").split()[1])
    end = time.monotonic() + 10
    while _lives(pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self").exists()


def test_a_login_is_kept_for_later_runs_and_forgotten_when_asked(ask, tmp_path, monkeypatch):
    far, other = HttpServer(key="nobody has it", logs_in=True), HttpServer()
    try:
        written(tmp_path, far={"url": far.url})
        assert "agent-cli mcp login far" in ask("--trust", "mcp", "test")[1]
        monkeypatch.setattr("webbrowser.open", browser)
        written(tmp_path, far={"url": far.url, "start_timeout": 0.01})  # a person needs longer than a server
        code, out, err = ask("--trust", "mcp", "login", "far")
        assert (code, out) == (0, "Logged in: far offers 1 tools.\n"), err
        assert far.origin in err
        written(tmp_path, far={"url": far.url})
        assert ask("--trust", "mcp", "test")[0] == 0
        written(tmp_path, far={"url": other.url})
        assert ask("--trust", "mcp", "test")[0] == 0
        assert not any("Authorization" in headers for headers in other.headers), "another server of that name"
        written(tmp_path, far={"url": far.url})
        assert ask("mcp", "logout", "far")[0] == 0
        assert ask("--trust", "mcp", "test")[0] == 1
        assert ask("mcp", "logout", "far")[0] == 2
        assert ask("mcp", "login", "nobody")[0] == 2
    finally:
        far.close()
        other.close()

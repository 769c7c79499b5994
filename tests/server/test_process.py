"""`agent-cli serve` as a process: signals, a kill, two processes over one session, and what it refuses to start with."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from agent_cli.cli.entry import run
from tests.fakes.http_server import Say
from tests.fakes.served import served
from tests.fakes.serving import LISTEN, ROOT, ask, follow, running

SLOW = {"text": "slow " * 100, "pace_ms": 100}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_turns_cleanly_and_lets_go_of_sessions(project, script, number):
    with running(project, "--script", str(script(SLOW)), *LISTEN) as (process, url):
        session = ask(f"{url}/sessions", {"message": "go"})["id"]
        follow(f"{url}/sessions/{session}/events", "text-delta")
        process.send_signal(number)
        _, told = process.communicate(timeout=20)
        assert process.returncode == 0, told
        assert "Traceback" not in told
    with running(project, "--script", str(script({"text": "Hi."})), *LISTEN) as (_, url):
        found = ask(f"{url}/sessions/{session}")
        assert (found["held_by"], found["running"], found["ending"]["outcome"]) == ("", False, "interrupted")
        assert ask(f"{url}/sessions/{session}/inject", {"message": "go on"})["running"] is True
        assert "turn-completed" in follow(f"{url}/sessions/{session}/events", "turn-completed")


def test_after_a_kill_the_sessions_are_there_again_and_halted_ones_are_halted(project, monkeypatch):
    with served("Dear.") as service:
        service.replies = [Say("Dear.", usage={"input_tokens": 100_000, "output_tokens": 40_000})]
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
        words = ("--model", "claude-opus-5", "--max-session-cost-usd", "1", *LISTEN)
        with running(project, *words) as (process, url):
            session = ask(f"{url}/sessions", {"message": "spend"})["id"]
            follow(f"{url}/sessions/{session}/events", "guardrail-trip")
            assert ask(f"{url}/sessions/{session}/inject", {"message": "waits"})["queued"] is True
            process.kill()
            process.wait(20)
        with running(project, *words) as (_, url):
            found = ask(f"{url}/sessions/{session}")
            assert (found["halted"], found["waiting"], found["open"]) == (True, 1, False)
            told = ask(f"{url}/sessions/{session}/inject", {"message": "waits, too"})
            assert (told["queued"], told["waiting"], told["halt"]["guardrail"]) == (True, 2, "cost_ceiling")
            least = ask(f"{url}/sessions/{session}/guardrails/reset", {})["error"]["additional_budget_usd"]
            reset = ask(f"{url}/sessions/{session}/guardrails/reset", {"additional_budget_usd": least})
            assert (reset["status_code"], reset["running"]) == (200, True)


def test_two_servers_over_one_session_one_writes_and_the_other_says_who(project, script):
    words = ("--script", str(script({"text": "Hi."})), *LISTEN)
    with running(project, *words) as (one, first), running(project, *words) as (_, second):
        session = ask(f"{first}/sessions", {"message": "hello"})["id"]
        refused = ask(f"{second}/sessions/{session}/inject", {"message": "me"})
        assert (refused["status_code"], refused["error"]["held_by"]) == (409, f"process {one.pid}")
        assert ask(f"{second}/sessions/{session}")["held_by"] == f"process {one.pid}"
        assert "turn-completed" in follow(f"{second}/sessions/{session}/events", "turn-completed")


def test_one_session_of_its_own_is_served_beside_an_unattended_run(project, script):
    words = (
        "--no-repl",
        "--attach-listen",
        "127.0.0.1:0",
        "--script",
        str(script({"text": "Hi."}, {"text": "Ho."})),
        "hello",
    )
    with running(project, *words) as (process, url):
        (row,) = ask(f"{url}/sessions")["sessions"]
        session = row["id"]
        follow(f"{url}/sessions/{session}/events", "turn-completed")
        assert ask(f"{url}/sessions", {})["error"]["kind"] == "one-session"
        assert ask(f"{url}/sessions/{session}/inject", {"message": "again"})["queued"] is False
        process.terminate()
        _, told = process.communicate(timeout=20)
        assert process.returncode == 0
        assert f"for session {session}" in told
    with running(project, *words[:-1], "--resume", session) as (_, url):
        assert [row["id"] for row in ask(f"{url}/sessions")["sessions"]] == [session]
        assert ask(f"{url}/sessions/{session}")["open"] is True


def test_the_session_of_a_person_is_served_beside_him(project, script):
    replies = script(
        {"calls": [{"name": "write_file", "arguments": {"path": "b.txt", "content": "new\n"}}]},
        {"text": "Hi from it."},
    )
    command = [
        sys.executable,
        "-m",
        "agent_cli",
        "--no-tui",
        "--attach-listen",
        "127.0.0.1:0",
        "--script",
        str(replies),
    ]
    process = subprocess.Popen(
        command, cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        url = process.stderr.readline().split("served at ")[1].split(",")[0]
        (row,) = ask(f"{url}/sessions")["sessions"]
        place = f"{url}/sessions/{row['id']}"
        assert (ask(place)["seq"], row["turns"]) == (0, 0), "nothing was said yet"
        assert ask(f"{place}/guardrails")["watchdog"] == "warn", "as with a person there"
        assert ask(f"{place}/inject", {"message": "from elsewhere"})["queued"] is False
        follow(f"{place}/events", "approval-requested")
        (asked,) = ask(place)["pending_approvals"]
        assert ask(f"{place}/approvals/{asked['call_id']}", {"decision": "approve"})["allowed"] is True
        follow(f"{place}/events", "turn-completed")
        told, _ = process.communicate("", timeout=20)
        assert process.returncode == 0
        assert "Hi from it." in told
        assert (project / "b.txt").read_text() == "new\n"
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=20)
    with pytest.raises(urllib.error.URLError):
        ask(f"{url}/healthz")


def test_it_listens_wider_only_with_a_token(project, monkeypatch, capfd):
    monkeypatch.chdir(project)
    assert run(["serve", "--listen", "0.0.0.0:0"]) == 2
    assert "there is no token" in capfd.readouterr().err
    assert run(["serve", "token", "add", "phone", "--scope", "read"]) == 0
    secret = capfd.readouterr().out.strip()
    assert secret.startswith("agc_")
    assert run(["serve", "token", "list"]) == 0
    listed = capfd.readouterr().out
    assert "phone  read" in listed
    assert secret not in listed
    with running(project, "--provider", "echo", "serve", "--listen", "0.0.0.0:0") as (_, url):
        request = urllib.request.Request(
            url.replace("0.0.0.0", "127.0.0.1") + "/sessions", headers={"Authorization": f"Bearer {secret}"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert json.loads(answer.read())["sessions"] == []
    assert run(["serve", "token", "rm", "phone"]) == 0
    assert run(["serve", "token", "rm", "phone"]) == 2
    assert "There is no token 'phone'" in capfd.readouterr().err


WRONG = [
    (["serve", "--listen", "7777"], "takes HOST:PORT"),
    (["serve", "--listen", "127.0.0.1:99999"], "takes HOST:PORT"),
    (["--ephemeral", "serve"], "leave --ephemeral"),
    (["serve", "--tls-cert", "x.pem"], "belong together"),
    (["serve", "--tls-cert", "x.pem", "--tls-key", "y.pem"], "cannot be used"),
    (["serve", "token", "add", "x", "--scope", "root"], "--scope is one of"),
    (["--attach-listen", "127.0.0.1:0", "-p", "hi"], "do not go together"),
    (["--attach-listen", "127.0.0.1:0", "hi"], "add --no-repl"),
    (["--no-tui", "--attach-listen", "0.0.0.0:0", "hi"], "there is no token"),
    (["--no-repl", "--attach-listen", "nowhere"], "takes HOST:PORT"),
    (["--no-repl", "--attach-listen", "127.0.0.1:0", "--output-format", "json"], "do not go together"),
]


@pytest.mark.parametrize(("words", "told"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_what_it_cannot_start_with_is_said(project, monkeypatch, capfd, words, told):
    monkeypatch.chdir(project)
    assert run(words) == 2
    assert told in capfd.readouterr().err


def test_an_address_that_is_taken_is_said(project, monkeypatch, capfd):
    monkeypatch.chdir(project)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["serve", "--listen", f"127.0.0.1:{taken.getsockname()[1]}"]) == 2
    assert "Cannot listen" in capfd.readouterr().err


def test_without_its_extra_it_says_what_to_install(project, monkeypatch, capfd):
    monkeypatch.chdir(project)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run(["serve"]) == 2
    assert "pip install 'agent-cli[serve]'" in capfd.readouterr().err


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificate with openssl")
def test_it_speaks_tls(project, tmp_path):
    import ssl

    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    pair = ("--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    with running(project, "--provider", "echo", *LISTEN, *pair) as (_, url):
        assert url.startswith("https://")
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        with urllib.request.urlopen(f"{url}/healthz", timeout=20, context=trusting) as answer:
            assert json.loads(answer.read())["status"] == "ok"

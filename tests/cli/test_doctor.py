"""`agent-cli doctor`: each thing that is needed, with a remedy where it is missing."""

from __future__ import annotations

import http.server
import json
import os
import sqlite3
import sys
import threading
from pathlib import Path

import pytest

from agent_cli.config import places
from agent_cli.talk.health import Condition, rows, verdict

RAW = Path(__file__).parents[1] / "fakes" / "mcp_server.py"


@pytest.fixture
def service(monkeypatch):
    """A service on loopback that takes one key; returns its address."""

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            good = self.headers.get("Authorization") == "Bearer right"
            body = json.dumps({"data": []} if good else {"error": {"message": "no such key"}}).encode()
            self.send_response(200 if good else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Not on stderr."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    running = threading.Thread(target=server.serve_forever)
    running.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    yield server
    server.shutdown()
    running.join()
    server.server_close()


@pytest.fixture
def look(ask):
    """Exit code, and the conditions by name."""

    def looked(*before):
        code, out, _ = ask(*before, "doctor", "--json")
        said = json.loads(out)
        assert said["ok"] is (code == 0)
        return code, {row["what"]: row for row in said["conditions"]}

    return looked


def test_without_any_model_it_says_how_to_get_one(look):
    code, found = look()
    assert code == 1
    assert found["model"]["status"] == "wrong"
    assert "agent-cli local install" in found["model"]["remedy"]
    assert "ANTHROPIC_API_KEY" in found["model"]["remedy"]
    names = {
        "config",
        "keys",
        "model",
        "terminal",
        "clipboard",
        "ripgrep",
        "git",
        "sandbox",
        "state",
        "database",
    }
    assert names <= set(found)
    assert all(row["remedy"] for row in found.values() if row["status"] == "wrong")


def test_it_starts_each_mcp_server_and_says_how_it_is(look, tmp_path):
    assert not [name for name in look()[1] if name.startswith("MCP")]
    (tmp_path / ".agents").mkdir()
    servers = {
        "gone": {"command": "no-such-program"},
        "well": {"command": sys.executable, "args": ["-I", "-S", str(RAW), "plain"]},
    }
    (tmp_path / ".agents" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert "mcp.json" in look()[1]["trust"]["says"]
    _, found = look("--trust")
    assert found["MCP well"]["status"] == "ok"
    assert "7 tools" in found["MCP well"]["says"]
    assert found["MCP gone"]["status"] == "note"
    assert "no-such-program" in found["MCP gone"]["says"]


def test_the_key_of_an_endpoint_is_a_key_too(look, monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "x")
    _, found = look()
    assert found["keys"]["says"] == "set: OPENROUTER_API_KEY"
    assert found["model"]["status"] == "wrong", "it serves many, and none is the usual one"


def test_with_a_service_that_takes_the_key_everything_is_there(look, service, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "right")
    code, found = look()
    assert (code, found["service OpenAI"]["status"]) == (0, "ok")
    assert "takes the key" in found["service OpenAI"]["says"]
    assert "OPENAI_API_KEY" in found["keys"]["says"]
    assert "right" not in json.dumps(found)


def test_a_key_that_is_refused_is_wrong_where_it_is_needed(look, service, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    code, found = look()
    assert (code, found["service OpenAI"]["status"]) == (1, "wrong")
    code, found = look("--provider", "echo")
    assert (code, found["service OpenAI"]["status"]) == (0, "note")


def test_a_service_that_is_not_there_is_wrong_and_names_its_address(look, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "right")
    code, found = look()
    assert code == 1
    assert "127.0.0.1:9" in found["service OpenAI"]["says"]


def test_a_wrong_config_does_not_keep_it_from_looking_at_the_rest(look, tmp_path):
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "config.json").write_text('{"model": {"nmae": "opus"}}')
    code, found = look("--trust")
    assert (code, found["config"]["status"]) == (1, "wrong")
    assert "model.name" in found["config"]["says"]
    assert found["database"]["status"] == "ok"


def test_a_database_that_is_none_is_wrong_and_is_left_alone(look):
    file = places.database(os.environ)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"this is no database" * 100)
    before = file.read_bytes()
    code, found = look("--provider", "echo")
    assert (code, found["database"]["status"]) == (1, "wrong")
    assert str(file) in found["database"]["says"]
    assert file.read_bytes() == before


def test_a_damaged_database_is_found(look, ask):
    assert ask("-p", "hello", "--provider", "echo")[0] == 0
    file = places.database(os.environ)
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entry'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with file.open("r+b") as held:
        held.seek((page - 1) * size)
        held.write(b"\xff" * size)
    code, found = look("--provider", "echo")
    assert (code, found["database"]["status"]) == (1, "wrong")


def test_a_sandbox_that_was_asked_for_and_is_not_there_is_wrong(look, monkeypatch):
    from agent_cli.tools.sandbox import choose

    monkeypatch.setattr(
        choose, "offers", lambda *_, **__: (choose.Offer("bubblewrap", "bwrap is not installed"),)
    )
    assert look("--provider", "echo")[1]["sandbox"]["status"] == "note"
    code, found = look("--provider", "echo", "--sandbox", "read-only")
    assert (code, found["sandbox"]["status"]) == (1, "wrong")


def test_people_get_lines_with_the_remedy_below(ask):
    code, out, _ = ask("--provider", "echo", "doctor")
    assert code == 0
    assert "ok config" in out
    assert out.rstrip().endswith("Everything needed is there.")


def test_the_words_of_a_condition():
    found = (Condition("git", "note", "not found", "Install git."), Condition("model", "wrong", "none"))
    assert rows(found) == [("! git", "not found\n→ Install git."), ("✗ model", "none")]
    assert verdict(found) == "Something needed is missing: model."


def test_a_kill_switch_that_is_on_is_told_with_the_way_to_take_it_back(look, ask):
    assert "kill switch" not in look("--provider", "echo")[1]
    assert ask("kill-switch", "on", "--scope", "all", "--why", "an audit", "--by", "ops")[0] == 0
    code, found = look("--provider", "echo")
    assert code == 0
    assert "all is stopped by ops: an audit" in found["kill switch"]["says"]
    assert "agent-cli kill-switch off --scope all" in found["kill switch"]["remedy"]


def test_agents_are_named_and_so_is_a_file_that_is_none(look, tmp_path):
    place = tmp_path / ".agents" / "agents"
    place.mkdir(parents=True)
    (place / "reviewer.md").write_text("---\ndescription: reviews\n---\nReview.\n", "utf-8")
    assert "agents" not in look()[1], "what is not trusted does not count"
    assert look("--trust")[1]["agents"]["says"] == "reviewer"
    (place / "broken.md").write_text("---\ndescription: x\ntols: [bash]\n---\nHi.\n", "utf-8")
    row = look("--trust")[1]["agents"]
    assert row["status"] == "note"
    assert row["says"].endswith("there is no fact 'tols'; did you mean 'tools'? The agent is left out.")
    assert "docs/subagents.md" in row["remedy"]

"""`models`, `config`, `sessions`, and `local` beside them."""

from __future__ import annotations

import json
import os

import pytest

from agent_cli.cli.options import FLAGS, GROUPS, KEYS
from agent_cli.config.fields import all_keys
from agent_cli.config.sources import load
from agent_cli.providers import catalog

# ── the table of options against the schema ──


def test_every_key_of_an_option_is_a_setting():
    assert set(KEYS.values()) <= {key.name for key in all_keys()}


@pytest.mark.parametrize(
    "flag", [flag for flag in FLAGS if flag.choices and flag.key], ids=lambda flag: flag.name
)
def test_every_choice_of_an_option_is_a_value_of_its_setting(flag, tmp_path):
    for choice in flag.choices:
        assert load(tmp_path, os.environ, {flag.key: choice}).origins[flag.key] == "command line"


LIMITS = [flag for flag in GROUPS["Limits (0 means none)"] if not flag.choices and flag.name != "--pool"]


@pytest.mark.parametrize("flag", LIMITS, ids=lambda flag: flag.name)
def test_an_explicit_0_is_a_value_of_every_limit(flag, tmp_path):
    assert load(tmp_path, os.environ, {flag.key: 0}).origins[flag.key] == "command line"


# ── models ──


def test_models_are_listed_with_the_source_of_the_table(ask):
    code, out, _ = ask("models", "--provider", "anthropic")
    assert code == 0
    assert out.startswith("model ")
    assert "claude-opus-5 " in out
    assert "gpt" not in out
    assert "\nTable of 20" in out


def test_models_as_json_have_every_field(ask):
    _, out, _ = ask("models", "--json")
    table = json.loads(out)
    assert (table["date"], bool(table["source"])) == (catalog.source().date, True)
    opus = next(model for model in table["models"] if model["id"] == "claude-opus-5")
    assert opus["prices"][0]["input"] > 0
    assert opus["free"] is False


def test_config_replaces_fields_of_the_table(ask, tmp_path):
    (tmp_path / "own.json").write_text(
        '{"models": {"claude-opus-5": {"window": 123456}, "mine": {"window": 4096}}}'
    )
    code, out, _ = ask("--config", "own.json", "models")
    assert code == 0
    rows = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "123,456" in rows["claude-opus-5"]
    assert "4,096" in rows["mine"]


def test_an_unknown_provider_suggests_the_nearest(ask):
    code, _, err = ask("models", "--provider", "antropic")
    assert code == 2
    assert "Did you mean 'anthropic'?" in err


# ── config ──


def test_settings_are_shown_with_their_origin(ask, tmp_path):
    (tmp_path / "own.json").write_text('{"budgets": {"max_steps": 7}}')
    code, out, _ = ask("-m", "opus", "--config", "own.json", "config", "show", "--origin")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()}
    assert code == 0
    assert rows["model.name"] == ['"opus"', "command", "line"]
    assert rows["budgets.max_steps"] == ["7", str(tmp_path / "own.json")]
    assert rows["model.effort"] == ["null", "default"]


def test_secrets_are_not_shown(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("WHERE", "https://secret.example")
    (tmp_path / "own.json").write_text('{"providers": {"mine": {"base_url": "${env:WHERE}"}}}')
    _, out, _ = ask("--config", "own.json", "config", "show", "--json")
    shown = json.loads(out)["providers.mine.base_url"]
    assert shown["origin"] == str(tmp_path / "own.json")
    assert "secret.example" not in out


def test_what_a_default_comes_to_is_shown_by_mode(ask):
    _, out, _ = ask("config", "show", "--origin")
    rows = {line.split()[0]: line.partition(" ")[2].strip() for line in out.splitlines()}
    assert rows["safety.watchdog"].startswith('"warn"; "enforce" when nobody is there')
    assert rows["budgets.max_steps"].startswith("null; 200 when nobody is there")
    _, out, _ = ask("--max-steps", "9", "config", "show", "--json")
    shown = json.loads(out)
    assert shown["safety.watchdog"]["by_mode"] == {"attended": "warn", "unattended": "enforce"}
    assert shown["budgets.max_steps"] == {"value": 9, "origin": "command line"}


def test_a_wrong_key_is_told_and_the_rest_is_shown(ask, tmp_path):
    (tmp_path / "own.json").write_text(
        '{"modle": {}, "model": {"name": "opus", "tier": "hugest"}, "budgets": {"max_stepz": 1, "max_tokens": 5},'
        ' "permissions": {"deny": ["bash:rm*", 5]}}'
    )
    code, out, err = ask("--config", "own.json", "config", "show")
    rows = {line.split()[0]: line.split()[1] for line in out.splitlines()}
    assert code == 2
    assert (rows["model.name"], rows["model.tier"], rows["budgets.max_tokens"]) == ('"opus"', "null", "5")
    for word in ("modle", "hugest", "max_stepz", "permissions.deny[1]", "left out above"):
        assert word in err


def test_a_wrong_config_is_reported(ask, tmp_path):
    (tmp_path / "own.json").write_text('{"modle": {}}')
    code, out, err = ask("--config", "own.json", "config", "validate")
    assert (code, out) == (2, "")
    assert "modle" in err
    assert "did you mean 'model'" in err


def test_a_right_config_is_said_to_be_right(ask, tmp_path):
    (tmp_path / "own.json").write_text("{}")
    code, out, _ = ask("--config", "own.json", "config", "validate")
    assert (code, out) == (0, f"{tmp_path / 'own.json'}\nThe configuration is right.\n")


@pytest.mark.parametrize("command", ["validate", "show"])
def test_what_waits_for_trust_is_told(ask, tmp_path, command):
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "config.json").write_text('{"permissions": {"allow": ["bash:rm*"]}}')
    code, _, err = ask("config", command)
    assert code == 0
    assert "left out: permissions.allow" in err


def test_a_note_is_told_once_also_where_much_is_told(ask, tmp_path):
    project = tmp_path / ".agents"
    project.mkdir()
    (project / "config.json").write_text('{"permissions": {"allow": ["bash:rm*"]}}')
    _, _, err = ask("-p", "hi", "--provider", "echo", "--verbose")
    assert err.count("left out: permissions.allow") == 1


# ── sessions ──


def test_sessions_are_listed_and_shown(ask, tmp_path):
    assert ask("sessions", "list") == (0, "No session is recorded.\n", "")
    _, out, _ = ask("-p", "a question", "--provider", "echo", "--output-format", "json")
    session = json.loads(out)["session"]
    _, out, _ = ask("sessions", "list")
    row = out.splitlines()[1]
    assert row.startswith(session)
    assert "a question" in row
    assert str(tmp_path) in row
    (info,) = json.loads(ask("sessions", "list", "--here", "--json")[1])
    assert (info["id"], info["title"], info["turns"]) == (session, "a question", 1)
    start, _, shown = ask("sessions", "show", session[:12])[1].partition("\n")
    assert "watchdog: enforce mode [unattended default]" in start
    assert shown == "\n> a question\n\n\na question\n"
    lines = [json.loads(line) for line in ask("sessions", "show", session, "--json")[1].splitlines()]
    assert [lines[0]["type"], lines[-1]["type"]] == ["session-started", "session-ended"]


def test_no_session_of_this_directory_is_not_none_at_all(ask, tmp_path, monkeypatch):
    assert ask("sessions", "list", "--here")[1] == "No session is recorded.\n"
    ask("-p", "a question", "--provider", "echo")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    code, out, _ = ask("sessions", "list", "--here")
    assert (code, out) == (
        0,
        "No session of this directory is recorded; 1 is elsewhere: `agent-cli sessions list`.\n",
    )


def test_a_session_that_is_not_there_is_an_error(ask):
    code, out, err = ask("sessions", "show", "nope")
    assert (code, out) == (2, "")
    assert "There is no session 'nope'" in err


def test_the_database_in_front_of_the_command_counts(ask, tmp_path):
    ask("-p", "elsewhere", "--provider", "echo", "--session-db", "own.db")
    assert "No session" in ask("sessions", "list")[1]
    assert "elsewhere" in ask("--session-db", "own.db", "sessions", "list")[1]


@pytest.mark.parametrize("command", ["local", "sessions", "config"])
def test_a_group_without_its_command_shows_its_help(ask, command):
    code, out, err = ask(command)
    assert (code, out) == (2, "")
    assert err.startswith(f"Usage: agent-cli {command} ") or "Missing command" in err


def test_setting_what_waits_for_trust_says_so(ask, tmp_path):
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "config.json").write_text('{"budgets": {"max_steps": 3}}', "utf-8")
    code, _, err = ask("config", "set", "permissions.allow", '["bash:ls"]')
    assert code == 0
    assert "does not count before this project is trusted" in err
    assert ask("config", "set", "permissions.deny", '["bash:rm*"]')[2] == "", "a deny rule counts at once"
    assert ask("--trust", "config", "validate")[0] == 0
    assert ask("config", "set", "permissions.allow", '["bash:ls", "bash:pwd"]')[2] == ""

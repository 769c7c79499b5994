"""`agent-cli permissions` says what the gate would, and the guard against small parents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.explain import explain, lint
from agent_cli.compose.session import open_session, prepare
from agent_cli.compose.small_tier import guard
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard

SMALL = ModelCard("claude-haiku-4-5", "anthropic", tier="small")


@pytest.fixture
def options(tmp_path):
    (tmp_path / "p" / ".agents").mkdir(parents=True)

    def made(config: dict[str, Any] | None = None, *, attended: bool = True, **flags: Any) -> RunOptions:
        (tmp_path / "p" / ".agents" / "config.json").write_text(json.dumps(config or {}))
        environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "h")}
        dotted = {name.replace("__", "."): value for name, value in flags.items()}
        return RunOptions(tmp_path / "p", environ, attended, dotted, trust=True)

    return made


def test_what_would_become_of_a_call_and_why(options) -> None:
    asked = options({"permissions": {"deny": ["bash:rm*"], "allow": ["bash:make*"]}})
    for tool, words, verdict, rule in (
        ("bash", "rm -rf build", "deny", "deny: bash:rm*"),
        ("bash", "make all", "allow", "allow: bash:make*"),
        ("bash", "grep x .", "deny", "search-gate"),
        ("bash", '{"command": "git reset --hard"}', "ask", "destructive-git"),
        ("read_file", "a.py", "allow", "mode: ask"),
        ("read_file", ".env", "ask", "secret-path"),
        ("read_file", "/etc/hosts", "ask", "path-scope"),
        ("write_file", "a.py", "ask", "mode: ask"),
        ("write_file", ".agents/config.json", "ask", "control-plane"),
    ):
        ruling = explain(asked, tool, words).ruling
        assert (ruling.verdict, ruling.rule) == (verdict, rule), words
    alone = explain(options(attended=False), "write_file", "a.py").ruling
    assert (alone.verdict, "--yolo" in alone.remedy) == ("deny", True)


def test_what_cannot_be_explained_is_said(options) -> None:
    with pytest.raises(ConfigError, match="no tool 'bsh'"):
        explain(options(), "bsh", "x")
    with pytest.raises(ConfigError, match="no arguments of bash"):
        explain(options(), "bash", '{"comand": "x"}')


def test_dead_rules_of_config_are_listed(options) -> None:
    found = list(lint(options({"permissions": {"allow": ["bsh:x*", "bash:ls*"]}})))
    assert [row.rule for row in found] == ["bsh:x*"]


def test_a_small_parent_is_told_refused_or_let_be(options) -> None:
    asked = options()
    (line,) = guard(asked, prepare(asked).settings, SMALL)
    assert "--agentic-small-model claude-haiku-4-5" in line
    for silent in (
        options(attended=False),
        options(permissions__mode="yolo"),
        options(safety__small_tier_parent="allow"),
    ):
        assert guard(silent, prepare(silent).settings, SMALL) == ()
    assert guard(asked, prepare(asked).settings, ModelCard("x", "y")) == ()
    refusing = options(safety__small_tier_parent="refuse", model__name="claude-haiku-4-5")
    refusing.environ = {**refusing.environ, "ANTHROPIC_API_KEY": "k"}
    with pytest.raises(ConfigError, match="is a small model"):
        open_session(refusing)

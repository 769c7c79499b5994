"""`agent-cli permissions` says what the gate would, and the guard against small parents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.explain import Explainer, explain, left_out, lint
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


GREET = 'name = "greet"\ndescription = "Greet."\ncommand = "printf {who}"\n\n[arguments.who]\n'


def brings_a_tool(options) -> RunOptions:
    made = options({"permissions": {"allow": ["greet:*", "greeet:*"], "deny": ["bash:printf bob*"]}})
    tools = made.cwd / ".agents" / "tools"
    tools.mkdir()
    (tools / "greet.toml").write_text(GREET)
    return made


def test_tools_of_files_are_explained_by_the_line_that_they_run(options) -> None:
    asked = brings_a_tool(options)
    for who, told in (("ann", ("allow", "allow: greet:*")), ("bob", ("deny", "deny: bash:printf bob*"))):
        found = explain(asked, "greet", who)
        assert (found.ruling.verdict, found.ruling.rule) == told
        assert (found.subject, found.notes) == (f"printf {who}", ())


def test_rules_for_tools_of_files_are_no_slips(options) -> None:
    (found,) = lint(brings_a_tool(options))
    assert (found.rule, found.why) == ("greeet:*", "there is no tool greeet; is greet meant?")


OWN = (
    ("record_plan", "Do it.", "allow", "mode: ask"),
    ("mark_task_done", "done", "allow", "mode: ask"),
    ("ask_user", "Which?", "ask", "question"),
    ("agentic_research", "Where is it?", "allow", "mode: ask"),
    ("agentic_fetch_url", '{"url": "https://example.org", "question": "What?"}', "allow", "mode: ask"),
    ("wait_and_verify", '{"check": {"tool": "stat", "arguments": {"path": "x"}}}', "allow", "mode: ask"),
)


@pytest.mark.parametrize(("tool", "words", "verdict", "rule"), OWN)
def test_tools_of_the_engine_are_explained_too(
    options, tool: str, words: str, verdict: str, rule: str
) -> None:
    found = explain(options(permissions__plan_mode="advisory"), tool, words)
    assert (found.ruling.verdict, found.ruling.rule) == (verdict, rule)
    assert ("judged at each call" in " ".join(found.notes)) == tool.startswith(("agentic", "wait"))


def test_every_tool_of_a_session_can_be_explained(options) -> None:
    asked = options(
        {"checkpoint": {"mode": "model"}}, permissions__plan_mode="required", model__provider="echo"
    )
    session = open_session(asked).session
    names = {spec.name for spec in session.tools()}
    known = Explainer(asked)
    assert names <= known.facts.tools
    for name in names:
        assert known.shapes[name].arguments is not None


def test_before_a_plan_is_recorded_what_changes_something_is_refused(options) -> None:
    asked = options(permissions__plan_mode="required")
    for tool, words, rule in (
        ("write_file", "a.py", "plan-gate"),
        ("bash", "make", "plan-gate"),
        ("fetch_url", "https://example.org/", "plan-gate"),
        ("agentic_fetch_url", '{"url": "https://example.org/", "question": "What?"}', "plan-gate"),
        ("bash", "git status", "read-bundle"),
        ("read_file", "a.py", "mode: ask"),
        ("record_plan", "Do it.", "mode: ask"),
    ):
        assert explain(asked, tool, words).ruling.rule == rule, tool
    approved = options({"permissions": {"plan_approval": "operator"}}, permissions__plan_mode="required")
    assert explain(approved, "record_plan", "Do it.").ruling.rule == "plan-approval"


def test_in_mode_plan_nothing_is_changed(options) -> None:
    asked = options(permissions__mode="plan")
    rules = {tool: explain(asked, tool, words).ruling.rule for tool, words in (
        ("write_file", "a.py"), ("bash", "make"), ("bash_kill", "x"), ("read_file", "a.py"), ("ask_user", "Which?"),
    )}  # fmt: skip
    assert rules == {
        "write_file": "plan-mode", "bash": "plan-mode", "bash_kill": "mode: plan", "read_file": "mode: plan",
        "ask_user": "question",
    }  # fmt: skip


def test_what_the_model_does_not_get_is_said(options) -> None:
    for config, flags in (({"tools": {"disable": ["bash"]}}, {}), ({}, {"session__task_class": "debug"})):
        asked = options(config, **flags)
        assert "does not get this tool" in explain(asked, "bash", "ls").notes[0]
        assert explain(asked, "read_file", "a").notes == ()


def test_pinned_arguments_count(options) -> None:
    asked = options({"tools": {"read_file": {"args": {"path": ".env"}}}})
    assert explain(asked, "read_file", "a.py").ruling.rule == "secret-path"


def test_rules_of_a_project_that_is_not_trusted_are_said_not_to_count(options) -> None:
    asked = options({"permissions": {"allow": ["bash:make*", "bsh:x*"]}})
    asked.trust = False
    found = explain(asked, "bash", "make")
    assert found.ruling.verdict == "ask"
    assert found.notes == left_out(asked)
    assert "not trusted yet" in found.notes[0]
    assert "permissions.allow" in found.notes[0]
    asked.trust = True
    assert (explain(asked, "bash", "make").notes, left_out(asked)) == ((), ())


def test_a_group_is_a_line_and_no_json(options) -> None:
    assert explain(options(), "bash", "{ make; }").subject == "{ make; }"
    with pytest.raises(ConfigError, match="are not JSON"):
        explain(options(), "bash", '{"command": }')


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


def test_a_tool_of_a_server_is_explained_without_the_server(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"far": {"url": "https://evil.org/mcp"}}}', "utf-8")
    (tmp_path / "config.json").write_text(
        '{"url_scope": {"deny": ["evil.org"]}, "permissions": {"allow": ["mcp__near__*"]}}', "utf-8"
    )
    options = RunOptions(tmp_path, {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path)}, attended=True)
    assert explain(options, "mcp__near__x", '{"a": 1}').ruling.verdict == "allow"
    assert explain(options, "mcp__other__x", "{}").ruling.verdict == "ask"
    assert explain(options, "mcp__far__x", "{}").ruling.rule == "url-scope: evil.org"
    with pytest.raises(ConfigError, match="JSON"):
        explain(options, "mcp__near__x", "words")

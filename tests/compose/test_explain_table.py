"""The table of shell lines through `permissions explain`: config on disk, the tool's own look at the line, the gate."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.explain import Explainer
from tests.permissions.test_shell_table import (
    ALL_DENIED,
    ALLOW,
    ALLOWED,
    ASKED,
    DENY,
    DESTRUCTIVE,
    HIDDEN,
    KEPT,
    NO_SEARCH,
    SEARCHES,
)

RULES = {"allow": list(ALLOW), "deny": list(DENY)}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explain")


@cache
def explainer(project: Path, *, ruled: bool = True, gate: str = "allow", **flags: str) -> Explainer:
    """What `agent-cli permissions explain` asks, for one config."""
    root = project / f"{'ruled' if ruled else 'free'}-{gate}"
    (root / ".agents").mkdir(parents=True, exist_ok=True)
    config: dict[str, Any] = {"safety": {"bash_search_gate": gate}, "permissions": RULES if ruled else {}}
    (root / ".agents" / "config.json").write_text(json.dumps(config))
    environ = {"HOME": str(project), "AGENT_CLI_HOME": str(project / "state")}
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    return Explainer(RunOptions(root, environ, True, dotted, trust=True))


def told(held: Explainer, line: str) -> tuple[str, str]:
    ruling = held.explain("bash", json.dumps({"command": line})).ruling
    return ruling.verdict, ruling.rule


@pytest.mark.parametrize("mode", ["ask", "yolo", "allow"])
def test_what_is_denied(project: Path, mode: str) -> None:
    held = explainer(project, permissions__mode=mode)
    wrong = {line: told(held, line) for line in ALL_DENIED if told(held, line)[0] != "deny"}
    assert wrong == {}
    assert all(told(held, line)[1].removeprefix("deny: ") in DENY for line in ALL_DENIED)


def test_what_could_hide_a_forbidden_command(project: Path) -> None:
    held = explainer(project, permissions__mode="yolo")
    assert {line: told(held, line) for line in HIDDEN if told(held, line)[0] == "allow"} == {}
    alone = explainer(project, permissions__mode="allow")
    assert {line for line in HIDDEN if told(alone, line)[0] != "deny"} == set()


def test_what_is_asked(project: Path) -> None:
    """Some of them name a file outside of the project, too: asked for that."""
    held, alone = explainer(project), explainer(project, permissions__mode="allow")
    assert {line: told(held, line) for line in ASKED if told(held, line)[0] != "ask"} == {}
    assert {line for line in ASKED if told(alone, line)[0] != "deny"} == set()


def test_what_is_allowed_and_by_which_rules(project: Path) -> None:
    held = explainer(project)
    for rule, lines in ALLOWED.items():
        assert {line: told(held, line) for line in lines if told(held, line) != ("allow", rule)} == {}


@pytest.mark.parametrize("mode", ["ask", "acceptEdits", "yolo"])
def test_what_throws_work_away(project: Path, mode: str) -> None:
    held = explainer(project, ruled=False, permissions__mode=mode)
    wanted = ("ask", "destructive-git")
    assert {line: told(held, line) for line in DESTRUCTIVE if told(held, line) != wanted} == {}
    assert {line for line in KEPT if told(held, line)[1] == "destructive-git"} == set()


def test_what_is_a_search(project: Path) -> None:
    held = explainer(project, ruled=False, gate="enforce", permissions__mode="yolo")
    searches = [line for lines in SEARCHES.values() for line in lines]
    assert {line: told(held, line) for line in searches if told(held, line) != ("deny", "search-gate")} == {}
    assert {line for line in NO_SEARCH if told(held, line)[1] == "search-gate"} == set()

"""`agent-cli permissions`: what it prints, and how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.permissions.test_shell_table import ALL_LINES


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENT_CLI_HOME", str(tmp_path / "state"))
    (tmp_path / ".agents").mkdir()
    rules = {"permissions": {"allow": ["bash:make*", "bsh:x"], "deny": ["bash:rm*"]}}
    (tmp_path / ".agents" / "config.json").write_text(json.dumps(rules))
    return tmp_path


def test_a_call_is_explained_in_lines(ask, project: Path) -> None:
    code, out, _ = ask("--trust", "permissions", "explain", "bash", "make", "all")
    assert (code, out) == (0, "allow  (allow: bash:make*; mode ask)\n")
    code, out, _ = ask("permissions", "explain", "write_file", "a.py")
    path = project.resolve() / "a.py"
    assert (code, out.splitlines()) == (
        0,
        ["ask  (mode: ask; mode ask)", "why: it changes files, and no rule allows it",
         f"way: --permission-mode acceptEdits, an allow rule 'write_file:{path}', or --yolo.", f"touches: {path} (w)"],
    )  # fmt: skip


def test_a_refusal_is_exit_1_and_a_mistake_2(ask, project: Path) -> None:
    assert ask("--trust", "permissions", "explain", "bash", "sudo rm -rf x")[0] == 1
    assert ask("permissions", "explain", "--unattended", "write_file", "a.py")[0] == 1
    code, _, err = ask("permissions", "explain", "bsh", "ls")
    assert code == 2
    assert "There is no tool 'bsh'" in err


def test_one_object_holds_it_all(ask, project: Path) -> None:
    code, out, _ = ask("--trust", "permissions", "explain", "--json", "bash", '{"command": "ls\\nrm x"}')
    told = json.loads(out)
    assert code == 1
    assert (told["verdict"], told["rule"], told["subject"]) == ("deny", "deny: bash:rm*", "ls\nrm x")
    assert set(told) == {
        "tool",
        "subject",
        "mode",
        "verdict",
        "rule",
        "reason",
        "remedy",
        "paths",
        "hosts",
        "notes",
    }


def test_dead_rules_are_listed_and_so_is_what_does_not_count(ask, project: Path) -> None:
    code, out, err = ask("permissions", "lint")
    assert (code, out) == (0, "Every rule can match.\n")
    assert "not trusted yet" in err
    assert "permissions.allow" in err
    code, out, err = ask("--trust", "permissions", "lint")
    assert (code, out, err) == (1, "allow bsh:x: there is no tool bsh; is bash meant?\n", "")


@pytest.mark.parametrize("line", sorted(ALL_LINES)[::80])
def test_any_line_can_be_asked_about(ask, project: Path, line: str) -> None:
    code, out, _ = ask("--trust", "permissions", "explain", "--json", "bash", json.dumps({"command": line}))
    assert code in (0, 1)
    assert json.loads(out)["subject"] == line

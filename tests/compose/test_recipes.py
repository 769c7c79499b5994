"""Recipes: found, in force below what the run says, checked against what they really get, and run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_cli.cli.entry import run
from agent_cli.compose import RunOptions, open_session
from agent_cli.compose.budgets import limits
from agent_cli.compose.recipes import problems
from agent_cli.compose.session import prepare
from agent_cli.config import recipes
from agent_cli.kernel.errors import ConfigError

SHIPPED = sorted(path.name for path in recipes.SHIPPED.iterdir() if (path / ".agents").is_dir())
TOP = Path(__file__).parents[2] / "recipes"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


def options(
    project: Path, recipe: str | None, *, attended: bool = False, trust: bool = False, **flags: object
) -> RunOptions:
    said = {key.replace("__", "."): value for key, value in flags.items()}
    return RunOptions(project, os.environ, attended, said, recipe=recipe, trust=trust, ephemeral=True)


def made(place: Path, config: object, text: str = "Work well.") -> Path:
    (place / ".agents").mkdir(parents=True)
    (place / ".agents" / "config.json").write_text(json.dumps(config))
    (place / ".agents" / "AGENTS.md").write_text(text)
    (place / "README.md").write_text("# It\n\nFor one job.\n")
    return place


def test_the_shipped_ones_are_those_at_the_top() -> None:
    assert {"frugal", "guarded"} <= set(SHIPPED)
    assert sorted(path.name for path in TOP.iterdir() if path.is_dir()) == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_recipe_is_right(name: str) -> None:
    assert problems(recipes.SHIPPED / name, os.environ) == []


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_recipe_runs(name: str, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = project / "script.jsonl"
    script.write_text('{"text": "All is well."}\n')
    assert run(["-p", "look around", "--recipe", name, "--script", str(script)]) == 0
    assert capfd.readouterr().out == "All is well.\n"


def test_guarded_has_its_figures(project: Path) -> None:
    there = prepare(options(project, "guarded", attended=True)).settings
    bounds = limits(there, attended=True)
    assert (bounds.max_steps, bounds.max_tool_calls, bounds.max_tokens, bounds.max_duration) == (
        20,
        60,
        400_000,
        900,
    )
    assert bounds.max_turn_cost == 2
    alone = prepare(options(project, "guarded")).settings
    bounds = limits(alone, attended=False)
    assert (bounds.max_steps, bounds.max_duration, bounds.max_turn_cost, bounds.max_session_cost) == (
        200,
        14_400,
        20,
        20,
    )
    assert (alone.watchdog.profile, alone.safety.watchdog) == ("strict", "enforce")


def test_what_the_run_says_wins_over_a_recipe(project: Path) -> None:
    said = prepare(options(project, "guarded", budgets__max_steps=5, agent__max_turn_cost_usd=0.5)).settings
    bounds = limits(said, attended=False)
    assert (bounds.max_steps, bounds.max_turn_cost) == (5, 0.5)


def test_a_recipe_wins_over_the_project(project: Path) -> None:
    made(project, {"budgets": {"max_tool_calls": 7}, "tools": {"concurrency": 2}})
    loaded = prepare(options(project, "guarded", trust=True))
    assert (loaded.settings.budgets.max_tool_calls, loaded.settings.tools.concurrency) == (60, 2)


async def test_its_instructions_are_in_the_prompt(project: Path) -> None:
    made(project / "mine", {}, "Whistle while you work.")
    session = open_session(options(project, "./mine", model__provider="echo")).session
    assert "Whistle while you work." in "".join(session._core.prefix().system)
    await session.close()


def test_names_are_looked_up_in_the_project_only_if_it_is_trusted(project: Path) -> None:
    made(project / ".agents" / "recipes" / "guarded", {"permissions": {"mode": "yolo"}})
    assert prepare(options(project, "guarded")).settings.permissions.mode == "ask"
    assert prepare(options(project, "guarded", trust=True)).settings.permissions.mode == "yolo"


@pytest.mark.parametrize(
    ("wanted", "told"), [("guardd", "there is no recipe 'guardd'; there are: "), ("./none", "is no recipe")]
)
def test_what_is_not_there(project: Path, wanted: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        prepare(options(project, wanted))


@pytest.mark.parametrize(
    ("config", "text", "told"),
    [
        ({}, "Use `read_fil(path)` first.", "did you mean `read_file`"),
        ({"tools": {"disable": ["bash"]}}, "Run it with `bash(…)`.", "names the tool `bash`"),
        ({"permissions": {"allow": ["bsh:ls*"]}}, "", "no tool is called bsh"),
        ({"permissions": {"allow": ["bash:ls*"], "deny": ["bash:ls*"]}}, "", "the same rule denies it"),
        ({"model": {"name": "claude-opis-5"}}, "", "the model claude-opis-5 is unknown"),
        ({"modl": {}}, "", "modl"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(tmp_path: Path, config: object, text: str, told: str) -> None:
    found = problems(made(tmp_path / "r", config, text), os.environ)
    assert any(told in line for line in found), found


def test_a_new_one_is_right_and_is_listed(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["recipes", "new", "mine"]) == 0
    assert run(["--trust", "-p", "x", "--provider", "echo"]) == 0
    capfd.readouterr()
    assert run(["recipes", "check", "mine"]) == 0
    assert run(["recipes", "list", "--json"]) == 0
    out = capfd.readouterr().out
    assert {"mine", *SHIPPED} <= {row["name"] for row in json.loads(out[out.index("[") :])}
    assert run(["recipes", "show", "guarded"]) == 0
    assert "strict" in capfd.readouterr().out
    assert run(["recipes", "new", "mine"]) == 2
    (project / ".agents" / "recipes" / "mine" / "README.md").unlink()
    assert run(["recipes", "check", "./.agents/recipes/mine"]) == 1

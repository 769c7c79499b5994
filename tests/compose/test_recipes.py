"""Recipes: found, in force below what the run says, checked against what they really get, and run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_cli.cli.entry import run
from agent_cli.compose import RunOptions, open_session
from agent_cli.compose.budgets import limits
from agent_cli.compose.recipes import problems
from agent_cli.compose.session import prepare
from agent_cli.config import recipes
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Say
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.messages import Text

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
    assert {"ci-review", "debug-infra", "frugal", "guarded", "local", "nightly", "plan-first"} <= set(SHIPPED)
    assert sorted(path.name for path in TOP.iterdir() if path.is_dir()) == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_recipe_is_right(name: str) -> None:
    assert problems(recipes.SHIPPED / name, os.environ) == []


def test_a_project_with_its_own_directory_is_checked_as_a_recipe_by_what_belongs_to_it(
    tmp_path: Path,
) -> None:
    project = made(tmp_path / "project", {})
    wrong = "Call the tool `no_such_tool`."
    elsewhere = (".venv/lib/x", "docs", ".agents/recipes/other", ".agents/plans")
    for place in (*elsewhere, ".agents/commands"):
        (project / place).mkdir(parents=True)
        (project / place / "page.md").write_text(wrong)
    (line,) = problems(project, os.environ)
    assert "commands/page.md" in line and "no_such_tool" in line


REVIEW = json.dumps({"verdict": "approve", "summary": "It renames a variable.", "findings": []})
ANSWERS = {"ci-review": REVIEW}
"""What a model has to say there; elsewhere anything is an answer."""


def played(project: Path, name: str, *replies: object) -> list[str]:
    """The command line of a one-shot run in which a model says this."""
    script = project.parent / "script.jsonl"
    script.write_text("\n".join(json.dumps(reply) for reply in replies))
    return ["-p", "look around", "--recipe", name, "--script", str(script)]


def calls(name: str, /, **arguments: object) -> dict[str, object]:
    return {"calls": [{"name": name, "arguments": arguments}]}


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_recipe_runs(name: str, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = ANSWERS.get(name, "All is well.")
    assert run(["pool", "set", "nightly", "--runs", "2", "--usd", "50"]) == 0
    capfd.readouterr()
    (project / "a.txt").write_text("hello")
    assert run(played(project, name, calls("read_file", path="a.txt"), {"text": said})) == 0
    assert json.loads(capfd.readouterr().out) == json.loads(said) if name in ANSWERS else True
    if name not in ANSWERS:
        assert run(played(project, name, {"text": said})) == 0
        assert capfd.readouterr().out.endswith("All is well.\n")


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that write down how they are called; the file in which they do."""
    called, programs = tmp_path / "called", tmp_path / "bin"
    programs.mkdir()
    for name in ("kubectl", "systemctl", "journalctl"):
        program = programs / name
        program.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >> {called}\necho "web-1  CrashLoopBackOff"\n'
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return called


def test_debug_infra_looks_at_a_cluster_and_changes_nothing(
    project: Path, cluster: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    replies = [
        calls("cluster_list", kind="pods", namespace="shop"),
        calls("cluster_get", kind="pod", name="--kubeconfig=/x; touch here"),
        calls("cluster_describe", kind="pod", name="web-1"),
        calls("cluster_logs", pod="web-1", previous="true"),
        calls("cluster_events"),
        calls("service_status", unit="nginx.service"),
        calls("service_logs", unit="nginx.service", lines=5),
        calls("cluster_list", kind="secrets"),
        calls("bash", command="kubectl delete pod web-1"),
        calls("write_file", path="a.txt", content="x"),
        {"text": "It crashes at start."},
    ]
    assert run([*played(project, "debug-infra", *replies), "--output-format", "stream-json"]) == 0
    assert cluster.read_text("utf-8").splitlines() == [
        "kubectl get pods --namespace=shop --output=wide",
        "kubectl get pod --namespace=default --output=yaml -- --kubeconfig=/x; touch here",
        "kubectl describe pod --namespace=default -- web-1",
        "kubectl logs --namespace=default --tail=100 --previous=true --timestamps --all-containers -- web-1",
        "kubectl get events --namespace=default --sort-by=.lastTimestamp",
        "systemctl status --no-pager --full -- nginx.service",
        "journalctl --no-pager --output=short-iso --unit=nginx.service --lines=5",
    ]
    assert list(project.iterdir()) == []
    told = capfd.readouterr().out
    assert "There is no tool 'bash'" in told
    assert "There is no tool 'write_file'" in told


def test_ci_review_answers_with_json_that_fits_or_fails(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    finding = {
        "file": "a.py",
        "line": 3,
        "severity": "high",
        "problem": "It divides by zero.",
        "fix": "Check it.",
    }
    review = {"verdict": "request-changes", "summary": "A division.", "findings": [finding]}
    assert run(played(project, "ci-review", {"text": json.dumps(review)})) == 0
    assert json.loads(capfd.readouterr().out) == review
    wrong = {**review, "verdict": "perhaps"}
    assert run(played(project, "ci-review", {"text": json.dumps(wrong)}, {"text": json.dumps(wrong)})) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "verdict" in err


def test_plan_first_changes_nothing_before_a_plan(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / ".agents").mkdir()
    write = calls("write_file", path="a.txt", content="x")
    replies = [write, calls("record_plan", plan="1. Write a.txt."), write, {"text": "No plan is in force."}]
    assert run([*played(project, "plan-first", *replies), "--output-format", "stream-json"]) == 0
    assert not (project / "a.txt").exists()
    assert "no plan is recorded yet" in capfd.readouterr().out


async def test_plan_first_goes_by_a_plan_that_the_operator_approves(project: Path) -> None:
    (project / ".agents").mkdir()
    script = project.parent / "script.jsonl"
    replies = [
        calls("record_plan", plan="1. Write a.txt."),
        calls("write_file", path="a.txt", content="x"),
        {"text": "Done."},
    ]
    script.write_text("\n".join(json.dumps(reply) for reply in replies))
    given = options(project, "plan-first", attended=True, model__provider="scripted")
    session = open_session(replace(given, script=script)).session
    session.send(Say((Text("write it"),)))
    async for event in session.events():
        if isinstance(event, ev.Entry) and isinstance(event.event, ev.ApprovalRequested):
            assert event.event.tool == "record_plan"
            session.send(Answer(event.event.call_id, allowed=True))
        if isinstance(event, ev.Entry) and isinstance(event.event, ev.TurnCompleted):
            break
    assert (project / "a.txt").read_text() == "x"
    await session.close()


def test_nightly_shares_an_account_and_is_stopped_from_outside(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = played(project, "nightly", {"text": "Done."})
    assert run(job) == 2
    assert "agent-cli pool set nightly" in capfd.readouterr().err
    assert run(["pool", "set", "nightly", "--runs", "4", "--usd", "20"]) == 0
    assert run(job) == 0
    assert run(["kill-switch", "on", "--scope", "all", "--why", "it burns"]) == 0
    assert run(job) == 3
    assert "it burns" in capfd.readouterr().err
    assert run(["kill-switch", "off", "--scope", "all", "--why", "it is out"]) == 0
    assert run(["pool", "set", "nightly", "--runs", "4", "--usd", "0.01"]) == 0
    monkeypatch.setenv("AGENT_CLI_ADMISSION__WHEN_FULL", "reject")
    assert run(job) == 75
    assert "nightly" in capfd.readouterr().err


def test_local_needs_nothing_from_elsewhere(project: Path) -> None:
    settings = prepare(options(project, "local")).settings
    assert settings.model.provider == "local"
    assert "fetch_url" in settings.tools.disable
    assert not settings.agentic.enabled


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


def test_a_file_that_the_run_names_wins_over_a_recipe(project: Path) -> None:
    (project / "run.json").write_text('{"budgets": {"max_tool_calls": 7}}')
    given = replace(options(project, "guarded"), config_file=project / "run.json")
    loaded = prepare(given)
    assert (loaded.settings.budgets.max_tool_calls, loaded.settings.budgets.max_tokens) == (7, 400_000)


async def test_its_instructions_are_in_the_prompt(project: Path) -> None:
    made(project / "mine", {}, "Whistle while you work.")
    session = open_session(options(project, "./mine", model__provider="echo")).session
    assert "Whistle while you work." in "".join(session._core.prefix().system)
    await session.close()


def test_names_are_looked_up_in_the_project_only_if_it_is_trusted(project: Path) -> None:
    made(project / ".agents" / "recipes" / "guarded", {"permissions": {"mode": "yolo"}})
    assert prepare(options(project, "guarded")).settings.permissions.mode == "ask"
    assert prepare(options(project, "guarded", trust=True)).settings.permissions.mode == "yolo"


def test_one_that_a_project_without_trust_holds_names_trust_as_the_reason(project: Path) -> None:
    made(project / ".agents" / "recipes" / "mine", {})
    with pytest.raises(
        ConfigError, match=r"recipe 'mine' is in .*, and this project is not trusted.*--trust"
    ):
        prepare(options(project, "mine"))


def test_a_new_one_leaves_a_trusted_project_trusted(project: Path) -> None:
    made(project / ".agents" / "recipes" / "first", {})
    prepare(options(project, None, trust=True))
    assert run(["recipes", "new", "mine"]) == 0
    assert prepare(options(project, "mine")).left_out == ()


def test_a_new_one_leaves_a_project_without_trust_as_it_was(project: Path) -> None:
    made(project / ".agents" / "recipes" / "first", {})
    assert run(["recipes", "new", "mine"]) == 0
    with pytest.raises(ConfigError, match="--trust"):
        prepare(options(project, "mine"))


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
        ({}, "Use the `frobnicate` tool.", "names the tool `frobnicate`"),
        ({}, "The tool `zap` does it.", "names the tool `zap`"),
        ({"tools": {"disable": ["bash"]}}, "Run it with `bash(…)`.", "names the tool `bash`"),
        ({"permissions": {"allow": ["bsh:ls*"]}}, "", "there is no tool bsh; is bash meant?"),
        ({"permissions": {"allow": ["bash:ls*"], "deny": ["bash:ls*"]}}, "", "the deny rule 'bash:ls*' forbids all of it"),
        ({"model": {"name": "claude-opis-5"}}, "", "the model claude-opis-5 is unknown"),
        ({"permissions": {"deny": ["bash:rm *"]}, "tools": {"disable": ["bash"]}}, "", "there is no tool bash"),
        ({"agentic": {"small_model": "claude-hiku"}}, "", "agentic.small_model: the model claude-hiku is unknown"),
        ({"tools": {"disable": ["bsh"]}}, "", "bsh"),
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


def test_a_tool_of_the_recipe_is_one_that_its_texts_may_name(tmp_path: Path) -> None:
    recipe = made(tmp_path / "r", {}, "Ask `weather_of(place)` first.")
    assert any("names the tool `weather_of`" in line for line in problems(recipe, os.environ))
    tools = recipe / ".agents" / "tools"
    tools.mkdir()
    tools.joinpath("weather.toml").write_text(
        'name = "weather_of"\ndescription = "The weather."\ncommand = "echo {place}"\n[arguments.place]\n'
    )
    assert problems(recipe, os.environ) == []
    tools.joinpath("broken.toml").write_text('name = "x"\n')
    assert any("broken.toml" in line for line in problems(recipe, os.environ))


def test_a_config_file_of_the_run_counts_over_the_recipe_also_where_nobody_is_there(project: Path) -> None:
    def steps(said: object, recipe: str | None = "guarded", **environ: str) -> int | None:
        own = project / "own.json"
        own.write_text(json.dumps(said))
        run = replace(
            options(project, recipe), config_file=Path("own.json"), environ={**os.environ, **environ}
        )
        return limits(prepare(run).settings, attended=False).max_steps

    both = {"budgets": {"max_steps": 22, "unattended": {"max_steps": 33}}}
    assert steps({"budgets": {"max_steps": 22}}) == 22
    assert steps(both) == 33
    assert steps(both, None) == 33
    assert steps({"budgets": {"max_steps": 22}}, AGENT_CLI_BUDGETS__UNATTENDED__MAX_STEPS="44") == 44
    assert steps({}) == 200

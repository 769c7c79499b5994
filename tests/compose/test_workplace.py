"""What is on disk around a session: real files, real config, a real repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.workplace import Workplace
from agent_cli.config import places
from agent_cli.config.prompts import read_prompts
from agent_cli.kernel.errors import AgentError
from agent_cli.ports import PathUse, Touches
from agent_cli.talk.changed import Changed
from agent_cli.tools.snapshots import Snapshots
from tests.fakes.session import FakeSession


@pytest.fixture
def options(tmp_path):
    root = tmp_path / "p"
    (root / ".agents" / "commands").mkdir(parents=True)
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "h"), "MY_API_KEY": "hunter2hunter2"}
    return RunOptions(root, environ, True, {"model.provider": "echo"}, trust=True)


@pytest.fixture
def workplace(options, tmp_path):
    return Workplace(options, tmp_path / "agent-cli.log")


def test_a_line_is_added_to_the_file_that_counts_and_the_instructions_are_listed(workplace, options):
    assert workplace.instructions() == []
    assert workplace.remember("run the tests") == str(options.cwd / "AGENTS.md")
    (options.cwd / "AGENTS.md").write_text("# Rules")
    workplace.remember("never push")
    assert (options.cwd / "AGENTS.md").read_text() == "# Rules\n- never push\n"
    (found,) = workplace.instructions()
    assert (found.path, found.size, found.cut) == (str(options.cwd / "AGENTS.md"), 21, False)


def test_the_instructions_of_the_recipe_in_force_are_listed(options, tmp_path):
    recipe = tmp_path / "mine" / ".agents"
    recipe.mkdir(parents=True)
    (recipe / "AGENTS.md").write_text("Whistle.")
    options.recipe = str(recipe.parent)
    (found,) = Workplace(options, tmp_path / "l").instructions()
    assert found.path == str(recipe / "AGENTS.md")


def test_a_theme_is_kept_in_the_users_config(workplace, options):
    file = Path(workplace.keep("ui.theme", "light"))
    assert json.loads(file.read_text(encoding="utf-8")) == {"ui": {"theme": "light"}}
    assert file.parent == Path(options.environ["AGENT_CLI_HOME"])


def test_commands_of_a_project_count_only_where_it_is_trusted(workplace, options, tmp_path):
    (options.cwd / ".agents" / "commands" / "ship.md").write_text(
        "---\ndescription: Release it\nargument-hint: VERSION\n---\nRelease $1.\n"
    )
    (tmp_path / "h" / "commands").mkdir(parents=True)
    (tmp_path / "h" / "commands" / "mine.md").write_text("Do mine.")
    untrusted = RunOptions(options.cwd, options.environ, True, options.flags)
    assert [each.name for each in Workplace(untrusted, tmp_path / "l").prompts()] == ["mine"]
    mine, ship = workplace.prompts()
    assert (mine.name, mine.body) == ("mine", "Do mine.")
    assert (ship.body, ship.description, ship.arguments) == ("Release $1.", "Release it", "VERSION")


def test_prompts_that_are_none_are_left_out(tmp_path):
    (tmp_path / "a.md").write_text("---\ndescription: nothing else\n---\n")
    (tmp_path / "no name.md").write_text("x")
    (tmp_path / "big.md").write_text("x" * 40_000)
    (tmp_path / "dir.md").mkdir()
    (tmp_path / "Good.md").write_text("the user's")
    later = tmp_path / "later"
    later.mkdir()
    (later / "good.md").write_text("the project's")
    assert [(each.name, each.body) for each in read_prompts([tmp_path, later])] == [("good", "the project's")]


def test_what_a_session_changed_is_compared_with_what_files_held_before(workplace, options):
    snapshots = Snapshots(places.snapshots_dir("01S", options.environ), str(options.cwd))
    old, new, gone = (options.cwd / name for name in ("old.py", "new.py", "same.py"))
    old.write_text("one\ntwo\n")
    gone.write_text("same\n")
    for moment, path in enumerate((old, new, gone, old), 1):
        snapshots.before(moment, Touches("write", "x", (PathUse(str(path), "w"),)))
        path.write_text(path.read_text() + f"line {moment}\n" if path.exists() else "born\n")
    gone.write_text("same\n")
    found = workplace.changes("01S")
    assert found.since == "in this session"
    assert [(file.path, file.added, file.removed) for file in found.files] == [
        ("new.py", 1, 0),
        ("old.py", 2, 0),
    ]
    assert "+line 1" in found.files[1].diff
    assert workplace.moments("01S") == {1: 1, 2: 1, 3: 1, 4: 1}
    late = workplace.changes("01S", since=4)
    assert [(file.path, file.added, file.removed) for file in late.files] == [("old.py", 1, 0)]
    assert "+line 4" in late.files[0].diff
    assert workplace.changes("01S", since=5) == Changed((), "since then")


def test_without_snapshots_git_says_what_is_not_committed(workplace, options):
    with pytest.raises(AgentError, match="git cannot compare"):
        workplace.changes("01S")
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-C", str(options.cwd), "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
            check=True, capture_output=True, env=environ,
        )  # fmt: skip

    (options.cwd / "a.py").write_text("one\n")
    git("init")
    git("add", "-A")
    git("commit", "-m", "x")
    (options.cwd / "a.py").write_text("two\nthree\n")
    (file,) = workplace.changes("01S").files
    assert (file.path, file.added, file.removed) == ("a.py", 2, 1)


def test_a_report_holds_no_secret_and_nothing_that_was_said(workplace, options, tmp_path):
    (tmp_path / "agent-cli.log").write_text(
        "ERROR key sk-ant-api03-qbcdYfghXjklmWopqrVtuvUx and hunter2hunter2\n"
    )
    session = FakeSession()
    from tests.fakes.screen import turn

    turn(session, "my secret plan")
    path = Path(workplace.report(session, "it hangs"))
    text = path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o077 == 0
    assert "it hangs" in text
    assert "OperatorMessage" in text
    assert "ERROR key" in text
    for secret in ("my secret plan", "hunter2", "sk-ant-api03-abc"):
        assert secret not in text

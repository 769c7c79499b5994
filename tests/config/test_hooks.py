"""The section of hooks: what fits, where a mistake stands, and how files are joined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.compose import RunOptions
from agent_cli.compose.scope import facts, root_of
from agent_cli.compose.session import prepare
from agent_cli.config import trust
from agent_cli.config.hook_files import files_of
from agent_cli.kernel.errors import ConfigError


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    (tmp_path / "p" / ".agents").mkdir(parents=True)
    (tmp_path / "h").mkdir()
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": str(tmp_path / "h")}
    return RunOptions(tmp_path / "p", environ, True, trust=True)


def write(directory: Path, *rows: dict[str, Any]) -> None:
    (directory / "config.json").write_text(json.dumps({"hooks": rows}, indent=1))


def test_hooks_of_the_user_and_of_the_project_are_joined(options: RunOptions, tmp_path: Path) -> None:
    both = {"event": "turn-end", "command": "true"}
    write(tmp_path / "h", {"event": "pre-tool", "command": "check", "matcher": "bash", "timeout": "2m"}, both)
    write(options.cwd / ".agents", both, {"event": "post-tool", "argv": ["./lint", "-q"], "name": "lint"})
    loaded = prepare(options)
    rows = [(row.event, row.command, row.argv, row.timeout) for row in loaded.settings.hooks]
    assert rows == [
        ("pre-tool", "check", (), 120),
        ("turn-end", "true", (), 60),
        ("post-tool", None, ("./lint", "-q"), 60),
    ]
    assert loaded.origins["hooks"].count("config.json") == 2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"event": "pre-tol", "command": "x"}, "pre-tool"),
        ({"event": "pre-tool"}, "must have `command` or `argv`"),
        ({"event": "pre-tool", "command": "x", "argv": ["x"]}, "must have `command` or `argv`"),
        ({"event": "turn-end", "command": "x", "matcher": "bash"}, "turn-end is about no tool"),
        ({"event": "post-tool", "command": "x", "gate": True}, "only a hook of pre-tool"),
        ({"event": "pre-tool", "comand": "x"}, "did you mean 'hooks.1.command'"),
        ({"event": "pre-tool", "command": "x", "timeout": 0}, "must be more than 0"),
        ({"command": "x"}, "event"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_was_meant(
    options: RunOptions, row: dict[str, Any], said: str
) -> None:
    write(options.cwd / ".agents", {"event": "turn-end", "command": "true"}, row)
    with pytest.raises(ConfigError) as caught:
        prepare(options)
    assert said in str(caught.value)
    line = int(str(caught.value).partition("config.json:")[2].partition(":")[0])
    assert line >= 7
    toml = "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items())
    (options.cwd / ".agents" / "config.json").unlink()
    (options.cwd / ".agents" / "config.toml").write_text(
        f'[[hooks]]\nevent = "turn-end"\ncommand = "true"\n[[hooks]]\n{toml}[ui]\ntheme = "dark"\n'
    )
    with pytest.raises(ConfigError) as caught:
        prepare(options)
    assert said in str(caught.value)
    line = int(str(caught.value).partition("config.toml:")[2].partition(":")[0])
    assert 4 <= line <= 4 + len(row)


def test_hooks_of_a_project_wait_for_trust_and_it_ends_with_what_they_run(
    options: RunOptions, tmp_path: Path
) -> None:
    write(options.cwd / ".agents", {"event": "turn-end", "command": "sh scripts/check.sh && true"})
    script = options.cwd / "scripts" / "check.sh"
    script.parent.mkdir()
    script.write_text("true")
    untrusted = RunOptions(options.cwd, options.environ, True)
    loaded = prepare(untrusted)
    assert (loaded.settings.hooks, loaded.left_out) == ((), ("hooks",))
    trust.trust(options.cwd / ".agents", options.environ)
    loaded = prepare(untrusted)
    assert len(loaded.settings.hooks) == 1
    assert str(script) in facts(untrusted, loaded, root_of(untrusted, loaded), None).control
    script.write_text("false")
    assert prepare(untrusted).left_out == ("hooks",)


def test_the_files_that_hooks_run_are_found_in_every_spelling(tmp_path: Path) -> None:
    for name in ("a.sh", "b c.py", "d", "e"):
        (tmp_path / name).write_text("")
    rows = [
        {"command": "./a.sh; python 'b c.py' | tee out"},
        {"command": '"$AGENT_CLI_PROJECT_DIR/d" || (e)'},
        {"argv": ["e", 7], "command": 3},
        {"command": "'unclosed a.sh"},
        "nothing", {}, None,
    ]  # fmt: skip
    assert {path.name for path in files_of(rows, tmp_path)} == {"a.sh", "b c.py", "d", "e"}
    assert files_of("nothing", tmp_path) == ()

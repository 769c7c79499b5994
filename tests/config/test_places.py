"""Which directories count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_cli.config import places
from agent_cli.kernel.errors import ConfigError


def made(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def test_agent_cli_home_moves_everything(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": "~/here"}
    here = tmp_path / "here"
    assert places.user_dir(environ) == here
    assert places.state_dir(environ) == here
    assert places.database(environ) == here / "sessions.db"
    assert places.logs_dir(environ) == here / "logs"


def test_without_it_the_user_scope_is_in_the_home_and_the_state_where_the_platform_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    environ = {"HOME": str(tmp_path), "AGENT_CLI_HOME": ""}
    assert places.user_dir(environ) == tmp_path / ".agents"
    assert places.state_dir(environ).name == "agent-cli"
    assert places.state_dir(environ).is_relative_to(tmp_path)


def test_a_relative_home_is_made_absolute() -> None:
    assert places.user_dir({"HOME": "/h", "AGENT_CLI_HOME": "x/../y"}) == Path.cwd() / "y"


def test_the_nearest_project_going_up(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path / "home")}
    outer = made(tmp_path / "a" / ".agents")
    deep = made(tmp_path / "a" / "b" / "c")
    assert places.project_dir(deep, environ) == outer
    inner = made(tmp_path / "a" / "b" / ".agents")
    assert places.project_dir(deep, environ) == inner
    (tmp_path / "a" / "b" / "c" / ".agents").touch()
    assert places.project_dir(deep, environ) == inner


def test_it_stops_at_the_edge_of_the_home(tmp_path: Path) -> None:
    made(tmp_path / ".agents")
    home = made(tmp_path / "home")
    made(home / ".agents")
    deep = made(home / "a" / "b")
    assert places.project_dir(deep, {"HOME": str(home)}) is None
    assert places.project_dir(home, {"HOME": str(home)}) is None
    project = made(home / "a" / ".agents")
    assert places.project_dir(deep, {"HOME": str(home)}) == project


def test_the_user_scope_is_never_a_project(tmp_path: Path) -> None:
    moved = made(tmp_path / "x" / ".agents")
    deep = made(tmp_path / "x" / "y")
    assert places.project_dir(deep, {"HOME": "/nowhere", "AGENT_CLI_HOME": str(moved)}) is None


def test_a_home_behind_a_link_is_the_same_home(tmp_path: Path) -> None:
    home = made(tmp_path / "real")
    made(home / ".agents")
    (tmp_path / "link").symlink_to(home)
    assert places.project_dir(made(home / "p"), {"HOME": str(tmp_path / "link")}) is None


def test_no_home_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ConfigError, match="AGENT_CLI_HOME"):
        places.user_dir({})
    assert places.user_dir({"AGENT_CLI_HOME": "/x"}) == Path("/x")


def test_a_whole_path_needs_no_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert places.user_dir({"AGENT_CLI_HOME": str(tmp_path / "home")}).is_relative_to(tmp_path / "home")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_what_is_remembered_of_trust_may_be_anything(tmp_path: Path) -> None:
    from agent_cli.config import trust

    environ = {"AGENT_CLI_HOME": str(tmp_path / "home")}
    project = tmp_path / ".agents"
    project.mkdir()
    (project / "config.json").write_text('{"permissions": {"allow": ["bash:ls"]}}')
    file = places.state_dir(environ) / trust.FILE
    file.parent.mkdir(parents=True)
    file.write_text("[" * 100_000)
    assert not trust.is_trusted(project, environ)
    file.unlink()
    os.mkfifo(file)
    assert not trust.is_trusted(project, environ)

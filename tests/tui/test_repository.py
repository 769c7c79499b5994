"""Branch and dirty mark, from a real git."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from agent_cli.tui.repository import Repository, look, read
from tests.fakes.screen import answer, screen, sees, turn
from tests.fakes.session import FakeSession

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(directory: Path, *words: str) -> str:
    names = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *names, *words], cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk")
    (tmp_path / "a.py").write_text("one\n")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "--quiet", "--message=one")
    return tmp_path


@needs_git
def test_a_branch_clean_and_dirty(tree: Path):
    assert look(str(tree)) == Repository("trunk")
    (tree / "a.py").write_text("two\n")
    assert look(str(tree)) == Repository("trunk", dirty=True)


@needs_git
def test_a_new_file_is_dirty_too(tree: Path):
    (tree / "sub").mkdir()
    (tree / "sub" / "new.py").write_text("")
    assert look(str(tree / "sub")) == Repository("trunk", dirty=True)


@needs_git
def test_a_detached_head_is_named_by_its_commit(tree: Path):
    git(tree, "checkout", "--quiet", "--detach")
    assert look(str(tree)) == Repository(git(tree, "rev-parse", "HEAD")[:7])


@needs_git
def test_no_program_of_the_repository_is_started(tree: Path):
    mark = tree.parent / f"{tree.name}-ran"
    git(tree, "config", "core.fsmonitor", f"touch {mark}; false")
    look(str(tree))
    assert not mark.exists()


@needs_git
def test_outside_of_a_repository_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert look(str(tmp_path)) is None


def test_without_git_or_without_the_directory_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert look(str(tmp_path / "gone")) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert look(str(tmp_path)) is None


def test_a_git_that_hangs_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("agent_cli.tui.repository.PATIENCE", 0.05)
    assert look(str(tmp_path)) is None


def test_something_else_than_a_status_is_nothing():
    assert read("hello\n") is None


@needs_git
async def test_it_is_read_when_the_session_is_open_and_when_a_turn_has_ended(tree: Path):
    session = FakeSession()
    session.state.cwd = str(tree)
    async with screen(session, size=(120, 20)) as (_, pilot):
        await sees(pilot, "trunk")
        turn(session)
        await sees(pilot, "working")
        (tree / "a.py").write_text("two\n")
        answer(session, "done")
        await sees(pilot, "trunk*")

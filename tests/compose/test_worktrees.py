"""Worktrees of agents whose process died, with a real git."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from agent_cli.compose.worktrees import Place, Worktree, after, git, open_worktree


@pytest.fixture
def place(tmp_path: Path) -> Place:
    project = tmp_path / "p"
    project.mkdir()
    (project / "a.txt").write_text("one\n", "utf-8")
    for words in (
        ["init", "--quiet"],
        ["add", "--all"],
        ["-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "-m", "first"],
    ):
        subprocess.run(["git", *words], cwd=project, check=True)
    return Place(project, str(project), tmp_path / "worktrees" / "s1", "s1")


def opened(place: Place) -> Worktree:
    return asyncio.run(open_worktree(place, "maker-1"))


def test_one_in_which_nothing_was_changed_is_removed_with_its_branch(place: Place) -> None:
    tree = opened(place)
    assert "was removed" in after(place, "maker-1")
    assert not Path(tree.top).exists()
    assert git(str(place.project), "branch", "--list", "agents/*") == ""


def test_what_was_changed_is_kept_on_its_branch_and_named(place: Place) -> None:
    tree = opened(place)
    Path(tree.top, "b.txt").write_text("two\n", "utf-8")
    told = after(place, "maker-1")
    assert tree.branch in told
    assert "b.txt" in told
    assert git(str(place.project), "show", f"{tree.branch}:b.txt") == "two"


def test_one_that_is_not_what_it_was_is_left_alone(place: Place) -> None:
    assert after(place, "maker-1") == ""
    tree = opened(place)
    git(tree.top, "checkout", "--quiet", "--detach")
    assert after(place, "maker-1") == ""
    assert Path(tree.top, "a.txt").exists()

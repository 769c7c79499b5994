"""Git worktrees for agents: each works on a branch of its own, and what it changed is kept there."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

SECONDS = 60.0
"""Of one command of git."""
SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgsign=false")
NOBODY = ("-c", "user.name=agent-cli", "-c", "user.email=agent-cli@localhost")
NO_REPOSITORY = "{root} is in no git repository. Run `git init` and commit, or take `isolation` out."
NO_COMMIT = "there is no commit yet to begin from. Commit first, or take `isolation` out."
UNCHANGED = "It changed no file; its worktree was removed."
CHANGED = """What it changed is not in the project yet: it is committed on the branch {branch}, in the worktree {place}.
{stat}
See it with `git diff {base}...{branch}`, take it over with `git merge {branch}`; then `git worktree remove {place}`."""
KEPT = "What it changed is in the worktree {place} on the branch {branch}; git could not be asked about it: {why}"
LONGEST_STAT = 30
"""Lines."""


class Failed(Exception):
    """Git said no."""


class Worktree(NamedTuple):
    """`top` is the tree, `root` the project in it, `cwd` where the agent begins; all absolute. `base` is where it began."""

    repository: str
    top: str
    root: str
    cwd: str
    branch: str
    base: str
    message: str

    async def leave(self, close: Callable[[], None]) -> str:
        """Ends what runs there; removes the tree where nothing was changed, else says what and where."""
        close()
        return await asyncio.to_thread(self.left)

    def left(self) -> str:
        """The same where nothing runs there any more."""
        try:
            if git(self.top, "status", "--porcelain"):
                git(self.top, "add", "--all")
                git(self.top, *_who(self.top), "commit", "--quiet", "--no-verify", "-m", self.message)
            if git(self.top, "rev-parse", "HEAD") == self.base:
                git(self.repository, "worktree", "remove", "--force", self.top)
                git(self.repository, "branch", "-D", self.branch)
                return UNCHANGED
            stat = git(self.top, "diff", "--stat=100", self.base, "HEAD").splitlines()
        except Failed as problem:
            return KEPT.format(place=self.top, branch=self.branch, why=problem)
        if len(stat) > LONGEST_STAT:
            stat = [*stat[: LONGEST_STAT - 1], f" … {len(stat) - LONGEST_STAT} more files", stat[-1]]
        return CHANGED.format(
            branch=self.branch,
            place=self.top,
            base=self.base[:12],
            stat="\n".join(line.rstrip() for line in stat),
        )


class Place(NamedTuple):
    """What a worktree is made for: the project, where its commands begin, the directory for such trees, and a session."""

    project: Path
    cwd: str
    directory: Path
    session: str


async def open_worktree(place: Place, name: str) -> Worktree:
    """Raises Failed where there can be none."""
    return await asyncio.to_thread(_made, place, name)


def after(place: Place, name: str) -> str:
    """Leaves the tree of an agent whose process died. Where that is not possible it stays as it is; then "" is given."""
    try:
        repository = _repository(place)
        branch = f"agents/{place.session}/{name}"
        top = os.path.realpath(place.directory / name)
        base = git(repository, "merge-base", "HEAD", branch)
        if git(top, "rev-parse", "--abbrev-ref", "HEAD") != branch:
            return ""
    except Failed:
        return ""
    return Worktree(repository, top, top, top, branch, base, f"What {name} changed").left()


def _repository(place: Place) -> str:
    """Raises Failed."""
    try:
        return os.path.realpath(git(str(place.project), "rev-parse", "--show-toplevel"))
    except Failed:
        raise Failed(NO_REPOSITORY.format(root=place.project)) from None


def _made(place: Place, name: str) -> Worktree:
    repository = _repository(place)
    try:
        base = git(repository, "rev-parse", "--verify", "HEAD^{commit}")
    except Failed:
        raise Failed(NO_COMMIT) from None
    try:
        place.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as problem:
        raise Failed(f"{place.directory} cannot be made: {problem.strerror}") from None
    branch = f"agents/{place.session}/{name}"
    git(repository, "worktree", "add", "--quiet", "-b", branch, str(place.directory / name), base)
    top = Path(os.path.realpath(place.directory / name))
    inside = Path(os.path.normpath(top / os.path.relpath(place.project, repository)))
    root = inside if inside.is_dir() else top
    begins = Path(os.path.normpath(root / os.path.relpath(place.cwd, place.project)))
    cwd = begins if begins.is_dir() else root
    return Worktree(repository, str(top), str(root), str(cwd), branch, base, f"What {name} changed")


def _who(top: str) -> tuple[str, ...]:
    """Whoever commits here; where git knows nobody, us."""
    try:
        git(top, "config", "user.email")
    except Failed:
        return NOBODY
    return ()


def git(directory: str, *words: str) -> str:
    """What it says. Raises Failed. No hook of the repository runs."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", directory, *SAFE, *words],
            capture_output=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env=environ | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Failed(f"git cannot be run ({problem})") from None
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip()
        raise Failed(told.removeprefix("fatal: ") or f"git ended with {done.returncode}")
    return done.stdout.decode("utf-8", "replace").strip()

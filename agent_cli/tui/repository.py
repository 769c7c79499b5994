"""The branch that the working directory is on, and whether anything in it is not committed."""

from __future__ import annotations

import os

from agent_cli.kernel.values import Plain

PATIENCE = 2.0
"""Seconds that git may take: in a huge tree nothing is said rather than late."""

COMMAND = (
    "git", "--no-optional-locks", "-c", "core.fsmonitor=false",
    "status", "--porcelain=v2", "--branch", "--ignore-submodules=dirty",
)  # fmt: skip
"""Takes no lock that a git of the operator would wait for, and starts no program that the repository names."""


class Repository(Plain, frozen=True):
    """`branch` is the short name of the commit where no branch is checked out."""

    branch: str
    dirty: bool = False


def look(directory: str) -> Repository | None:
    """For a thread: it waits for git. None without git, outside of a repository, or where git takes too long."""
    import subprocess

    try:
        done = subprocess.run(
            COMMAND,
            cwd=directory,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return read(done.stdout.decode(errors="replace")) if done.returncode == 0 else None


def read(status: str) -> Repository | None:
    """What git's porcelain (version 2) says; None where it is not that."""
    facts: dict[str, str] = {}
    dirty = False
    for line in status.splitlines():
        if line.startswith("# "):
            name, _, value = line[2:].partition(" ")
            facts[name] = value
        else:
            dirty = True
    branch = facts.get("branch.head", "")
    if branch == "(detached)":
        branch = facts.get("branch.oid", "")[:7]
    return Repository(branch, dirty) if branch else None

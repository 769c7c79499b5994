"""How a shell is started: which one, with which words, in an environment where nothing waits for a person."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from agent_cli.permissions.bundle import read_only
from agent_cli.permissions.shell import read_command

_ENVIRONMENT = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "/bin/false",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Programs that would wait for a person fail at once; git takes its own default messages."""
_CAREFUL = (("safe.bareRepository", "explicit"), ("core.fsmonitor", "false"))
"""Settings of git for a line in which nothing else runs programs."""
_DROPPED = ("BASH_ENV", "ENV", "CDPATH", "PROMPT_COMMAND", "RIPGREP_CONFIG_PATH")


@cache
def shell_program() -> str:
    for place in ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"):
        if Path(place).is_file():
            return place
    import shutil

    return shutil.which("bash") or "/bin/sh"


def shell_words(shell: str, command: str, told: int | None) -> list[str]:
    """`told` is a descriptor that gets the directory in which the shell ended."""
    if told is None:
        return [shell, "-c", command]
    script = f"trap '{{ pwd -P >&{told}; }} 2>/dev/null' EXIT; eval \"$1\""
    return [shell, "-c", script, shell, command]


def environment(command: str) -> dict[str, str]:
    """For a line of git and what only reads, git takes no directory for a repository that only looks like one.

    Files that anybody may write, or that came with a project, would else name a program that `git status` runs. Other
    programs may have use for bare repositories, as test suites have, and run what they like anyway.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    kept.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    if _is_git(command):
        said = int(kept["GIT_CONFIG_COUNT"]) if kept.get("GIT_CONFIG_COUNT", "").isdecimal() else 0
        for number, (key, value) in enumerate(_CAREFUL, said):
            kept |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        kept["GIT_CONFIG_COUNT"] = str(said + len(_CAREFUL))
    return kept | _ENVIRONMENT


def _is_git(command: str) -> bool:
    commands = read_command(command)
    return commands is not None and all(words[0] == "git" or read_only(words) for words in commands.simple)

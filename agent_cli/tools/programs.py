"""Which programs a shell line would run: what the names in it stand for, where the line runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agent_cli.permissions.shell import read_command


def programs_of(command: str, cwd: str) -> tuple[tuple[str, str], ...]:
    """Names without a slash of a line whose every word is certain, each with its resolved path; builtins have none.

    Where PATH names a directory that depends on where the line stands, that stands for the program.
    """
    commands = read_command(command)
    if commands is None:
        return ()
    names = dict.fromkeys(words[0] for words in commands.simple if "/" not in words[0])
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return tuple((name, path) for name in names for path in _found(name, places, cwd))


def _found(name: str, places: list[str], cwd: str) -> Iterator[str]:
    for place in places:
        if not place.startswith("/"):
            yield cwd
            return
        path = Path(place, name)
        if os.access(path, os.X_OK) and path.is_file():
            yield os.path.realpath(path)
            return

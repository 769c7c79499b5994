"""Whether a command changed files: what of a tree is younger than the moment before it, in a bounded look."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from agent_cli.tools.ignore import Ignored

MOST = 2_000
"""Entries that are looked at, the directory of the command first; about three microseconds each."""
NAMED = 50
"""Changed paths that are told."""
MADE = frozenset(
    {
        ".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".pytest_cache", ".mypy_cache",
        ".ruff_cache", ".hypothesis", ".cache", ".gradle", "target", ".DS_Store", ".coverage",
    }
)  # fmt: skip
"""What programs make for themselves: not what anybody works on."""
_TICK_NS = 10_000_000
"""A file may get the time of the last tick of the clock instead of the time of its change."""


class Young(NamedTuple):
    """`time` is when it changed, in nanoseconds."""

    path: str
    time: int
    is_dir: bool = False


def moment() -> int:
    """Now, in nanoseconds of the clock by which files get their times."""
    return time.time_ns()


def changed_since(
    since: int, root: str, first: str, also: Iterable[str], known: Callable[[str], bool]
) -> tuple[str, ...]:
    """Paths under the root that changed since that moment, and of `also` (paths anywhere) those that did.

    A directory stands for what was taken out of it. Caches do not count, nor what git ignores and nobody named.
    `known` says whether a file holds what the model last saw in it: asked where the time alone does not tell.
    """
    found: dict[str, None] = {}
    ignored = Ignored(root)
    named = (
        young for path in also if (young := _young(path, since)) and not MADE.intersection(path.split("/"))
    )
    below = (
        young
        for young in _younger_below(since, first, root)
        if not _is_hidden(ignored, young.path, root, is_dir=young.is_dir)
    )
    for young in chain(named, below):
        if young.time >= since or young.is_dir or not known(young.path):
            found[young.path] = None
        if len(found) >= NAMED:
            break
    return tuple(found)


class Restless:
    """Files that change also while no command runs: the log of a server, our own database, what our output is written
    to. What a command leaves of such a file is not its doing; the first time nobody can know that.
    """

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        self._found: set[str] = set()

    def look(self, known: Callable[[str], bool]) -> None:
        """Before a command. `known` says whether a file holds what a tool wrote into it."""
        for path, left in self._left.items():
            if _changed_at(path) > left and not known(path):
                self._found.add(path)
        self._left = {}

    def among(self, changed: tuple[str, ...]) -> tuple[str, ...]:
        """Behind a command in whose time these changed: those of which nobody knows that it was the command."""
        self._left = {path: at for path in changed if (at := _changed_at(path))}
        return tuple(path for path in changed if path in self._found)


def _changed_at(path: str) -> int:
    """In nanoseconds; 0 for what is no file."""
    try:
        found = Path(path).lstat()
    except OSError:
        return 0
    return 0 if stat.S_ISDIR(found.st_mode) else found.st_ctime_ns


def _young(path: str, since: int) -> Young | None:
    """Something that is no directory, if it may have changed."""
    try:
        changed = Path(path).lstat().st_ctime_ns
    except OSError:
        return None
    is_young = changed >= since - _TICK_NS and not os.path.isdir(path)  # noqa: PTH112  Path.is_dir raises behind a closed directory
    return Young(path, changed) if is_young else None


def _younger_below(since: int, first: str, root: str) -> Iterator[Young]:
    left = MOST
    waiting = deque([first, root] if first != root else [root])
    seen: set[str] = set()
    while waiting and left > 0:
        directory = waiting.popleft()
        if directory in seen:
            continue
        seen.add(directory)
        younger, inner, count = _look(directory, since - _TICK_NS)
        left -= count
        waiting += inner
        yield from younger


def _look(directory: str, since: int) -> tuple[list[Young], list[str], int]:
    """Changed entries of one directory, its directories, and how many entries were looked at."""
    try:
        changed = os.stat(directory).st_mtime_ns  # noqa: PTH116  a Path costs more than the call
        with os.scandir(directory) as entries:
            found = [(entry, entry.stat(follow_symlinks=False).st_ctime_ns) for entry in entries]
    except OSError:
        return [], [], 1
    inner = [
        entry.path for entry, _ in found if entry.name not in MADE and entry.is_dir(follow_symlinks=False)
    ]
    young = [(entry, age) for entry, age in found if age >= since]
    younger = [
        Young(entry.path, age)
        for entry, age in young
        if entry.name not in MADE and not entry.is_dir(follow_symlinks=False)
    ]
    if changed >= since and not young:  # something was here and is not any more
        younger.append(Young(directory, changed, is_dir=True))
    return younger, inner, len(found) + 1


def _is_hidden(ignored: Ignored, path: str, root: str, *, is_dir: bool) -> bool:
    """Whether git ignores it, or a directory that holds it."""
    if path == root or not path.startswith(root.rstrip("/") + "/"):
        return False
    here = root.rstrip("/")
    *above, name = path[len(here) + 1 :].split("/")
    for part in above:
        here = f"{here}/{part}"
        if ignored.hides(here, is_dir=True):
            return True
    return ignored.hides(f"{here}/{name}", is_dir=is_dir)

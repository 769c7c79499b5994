"""What git ignores, and walks that leave it out, in plain Python."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

_FILES = (".gitignore", ".ignore")


class _Patterns(Protocol):
    def check_file(self, file: str) -> _Verdict: ...


class _Verdict(Protocol):
    @property
    def include(self) -> bool | None: ...


class _Rules(NamedTuple):
    """The patterns of one directory; `prefix` is its path with a slash at the end."""

    prefix: str
    patterns: _Patterns


class Ignored:
    """What the ignore files between a root and the directories below it say. The innermost that speaks decides."""

    def __init__(self, root: str) -> None:
        self._root = root.rstrip("/")
        self._rules: dict[str, tuple[_Rules, ...]] = {}

    def hides(self, path: str, *, is_dir: bool) -> bool:
        """`path` lies below the root, in a directory that is not hidden itself."""
        parent, _, name = path.rpartition("/")
        if name == ".git":
            return True
        for rules in reversed(self._of(parent)):
            verdict = rules.patterns.check_file(path[len(rules.prefix) :] + ("/" if is_dir else ""))
            if verdict.include is not None:
                return verdict.include
        return False

    def _of(self, directory: str) -> tuple[_Rules, ...]:
        known = self._rules.get(directory)
        if known is None:
            outer = () if directory == self._root else self._of(directory.rpartition("/")[0])
            known = self._rules[directory] = (*outer, *self._read(directory))
        return known

    def _read(self, directory: str) -> Iterator[_Rules]:
        names = (*_FILES, ".git/info/exclude") if directory == self._root else _FILES
        for name in names:
            try:
                lines = Path(directory, name).read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                continue
            from pathspec import GitIgnoreSpec

            yield _Rules(directory + "/", GitIgnoreSpec.from_lines(lines))


def ignored_below(directory: str, root: str) -> Ignored:
    """What is ignored below a directory that was named: if it is ignored itself, only its own files say."""
    start = root.rstrip("/") + "/"
    if not directory.startswith(start):
        return Ignored(root if directory == root else directory)
    ignored = Ignored(root)
    here = root.rstrip("/")
    for name in directory[len(start) :].split("/"):
        here = f"{here}/{name}"
        if ignored.hides(here, is_dir=True):
            return Ignored(directory)
    return ignored


def walk(directory: str, ignored: Ignored) -> Iterator[str]:
    """Every regular file below a directory that is not hidden, in order of their paths; links are not followed."""
    try:
        with os.scandir(directory) as entries:
            here = sorted(
                entries, key=lambda entry: entry.name + ("/" if entry.is_dir(follow_symlinks=False) else "")
            )
    except OSError:
        return
    for entry in here:
        path = f"{directory.rstrip('/')}/{entry.name}"
        is_dir = entry.is_dir(follow_symlinks=False)
        if ignored.hides(path, is_dir=is_dir):
            continue
        if is_dir:
            yield from walk(path, ignored)
        elif entry.is_file(follow_symlinks=False):
            yield path

"""What `find … -delete` would delete: the tests of a line that need no time, owner or size are made by hand, others count
as passed.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import NamedTuple

MOST = 5_000
"""Entries that are looked at."""
_ENDS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_DELETERS = frozenset({"rm", "unlink", "shred"})
_FLAGS = frozenset({"-H", "-L", "-P"})
_UNSURE = frozenset({"-o", "-or", ",", "(", ")"})


class Entry(NamedTuple):
    """`depth` is 0 for a place where the search begins; `path` begins as that place was written."""

    path: str
    name: str
    depth: int
    kind: str


Test = Callable[[Entry], bool]


def sweeps(words: Sequence[str]) -> bool:
    """Whether that `find` deletes what it finds; `xargs rm` behind it counts where the line has it."""
    if "-delete" in words:
        return True
    return any(
        word in _ENDS and following.rpartition("/")[2] in _DELETERS for word, following in pairwise(words)
    )


def swept(words: Sequence[str], place: str) -> Iterator[str]:
    """Absolute paths of files that it would find."""
    at = 1
    while at < len(words) and words[at] in _FLAGS:
        at += 1
    roots: list[str] = []
    while at < len(words) and not words[at].startswith(("-", "(", "!")):
        roots.append(words[at])
        at += 1
    tests, least, most = _tests(words[at:])
    looked = 0
    for root in roots or ["."]:
        for entry, absolute in _walk(root, posixpath.join(place, os.path.expanduser(root)), most):  # noqa: PTH111  a Path would lose how the place was written
            looked += 1
            if looked > MOST:
                return
            if entry.kind != "d" and entry.depth >= least and all(test(entry) for test in tests):
                yield absolute


def _tests(words: Sequence[str]) -> tuple[list[Test], int, int]:
    """The tests, and between which depths. Where there are alternatives everything passes."""
    tests: list[Test] = []
    least, most, at, negated = 0, 100, 0, False
    unsure = not _UNSURE.isdisjoint(words)
    while at < len(words):
        word, value = words[at], words[at + 1] if at + 1 < len(words) else ""
        if word in ("-mindepth", "-maxdepth"):
            depth = int(value) if value.isdecimal() else 0
            least, most = (depth, most) if word == "-mindepth" else (least, depth)
        elif word in ("!", "-not"):
            negated = not negated
            at += 1
            continue
        elif not unsure and (test := _test(word, value)) is not None:
            tests.append(_not(test) if negated else test)
        negated = False
        at += 2 if word.startswith("-") and not value.startswith("-") else 1
    return tests, least, most


def _test(word: str, value: str) -> Test | None:
    match word:
        case "-name":
            return lambda entry: fnmatchcase(entry.name, value)
        case "-iname":
            return lambda entry: fnmatchcase(entry.name.lower(), value.lower())
        case "-path" | "-wholename":
            return lambda entry: fnmatchcase(entry.path, value)
        case "-type":
            return lambda entry: entry.kind in value.split(",")
        case _:
            return None


def _not(test: Test) -> Test:
    return lambda entry: not test(entry)


def _walk(root: str, absolute: str, most: int) -> Iterator[tuple[Entry, str]]:
    if not os.path.isdir(absolute):  # noqa: PTH112  Path.is_dir raises behind a closed directory
        kind = "l" if os.path.islink(absolute) else "f"  # noqa: PTH114  the same
        yield Entry(root, posixpath.basename(root), 0, kind), absolute
        return
    waiting = [(root, absolute, 0)]
    while waiting:
        shown, directory, depth = waiting.pop()
        if depth >= most:
            continue
        for entry, inner in _list(shown, directory, depth + 1):
            yield entry, inner
            if entry.kind == "d":
                waiting.append((entry.path, inner, depth + 1))


def _list(shown: str, directory: str, depth: int) -> list[tuple[Entry, str]]:
    found: list[tuple[Entry, str]] = []
    with suppress(OSError), os.scandir(directory) as entries:
        for each in entries:
            kind = "l" if each.is_symlink() else "d" if each.is_dir() else "f"
            found.append((Entry(f"{shown.rstrip('/')}/{each.name}", each.name, depth, kind), each.path))
    return found

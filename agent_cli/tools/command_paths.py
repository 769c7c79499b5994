"""Which files a shell line seems to touch: every word that may be a path. Scope, secrets and refusals look at it."""

from __future__ import annotations

import contextlib
import glob
import posixpath
import re
from collections.abc import Iterator
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from agent_cli.permissions.runners import lines_of
from agent_cli.permissions.secrets import looks_secret
from agent_cli.permissions.shell import Segment, unwrapped
from agent_cli.permissions.variables import segments as segments_of
from agent_cli.ports import PathUse
from agent_cli.tools.closed_within import Closed, reached
from agent_cli.tools.sweeping import sweeps, swept
from agent_cli.tools.workspace import Unresolved, resolved

_WRITERS = frozenset({
    "rm", "rmdir", "mv", "cp", "ln", "tee", "touch", "mkdir", "chmod", "chown", "chgrp", "truncate", "dd", "install",
    "rsync", "shred", "unlink", "mktemp", "patch",
})  # fmt: skip
_ASKS = frozenset({"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"})
_MOST = 500
_MOST_WORDS = 5_000
"""Each is looked up on the disk before anything runs."""
_MOST_PLACES = 8
_MOST_SPELLINGS = 100
_MOST_PATTERNS = 200
_WORKED_OUT = re.compile(r"[*?\[{]|\$\{?PWD")
_PATTERN = re.compile(r"[*?\[]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_BLANK = re.compile(r"\s")
_LONGEST_NAME = 255
_DEEPEST = 3
Access: TypeAlias = Literal["r", "w"]


class Found(NamedTuple):
    """`unresolved` says why a path could not be followed. `deleted` are paths that it deletes, None where it deletes none."""

    uses: tuple[PathUse, ...]
    unresolved: str = ""
    deleted: tuple[str, ...] | None = None


def paths_of(command: str, cwd: str, depth: int = 0, closed: Closed | None = None) -> Found:
    """Words behind `cd` are resolved where it leads; where it may not have led there, in both places. Variables that the
    line sets are what it sets them to.

    Lines within the line, as behind `sh -c`, are looked at like it; `depth` says how deep in one this is. Of files that are
    `closed` those count, too, that it reads without naming them.
    """
    uses: dict[PathUse, None] = {}
    deleted: list[str] = []
    places, every = [cwd], [cwd]
    try:
        segments = segments_of(command)
        for at, segment in enumerate(segments):
            if len(segment.words) > _MOST_WORDS:
                return Found((), f"the command has more than {_MOST_WORDS:,} words")
            if sum(_WORKED_OUT.search(word) is not None for word in segment.words) > _MOST_PATTERNS:
                return Found((), f"the command holds more than {_MOST_PATTERNS} patterns")
            uses |= dict.fromkeys(_uses(segment, places))
            uses |= dict.fromkeys(_within(segment, places, depth, closed))
            if closed is not None:
                uses |= dict.fromkeys(_unnamed(segments, at, command, places, closed))
            deleted += _deleted(
                segment, places, fed=not {"rm", "unlink", "shred"}.isdisjoint(_fed_by(segments, at))
            )
            if segment.words[:1] == ("cd",):
                into = segment.words[-1] if len(segment.words) > 1 else "~"
                places = [resolved(into, place) for place in places] if into != "-" else every
                every += places
            if segment.joint != "&&":
                places = list(dict.fromkeys(every))[:_MOST_PLACES]
    except Unresolved as problem:
        return Found((), str(problem))
    if len(uses) > _MOST:
        return Found((), f"the command names more than {_MOST} paths")
    return Found(tuple(uses), deleted=tuple(deleted) or None)


def _unnamed(
    segments: tuple[Segment, ...], at: int, line: str, places: list[str], closed: Closed
) -> Iterator[PathUse]:
    """Closed files that it reads without naming them."""
    feeds = next(iter(_fed_by(segments, at)), "")
    for view, place in product(unwrapped(segments[at].words), places):
        for path in reached(view, line, place, closed, feeds=feeds):
            yield PathUse(path, "r")


def _within(segment: Segment, places: list[str], depth: int, closed: Closed | None) -> Iterator[PathUse]:
    """What the lines touch that it gives to a shell, as in `sh -c 'cat x'`. Raises Unresolved."""
    words = (word for view in unwrapped(segment.words) for word in lines_of(view[0], view))
    lines = dict.fromkeys(word for word in words if _BLANK.search(word)) if depth < _DEEPEST else {}
    for line, place in product(lines, places):
        found = paths_of(line, place, depth + 1, closed)
        if found.unresolved:
            raise Unresolved(found.unresolved)
        yield from found.uses


def _deleted(segment: Segment, places: list[str], *, fed: bool) -> Iterator[str]:
    """What a command that deletes names; patterns as a shell would match them. Truncating is deleting.

    `fed` says that what it prints goes to a command that deletes what it reads.
    """
    if segment.targets and (not segment.words or segment.words[0] in (":", "true")):
        for target, place in product(segment.targets, places):
            yield resolved(target, place)
    for view in unwrapped(segment.words):
        if view[0] == "find" and (sweeps(view) or fed):
            yield from (path for place in places for path in swept(view, place))
        named = product(_named_by(view), places)
        entries = (path for word, place in named for path in _entries(word, place))
        yield from (path for path in entries if view[0] != "mv" or not Path(path).is_dir())


def _entries(word: str, place: str) -> Iterator[str]:
    """Where the word leads: of a link, the link itself. Raises Unresolved."""
    for spelled in _spelled(word, place, directories=True):
        parent, name = posixpath.split(spelled.rstrip("/"))
        entry = posixpath.join(resolved(parent or ".", place), name)
        yield resolved(spelled, place) if name in ("", ".", "..", "~") else entry


def _fed_by(segments: tuple[Segment, ...], at: int) -> list[str]:
    """What `xargs` or its like runs at the end of that pipe, the program itself first."""
    while at + 1 < len(segments) and segments[at].joint == "|":
        at += 1
        views = list(unwrapped(segments[at].words))
        if views and views[0][0] in ("xargs", "parallel"):
            return [view[0] for view in views[1:] if not view[0].startswith("-")]
    return []


def _named_by(view: tuple[str, ...]) -> list[str]:
    """The words of a command that name what is gone behind it."""
    plain = [word for word in view[1:] if not word.startswith("-")]
    match view[0]:
        case "rm" | "unlink" | "shred":
            return plain
        case "git" if view[1:2] == ("rm",):
            return plain
        case "mv" if len(plain) > 1 and "-n" not in view:  # what it comes over
            return [plain[-1], *(f"{plain[-1]}/{posixpath.basename(word)}" for word in plain[:-1])]
        case "truncate":
            return plain if _empties(view) else []
        case _:
            return []


def _empties(view: tuple[str, ...]) -> bool:
    sizes = {f"{before}{word}" for before, word in pairwise(view)} | set(view)
    return not {"-s0", "--size0", "--size=0"}.isdisjoint(sizes)


def _uses(segment: Segment, places: list[str]) -> Iterator[PathUse]:
    for (word, access), place in product(dict.fromkeys(_words(segment)), places):
        for spelled in _spelled(word, place):
            path = _path(spelled, place, writes=access == "w")
            if path is not None:
                yield PathUse(path, access)


def _words(segment: Segment) -> Iterator[tuple[str, Access]]:
    words = list(unwrapped(segment.words))
    writes = any(view[0] in _WRITERS or (view[0] == "sed" and _edits(view)) for view in words)
    named = segment.words[1:] if segment.words != ("cd",) else ("~",)
    for before, word in pairwise(("", *named)):
        for part in () if _is_left_out(before, word) else _parts(word):
            yield part, "w" if writes else "r"
    if any(view[:2] == ("git", "config") and not _ASKS.intersection(view) for view in words):
        yield "~/.gitconfig" if "--global" in segment.words else ".git/config", "w"
    for source in segment.sources:
        yield source, "r"
    for target in segment.targets:
        yield target, "w"


def _is_left_out(before: str, word: str) -> bool:
    """Whether it names what a search or a copy passes by."""
    return word.startswith(("--exclude=", "--exclude-dir=", "--glob=!", "-g!")) or (
        before in ("-g", "--glob", "--iglob") and word.startswith("!")
    )


def _edits(words: tuple[str, ...]) -> bool:
    return any(word.startswith(("-i", "--in-place")) for word in words)


def _parts(word: str) -> Iterator[str]:
    """The word, and what stands behind `=`, `:`, `@` or a short option in it."""
    if "://" in word or "\n" in word or len(word) > 4_096:
        return
    for name in ("$HOME", "${HOME}"):
        word = word.replace(name, "~")
    if not word.startswith("-"):
        yield word
    elif len(word) > 2 and word[1] != "-":
        yield word[2:]
    for mark in "=:@":
        if mark in word:
            yield word.rpartition(mark)[2]


def _spelled(word: str, place: str, *, directories: bool = False) -> Iterator[str]:
    """The word, and what a shell would make of it: `$PWD`, `{a,b}` and the files that a pattern matches, `directories`
    even where nobody named them.
    """
    yield word
    if not _WORKED_OUT.search(word):
        return
    whole = word.replace("${PWD}", place).replace("$PWD", place)
    for each in islice(_alternatives(whole), _MOST_SPELLINGS):
        if not _PATTERN.search(each):
            yield each
            continue
        yield from _matched(each, place, directories=directories)


def _matched(pattern: str, place: str, *, directories: bool) -> Iterator[str]:
    """The files that it matches, and directories: but those that `*` alone matches, as in `wc -l *`, nobody named."""
    everything = not directories and pattern.rpartition("/")[2] in ("*", "**")
    with contextlib.suppress(OSError, ValueError, re.error):
        found = glob.iglob(pattern, root_dir=place)  # noqa: PTH207  Path.glob would match hidden files, which no shell does
        for name in islice(found, _MOST_SPELLINGS):
            if not everything or not Path(place, name).is_dir():
                yield name


def _alternatives(word: str) -> Iterator[str]:
    found = _BRACES.search(word)
    if found is None:
        yield word
        return
    for each in found.group(1).split(","):
        yield from _alternatives(f"{word[: found.start()]}{each}{word[found.end() :]}")


def _path(word: str, place: str, *, writes: bool) -> str | None:
    """Where the word leads, if something is, could be made or may have been there: not for `/users` or `s/a/b/`.

    Raises Unresolved.
    """
    if word in ("", "-") or any(len(part.encode()) > _LONGEST_NAME for part in word.split("/")):
        return None
    path = resolved(word, place)
    there = Path(path)
    spelled = "/" in word or word.startswith(("~", ".."))
    could_be = spelled and there.parent != Path("/") and _is_there(there.parent)
    return path if writes or could_be or looks_secret(path) or _is_there(there) else None


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # there is something that this user may not look at
    return True

"""What a shell line reads of closed files without naming them as words: in the code that it runs, and below a directory.

`closed` says of an absolute path that a deny rule closes it. Only lines that reach such a file are told apart, so that
no other line is judged otherwise for it.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import islice

from agent_cli.tools.changes import MADE
from agent_cli.tools.sweeping import swept
from agent_cli.tools.workspace import Unresolved, resolved

Closed = Callable[[str], bool]
Words = tuple[str, ...]

MOST = 5_000
"""Entries of directories that are looked at, and texts in the code of a line."""
_CODE = re.compile(r"python[\d.]*|perl|ruby|node|nodejs|deno|bun|php|lua|g?awk|mawk|tclsh|Rscript")
_TEXT = re.compile(r"""(["'`])((?:(?!\1)[^\n\\]){1,300})\1""")
_SEARCHES = frozenset({"grep", "egrep", "fgrep", "zgrep", "rgrep", "ack", "ag", "rg"})
_COPIES = frozenset({"cp", "rsync", "scp"})
_NO_CONTENT = frozenset({
    "rm", "unlink", "shred", "ls", "stat", "echo", "printf", "chmod", "chown", "touch", "basename", "dirname", "test", "[",
    "file", "wc", "mv", "ln", "mkdir", "rmdir", "true", "du", "realpath",
})  # fmt: skip
_EXECS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_OUT = ("--exclude=", "--exclude-dir=", "--glob=!", "-g!")
_OUT_NEXT = frozenset({"--exclude", "--exclude-dir", "-x", "-g", "--glob"})


def reached(view: Words, line: str, place: str, closed: Closed, *, feeds: str) -> Iterator[str]:
    """Absolute paths of closed files that the command reads. `line` is all of it, for what stands in its here-documents;
    `feeds` is the command to which `xargs` gives what this one prints, "" for none.
    """
    if _CODE.fullmatch(view[0]):
        found = _named_in((*view[1:], line) if "<<" in line else view[1:], place)
    elif view[0] == "find":
        found = _found(view, place, feeds)
    else:
        found = _read(view, place)
    return (path for path in found if closed(path))


def _named_in(code: Words, place: str) -> Iterator[str]:
    """Texts in code that are the path of a file as they stand."""
    texts = (found.group(2) for word in code for found in _TEXT.finditer(word))
    for text in islice((text for text in texts if "://" not in text and text.strip()), MOST):
        with suppress(Unresolved, ValueError, OSError):
            path = resolved(text, place)
            if os.path.lexists(path):
                yield path


def _found(view: Words, place: str, feeds: str) -> Iterator[str]:
    runs = {feeds, *(view[at + 1] for at in range(len(view) - 1) if view[at] in _EXECS)} - {""}
    if not runs <= _NO_CONTENT:
        yield from map(posixpath.normpath, swept(view, place))


def _read(view: Words, place: str) -> Iterator[str]:
    out, only = _left_out(view)
    shown = view[0] in ("rg", "ag") and not _unrestricted(view)
    below = (path for root in _roots(view) for path in _below(root, place, shown=shown))
    return (path for path in below if not _matches(path, out) and (not only or _matches(path, only)))


def _roots(view: Words) -> list[str]:
    """Directories that it reads with all that lies in them."""
    verb = view[0]
    plain = [word for word in view[1:] if not word.startswith("-")]
    short = "".join(word[1:] for word in view[1:] if word.startswith("-") and not word.startswith("--"))
    whole = {word.partition("=")[0] for word in view[1:] if word.startswith("--")}
    if verb in _SEARCHES:
        recursive = {"--recursive", "--dereference-recursive"} & whole or {"r", "R"} & set(short)
        if verb in ("grep", "egrep", "fgrep", "zgrep") and not recursive:
            return []
        given = {"--regexp", "--file"} & whole or {"e", "f"} & set(short)
        return (plain if given else plain[1:]) or ["."]
    if verb in _COPIES:
        return plain[:-1] if {"r", "R", "a"} & set(short) or {"--recursive", "--archive"} & whole else []
    if verb in ("tar", "bsdtar"):
        old = view[1] if len(view) > 1 and not view[1].startswith("-") else ""
        return plain if "c" in old + short or "--create" in whole else []
    if verb == "zip":
        return plain[1:] if "r" in short or "--recurse-paths" in whole else []
    return plain if verb == "diff" and ("r" in short or "--recursive" in whole) else []


def _left_out(view: Words) -> tuple[list[str], list[str]]:
    """Patterns of what it passes by, and of what alone it takes (none for everything)."""
    out = [word.removeprefix(mark) for word in view for mark in _OUT if word.startswith(mark)]
    only = [word.removeprefix("--include=") for word in view if word.startswith("--include=")]
    for at in range(len(view) - 1):
        if view[at] in _OUT_NEXT:
            following = view[at + 1]
            excludes = view[at] not in ("-g", "--glob") or following.startswith("!")
            (out if excludes else only).append(following.lstrip("!"))
    return out, only


def _matches(path: str, patterns: list[str]) -> bool:
    parts = path.split("/")
    for pattern in patterns:
        plain = pattern.removeprefix("./").removeprefix("**/").removesuffix("/**").strip("/")
        if "/" in plain:
            if fnmatchcase(path, f"*/{plain}") or fnmatchcase(path, f"*/{plain}/*"):
                return True
        elif any(fnmatchcase(part, plain) for part in parts):
            return True
    return False


def _unrestricted(view: Words) -> bool:
    return any(
        word in ("--hidden", "-.", "--no-ignore", "-u", "-uu", "-uuu", "--unrestricted") for word in view
    )


def _below(root: str, place: str, *, shown: bool) -> Iterator[str]:
    """What lies in the directory; with `shown` only what is not hidden. Nothing where it is none."""
    try:
        waiting = [resolved(root, place)]
    except (Unresolved, ValueError):
        return
    looked = 0
    while waiting and looked < MOST:
        for entry in _entries(waiting.pop()):
            looked += 1
            if shown and entry.name.startswith("."):
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield entry.path
            elif entry.name not in MADE:
                waiting.append(entry.path)


def _entries(directory: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(directory) as entries:
        return list(islice(entries, MOST))
    return []

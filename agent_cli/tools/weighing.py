"""How much the commands of a turn wrote and deleted, by what they left: a bounded look at the tree before and after.

It is for who bounds these bytes; nobody else pays for it.
"""

from __future__ import annotations

import os
import posixpath
import stat
import threading
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from agent_cli.guardrails.scales import Weighed
from agent_cli.tools.changes import MADE

MOST = 20_000
"""Entries of one look; about four microseconds each."""


class _File(NamedTuple):
    inode: int
    size: int
    time: int


class _Look(NamedTuple):
    """`named` were looked for one by one; `listed` are directories whose entries were looked at, `seen` all that were met."""

    files: dict[str, _File]
    named: frozenset[str]
    listed: frozenset[str]
    seen: frozenset[str]

    def covers(self, path: str) -> bool:
        """Whether it would have been met if it was there."""
        if path in self.named:
            return True
        above = posixpath.dirname(path)
        while above not in self.seen and above != "/":
            above = posixpath.dirname(above)
        return above in self.listed


class Scales:
    """Of one project. What several commands change side by side is counted once. May block, is for any thread."""

    def __init__(self, *roots: str) -> None:
        self._roots = roots
        self._lock = threading.Lock()
        self._at_work = 0
        self._named: tuple[str, ...] = ()
        self._before: _Look | None = None

    def begin(self, named: Iterable[str], /) -> None:
        """A command begins that names those paths, wherever they are."""
        with self._lock:
            self._at_work += 1
            fresh = self._at_work == 1
            self._named = tuple(dict.fromkeys((*(() if fresh else self._named), *named)))
            if fresh or self._before is None:
                self._before = self._look()

    def end(self) -> Weighed:
        """What was written and deleted since somebody looked last."""
        with self._lock:
            before, now = self._before, self._look()
            self._at_work -= 1
            self._before = now
        return Weighed(0, 0) if before is None else _between(before, now)

    def _look(self) -> _Look:
        files: dict[str, _File] = {}
        listed: set[str] = set()
        seen = set(self._roots)
        waiting, left = deque(self._roots), MOST
        for path in self._named:
            with suppress(OSError, ValueError):
                found = os.lstat(path)
                if stat.S_ISREG(found.st_mode):
                    files[path] = _File(found.st_ino, found.st_size, found.st_mtime_ns)
                elif stat.S_ISDIR(found.st_mode) and path not in seen:
                    seen.add(path)
                    waiting.append(path)
        while waiting and left > 0:
            directory = waiting.popleft()
            if directory in listed:
                continue
            listed.add(directory)
            left -= _list(directory, files, seen, waiting)
        return _Look(files, frozenset(self._named), frozenset(listed), frozenset(seen))


def _list(directory: str, files: dict[str, _File], seen: set[str], waiting: deque[str]) -> int:
    """Takes up what is in the directory, and gives how many entries that were."""
    count = 1
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            count += 1
            if entry.name in MADE:
                continue
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                seen.add(entry.path)
                waiting.append(entry.path)
            elif stat.S_ISREG(found.st_mode):
                files[entry.path] = _File(found.st_ino, found.st_size, found.st_mtime_ns)
    return count


def _between(before: _Look, now: _Look) -> Weighed:
    """What moved is neither written nor deleted; of what grew in its place only the growth was written."""
    moved_to = {file for path, file in now.files.items() if before.files.get(path) != file}
    moved_from = {file for path, file in before.files.items() if now.files.get(path) != file}
    written = deleted = 0
    for path, file in now.files.items():
        was = before.files.get(path)
        if was == file or file in moved_from:
            continue
        if was is None:
            written += file.size if before.covers(path) else 0
        else:
            written += file.size - was.size if _grew(was, file) else file.size
    for path, was in before.files.items():
        file = now.files.get(path)
        if was == file or was in moved_to:
            continue
        if file is None:
            deleted += was.size if now.covers(path) else 0
        elif file in moved_from:
            deleted += was.size  # another file came over it
        else:
            deleted += max(was.size - file.size, 0)
    return Weighed(written, deleted)


def _grew(was: _File, file: _File) -> bool:
    return was.inode == file.inode and file.size > was.size

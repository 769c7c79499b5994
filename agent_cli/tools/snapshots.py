"""What files held before the agent changed them, so that it can be brought back: on disk, outside of the project.

Each change belongs to a message of the operator (`moment`, its entry). Kept is what a file held before its first
change after that message. What a shell line changed inside a git work tree comes from a tree that git wrote into
objects of our own before the line ran; the repository itself is not touched.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from agent_cli.permissions.policies import decides
from agent_cli.permissions.rules import allows_line
from agent_cli.ports import Restored, Touches
from agent_cli.tools.blobs import Blobs
from agent_cli.tools.left_as import LeftAs
from agent_cli.tools.work_tree import Tree, WorkTree

LARGEST = 20_000_000
"""Bytes: a larger file is not kept, and says so when it is asked for."""
MOST = 500_000_000
"""Bytes that one session keeps; beyond that the oldest moments are let go."""

SOMEBODY_ELSE = "it was changed since by somebody else than the agent, and stays as it is"

Kind = Literal["file", "link", "absent", "large", "tree"]


class Kept(NamedTuple):
    """What a path held: a blob, the target of a link, nothing, or its place in a tree of git."""

    moment: int
    path: str
    kind: Kind
    value: str = ""
    mode: int = 0


class Snapshots:
    """One session's. Methods block; nothing is raised for a file that cannot be read: it says so when restored."""

    def __init__(self, directory: Path, root: str) -> None:
        self._directory = directory
        self._index = directory / "index.jsonl"
        self._blobs = Blobs(directory / "blobs")
        self._work_tree = WorkTree(root, directory / "git")
        self._left = LeftAs(directory / "left.jsonl", LARGEST)
        self._kept: list[Kept] | None = None
        self._cut = ""  # what ends a line that was cut with its process
        self._seen: set[tuple[int, str]] = set()
        self._trees: dict[int, Tree | None] = {}

    def wants(self, moment: int, touches: Touches) -> bool:
        """Whether something of it is not kept yet. Does not block."""
        known = self._seen if self._kept is not None else set[tuple[int, str]]()
        return self._is_to_be_written(moment, touches) or any(
            (moment, path) not in known for path in _written(touches)
        )

    def before(self, moment: int, touches: Touches) -> None:
        """A call is about to run. Raises OSError where nothing can be kept."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._load()
        for path in _written(touches):
            self._keep(moment, path)
        if self._is_to_be_written(moment, touches):
            self._trees[moment] = self._work_tree.write()

    def _is_to_be_written(self, moment: int, touches: Touches) -> bool:
        """The tree, before the first line after that message that may change something."""
        line = touches.command
        return line is not None and moment not in self._trees and allows_line((), line) is None

    def after(self, moment: int, changed: Iterable[str] | None) -> None:
        """The call changed these files; those that were not kept before come from the tree of that moment.

        Files that decide what is allowed do not, unless a tool for files wrote them: the operator's own words change them
        while a command runs.
        """
        if changed is None:
            if self._directory.is_dir():
                self._left.forget()
            return
        tree = self._trees.get(moment)
        if tree is not None:
            for path in changed:
                if (moment, path) not in self._seen and tree.holds(path) and not decides(path):
                    self._add(Kept(moment, path, "tree", tree.id))
        known = {kept.path for kept in self._load()}
        self._left.note(path for path in changed if path in known)

    def moments(self) -> dict[int, int]:
        """How many files were changed after each message."""
        found: dict[int, int] = {}
        for kept in self._load():
            found[kept.moment] = found.get(kept.moment, 0) + 1
        return found

    def originals(self, since: int = 0) -> tuple[dict[str, bytes | None], tuple[str, ...]]:
        """What each file held before its first change at that moment or later, None where there was none; and what is not
        known, with the reason.
        """
        first = self._first(since)
        found: dict[str, bytes | None] = {}
        unknown: list[str] = []
        for path, kept in sorted(first.items()):
            try:
                found[path] = self._held(kept)
            except (OSError, LookupError) as problem:
                unknown.append(f"{path}: {problem}")
        return found, tuple(unknown)

    def _first(self, since: int) -> dict[str, Kept]:
        """By path, what was kept first at that moment or later."""
        first: dict[str, Kept] = {}
        for kept in self._load():
            if kept.moment >= since and (kept.path not in first or kept.moment < first[kept.path].moment):
                first[kept.path] = kept
        return first

    def _held(self, kept: Kept) -> bytes | None:
        """Raises OSError, LookupError."""
        match kept.kind:
            case "large" | "link":
                raise LookupError("it was a link, no regular file, or too large to be kept")
            case "absent":
                return None
            case "file":
                return self._blobs.get(kept.value)
            case "tree":
                content = self._work_tree.read(kept.value, kept.path)
                return content.data if content is not None else None

    def restore(self, moment: int) -> Restored:
        """Brings back what every file held before its first change at that moment or later."""
        first = self._first(moment)
        restored: list[str] = []
        failed: list[str] = []
        for path, kept in sorted(first.items()):
            try:
                if self._left.differs(path) and not self._is_back(kept):
                    failed.append(f"{path}: {SOMEBODY_ELSE}")
                elif self._bring_back(kept):
                    restored.append(path)
            except (OSError, LookupError) as problem:
                failed.append(f"{path}: {problem}")
        if restored:
            self._left.note(restored)
        return Restored(tuple(restored), tuple(failed))

    def _is_back(self, kept: Kept) -> bool:
        """Whether the file holds already what it is to hold. Raises OSError, LookupError."""
        path = Path(kept.path)
        if kept.kind == "link":
            return path.is_symlink() and str(path.readlink()) == kept.value
        if not path.exists():
            return self._held(kept) is None
        return path.is_file() and path.read_bytes() == self._held(kept)

    # ── keeping ──

    def _keep(self, moment: int, path: str) -> None:
        if (moment, path) in self._seen:
            return
        try:
            status = os.lstat(path)
        except OSError:
            self._add(Kept(moment, path, "absent"))
            return
        if stat.S_ISLNK(status.st_mode):
            self._add(Kept(moment, path, "link", str(Path(path).readlink())))
        elif not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            self._add(Kept(moment, path, "large"))
        else:
            value = self._blobs.put(Path(path).read_bytes())
            self._add(Kept(moment, path, "file", value, stat.S_IMODE(status.st_mode)))

    def _add(self, kept: Kept) -> None:
        with self._index.open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(self._cut + json.dumps(kept) + "\n")
        self._cut = ""
        self._load().append(kept)
        self._seen.add((kept.moment, kept.path))
        if self._blobs.size > MOST:
            self._let_go()

    def _load(self) -> list[Kept]:
        """Of an index that was cut, what can be read."""
        if self._kept is None:
            self._kept = list(self._lines())
            self._seen = {(kept.moment, kept.path) for kept in self._kept}
        return self._kept

    def _lines(self) -> Iterator[Kept]:
        with contextlib.suppress(OSError):
            text = self._index.read_text("utf-8", "surrogateescape")
            self._cut = "" if text.endswith("\n") or not text else "\n"
            for line in text.splitlines():
                with contextlib.suppress(ValueError, TypeError):
                    yield Kept(*json.loads(line))

    def _let_go(self) -> None:
        """Drops the oldest moments until half of the room is free; the newest one always stays."""
        kept = self._load()
        moments = sorted({each.moment for each in kept})
        while len(moments) > 1 and self._blobs.size > MOST // 2:
            oldest = moments.pop(0)
            kept = [each for each in kept if each.moment != oldest]
            self._blobs.only(each.value for each in kept if each.kind == "file")
        self._kept = kept
        self._seen = {(each.moment, each.path) for each in kept}
        text = "".join(json.dumps(each) + "\n" for each in kept)
        unfinished = self._index.with_suffix(".part")
        unfinished.write_text(text, "utf-8", "surrogateescape")
        unfinished.replace(self._index)

    # ── bringing back ──

    def _bring_back(self, kept: Kept) -> bool:
        """Whether anything had to be done. Raises OSError, LookupError."""
        match kept.kind:
            case "large":
                raise LookupError("it was too large to be kept, or no regular file")
            case "absent":
                return _remove(Path(kept.path))
            case "link":
                return _link(Path(kept.path), kept.value)
            case "file":
                return _write(Path(kept.path), self._blobs.get(kept.value), kept.mode)
            case "tree":
                found = self._work_tree.read(kept.value, kept.path)
                if found is None:
                    return _remove(Path(kept.path))
                return _write(Path(kept.path), found.data, found.mode)


def _written(touches: Touches) -> Iterator[str]:
    """Paths that a tool says it writes; what a shell line names comes from the tree."""
    return (use.path for use in touches.paths if use.access == "w" and touches.effect != "execute")


def _remove(path: Path) -> bool:
    if not os.path.lexists(path):
        return False
    path.unlink()
    return True


def _link(path: Path, target: str) -> bool:
    if path.is_symlink() and str(path.readlink()) == target:
        return False
    if os.path.lexists(path):
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return True


def _write(path: Path, data: bytes, mode: int) -> bool:
    """Atomic; a directory that stands in the way is an error."""
    with contextlib.suppress(OSError):
        if not path.is_symlink() and path.read_bytes() == data:
            if stat.S_IMODE(path.stat().st_mode) != mode:
                path.chmod(mode)
                return True
            return False
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.agent-cli")
    try:
        unfinished.write_bytes(data)
        unfinished.chmod(mode)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    return True

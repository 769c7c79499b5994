"""Where the tools work: paths of the model, resolved, and what they were when a call was judged."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from agent_cli.kernel.errors import ToolError
from agent_cli.ports import PathUse, Touches
from agent_cli.tools.changes import Restless
from agent_cli.tools.sandbox.confines import UNCONFINED, Sandbox
from agent_cli.tools.seen import Seen
from agent_cli.tools.shells import Shells

_MOST_LINKS = 40


class Unresolved(ToolError):
    """A path whose symbolic links could not be followed; it counts as outside of every root."""


def open_to_all(path: str) -> bool:
    return False


class Workspace:
    """The project as tools see it.

    `root` and `cwd` are absolute and resolved; relative paths start at `cwd`, which `cd` moves inside `root`.
    `shells` are the commands that run in the background; whoever made the workspace closes them.
    `closed` says of a resolved path that tools which walk a tree must pass it by (deny rules); commands run in `sandbox`.
    """

    def __init__(
        self,
        root: Path,
        cwd: Path | None = None,
        *,
        closed: Callable[[str], bool] = open_to_all,
        sandbox: Sandbox = UNCONFINED,
    ) -> None:
        self.root = os.path.realpath(root)
        self.cwd = os.path.realpath(cwd) if cwd is not None else self.root
        self.closed = closed
        self.seen = Seen()
        self.restless = Restless()
        self.shells = Shells(sandbox)
        self._judged: dict[str, str] = {}

    def apart(self) -> Workspace:
        """The same place for somebody who has seen nothing of it yet."""
        return Workspace(Path(self.root), Path(self.cwd), closed=self.closed, sandbox=self.shells.sandbox)

    def resolve(self, path: str) -> str:
        """Absolute, `~` expanded, every symbolic link followed, also where the end does not exist yet.

        Raises Unresolved.
        """
        return resolved(path, self.cwd)

    def touches(self, effect: Literal["read", "write"], path: str) -> Touches:
        """What a call on this path would touch; `target` holds the call to it."""
        try:
            judged = self._judged[path] = self.resolve(path)
        except Unresolved as problem:
            self._judged.pop(path, None)
            return Touches(effect, path, unresolved=str(problem))
        use = PathUse(judged, "w" if effect == "write" else "r")
        return Touches(effect, self.shown(judged), (use,))

    def target(self, path: str) -> str:
        """The path that was judged. Raises ToolError where it leads somewhere else by now."""
        judged = self._judged.get(path)
        if judged is None:
            return self.resolve(path)
        if self.resolve(judged) != judged:
            raise ToolError(
                f"{path} leads to another file than when this call was allowed: a symbolic link changed in "
                "between. Nothing was done; look at the path and call again."
            )
        return judged

    def shown(self, path: str) -> str:
        """Relative to the root where it lies inside."""
        if path == self.root:
            return "."
        return path.removeprefix(self.root.rstrip("/") + "/")

    def holds(self, path: str) -> bool:
        return path == self.root or path.startswith(self.root.rstrip("/") + "/")

    def move(self, directory: str) -> bool:
        """Lets relative paths start there from now on; False where that is outside the project."""
        there = os.path.realpath(directory)
        if not self.holds(there) or not Path(there).is_dir():
            return False
        self.cwd = there
        return True

    def missing(self, path: str) -> ToolError:
        """What to say of a file that is not there: the nearest names."""
        from agent_cli.tools.nearest import near_paths

        near = [self.shown(found) for found in near_paths(path, self.root)]
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        start = "" if self.cwd == self.root else f" Relative paths start at {self.shown(self.cwd)}."
        return ToolError(f"There is no file {self.shown(path)}.{hint}{start}")


def resolved(path: str, cwd: str) -> str:
    """Raises Unresolved for links in a circle and for what the system refuses to look at."""
    if "\0" in path:
        raise Unresolved("a path cannot hold a NUL character")
    left = [name for name in _absolute(path, cwd).split("/") if name][::-1]
    done: list[str] = []
    links = 0
    while left:
        name = left.pop()
        if name == "..":
            done = done[:-1]
            continue
        if name == ".":
            continue
        here = "/" + "/".join((*done, name))
        link = _link_at(Path(here), path)
        if link is None:
            done.append(name)
            continue
        links += 1
        if links > _MOST_LINKS:
            raise Unresolved(f"{path}: its symbolic links go in a circle")
        done = [] if link.startswith("/") else done
        left += [part for part in link.split("/") if part][::-1]
    return "/" + "/".join(done)


def _absolute(path: str, cwd: str) -> str:
    try:
        spelled = str(Path(path).expanduser()) if path.startswith("~") else path
    except RuntimeError as problem:
        raise Unresolved(f"{path}: {problem}") from None
    return spelled if spelled.startswith("/") else f"{cwd}/{spelled}"


def _link_at(here: Path, path: str) -> str | None:
    """Where a symbolic link leads, None for anything else and for nothing."""
    try:
        return str(here.readlink()) if stat.S_ISLNK(here.lstat().st_mode) else None
    except OSError as problem:
        if problem.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise Unresolved(f"{path}: {problem.strerror or problem}") from None

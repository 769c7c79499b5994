"""Says what is at a path."""

from __future__ import annotations

import datetime as dt
import os
import stat
from itertools import islice
from pathlib import Path
from typing import Annotated

from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches
from agent_cli.tools.disk import explain, kind_of
from agent_cli.tools.prose import spec_of
from agent_cli.tools.workspace import Workspace, resolved

_MOST = 10_000
"""Entries of a directory that are counted."""


class StatArguments(Arguments, frozen=True):
    path: Annotated[str, for_people("absolute, ~ or relative to the working directory")]


class Stat:
    arguments = StatArguments
    read_only = True
    bounded = True

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("stat", StatArguments, registered)
        self._workspace = workspace

    def touches(self, args: StatArguments, /) -> Touches:
        return self._workspace.touches("read", args.path)

    def preview(self, args: StatArguments, /) -> None:
        """Nothing to see: the question names the path."""

    async def run(self, args: StatArguments, say: Say, /) -> Output:
        target = self._workspace.target(args.path)
        shown = self._workspace.shown(target)
        link = self._link(args.path, target)
        try:
            facts = os.stat(target)  # noqa: PTH116  a look at one entry does not wait
        except (FileNotFoundError, NotADirectoryError):
            told = f"There is nothing at {shown}." if not link else f"{link}, where nothing is."
            return Output((Text(told),), Shown("nothing there"), empty=True)
        except OSError as problem:
            raise explain(problem, "look at", shown) from None
        lines = [shown, *([link] if link else []), *_lines(target, facts)]
        return Output((Text("\n".join(lines)),), Shown(lines[-4] if len(lines) > 4 else lines[1]))

    def _link(self, path: str, target: str) -> str:
        """Said where the path itself is a symbolic link."""
        parent, _, name = path.rstrip("/").rpartition("/")
        here = resolved(parent or ("/" if path.startswith("/") else "."), self._workspace.cwd)
        if name in ("", ".", "..") or name.startswith("~") or not Path(here, name).is_symlink():
            return ""
        return (
            f"{self._workspace.shown(f'{here}/{name}')} is a symbolic link to {self._workspace.shown(target)}"
        )


def _lines(path: str, facts: os.stat_result) -> list[str]:
    mode = facts.st_mode
    size = _entries(path) if stat.S_ISDIR(mode) else f"{facts.st_size:,} bytes"
    changed = dt.datetime.fromtimestamp(facts.st_mtime, dt.UTC)
    lines = [
        f"kind: {kind_of(mode) or 'file'}",
        f"size: {size}",
        f"mode: {stat.filemode(mode)} ({stat.S_IMODE(mode):04o}), owner {_owner(facts)}",
        f"changed: {changed:%Y-%m-%d %H:%M:%S} UTC",
    ]
    if stat.S_ISREG(mode) and facts.st_nlink > 1:
        lines.append(f"names: {facts.st_nlink} hard links")
    return lines


def _entries(path: str) -> str:
    try:
        with os.scandir(path) as found:
            count = sum(1 for _ in islice(found, _MOST + 1))
    except OSError:
        return "its entries may not be listed"
    return f"{count:,} entries" if count <= _MOST else f"more than {_MOST:,} entries"


def _owner(facts: os.stat_result) -> str:
    import grp
    import pwd

    try:
        user = pwd.getpwuid(facts.st_uid).pw_name
    except KeyError:
        user = str(facts.st_uid)
    try:
        return f"{user}:{grp.getgrgid(facts.st_gid).gr_name}"
    except KeyError:
        return f"{user}:{facts.st_gid}"

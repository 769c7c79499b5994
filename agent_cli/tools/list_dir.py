"""Lists one directory."""

from __future__ import annotations

import os
from typing import Annotated, NamedTuple

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches
from agent_cli.tools.disk import explain
from agent_cli.tools.ignore import ignored_below
from agent_cli.tools.prose import spec_of
from agent_cli.tools.workspace import Workspace

MOST = 500
BYTES = 28_000
_NAMED = 8
"""Ignored entries that are named beside their count."""


class ListArguments(Arguments, frozen=True):
    path: Annotated[str, for_people("directory; default the working directory")] = "."


class _Entry(NamedTuple):
    name: str
    is_dir: bool
    line: str


class ListDir:
    arguments = ListArguments
    read_only = True
    bounded = True

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("list_dir", ListArguments, registered)
        self._workspace = workspace

    def touches(self, args: ListArguments, /) -> Touches:
        return self._workspace.touches("read", args.path)

    def preview(self, args: ListArguments, /) -> None:
        """Nothing to see: the question names the path."""

    async def run(self, args: ListArguments, say: Say, /) -> Output:
        path = self._workspace.target(args.path)
        shown = self._workspace.shown(path)
        try:
            entries = _entries(path)
        except FileNotFoundError:
            raise self._workspace.missing(path) from None
        except NotADirectoryError:
            raise ToolError(f"{shown} is a file, not a directory.") from None
        except OSError as problem:
            raise explain(problem, "list", shown) from None
        ignored = ignored_below(path, self._workspace.root)
        seen: list[_Entry] = []
        hidden: list[str] = []
        for entry in entries:
            there = f"{path.rstrip('/')}/{entry.name}"
            if ignored.hides(there, is_dir=entry.is_dir):
                hidden.append(entry.name + ("/" if entry.is_dir else ""))
            elif not self._workspace.closed(there):
                seen.append(entry)
        return _result(seen, hidden)


def _entries(path: str) -> list[_Entry]:
    """Directories first, each kind by name. Raises OSError."""
    with os.scandir(path) as found:
        entries = [_entry(entry) for entry in found]
    return sorted(entries, key=lambda entry: (not entry.is_dir, entry.name))


def _entry(entry: os.DirEntry[str]) -> _Entry:
    try:
        if entry.is_symlink():
            return _Entry(entry.name, False, f"{entry.name} -> {os.readlink(entry.path)}")  # noqa: PTH115  as it is written
        if entry.is_dir():
            return _Entry(entry.name, True, f"{entry.name}/")
        return _Entry(entry.name, False, f"{entry.name}  {entry.stat().st_size:,}")
    except OSError:
        return _Entry(entry.name, False, f"{entry.name}  ?")


def _result(entries: list[_Entry], hidden: list[str]) -> Output:
    lines: list[str] = []
    left = BYTES
    for entry in entries[:MOST]:
        left -= len(entry.line.encode(errors="replace")) + 1
        if left < 0:
            break
        lines.append(entry.line)
    if len(entries) > len(lines):
        lines.append(f"[{len(entries) - len(lines):,} of {len(entries):,} entries are not shown]")
    if hidden:
        more = ", …" if len(hidden) > _NAMED else ""
        lines.append(f"[{len(hidden)} ignored by git: {', '.join(hidden[:_NAMED])}{more}]")
    if not entries and not hidden:
        lines.append("[the directory is empty]")
    return Output((Text("\n".join(lines)),), Shown(f"{len(entries):,} entries"), empty=not entries)

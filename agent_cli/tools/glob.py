"""Finds files by name."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.permissions import globs
from agent_cli.ports import Say, Touches
from agent_cli.tools import ripgrep
from agent_cli.tools.disk import explain
from agent_cli.tools.ignore import ignored_below, walk
from agent_cli.tools.prose import spec_of
from agent_cli.tools.workspace import Workspace

BYTES = 28_000
MOST = 1_000


class GlobArguments(Arguments, frozen=True):
    pattern: str
    path: Annotated[str, for_people("directory to start in")] = "."


class Glob:
    arguments = GlobArguments
    read_only = True
    bounded = True

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("glob", GlobArguments, registered)
        self._workspace = workspace

    def touches(self, args: GlobArguments, /) -> Touches:
        found = self._workspace.touches("read", args.path)
        return Touches("read", f"{args.pattern} in {found.subject}", found.paths, unresolved=found.unresolved)

    def preview(self, args: GlobArguments, /) -> None:
        """Nothing to see: the question names pattern and path."""

    async def run(self, args: GlobArguments, say: Say, /) -> Output:
        base = self._workspace.target(args.path)
        pattern = self._pattern(args.pattern, base)
        if not _is_directory(base):
            raise self._workspace.missing(base)
        regex = globs.path(pattern)
        start = len(base.rstrip("/")) + 1
        paths, notes = await self._files(base)
        found = sorted(
            path for path in paths if regex.fullmatch(path[start:]) and not self._workspace.closed(path)
        )
        if not found:
            notes.append(f"no file matches {args.pattern!r} in {self._workspace.shown(base)}")
        return self._result(found, notes)

    def _pattern(self, pattern: str, base: str) -> str:
        """Relative to the base. Raises ToolError where it leads out of it."""
        inside = pattern.removeprefix(f"{base}/").removeprefix("./")
        if inside.startswith(("/", "~")) or ".." in inside.split("/"):
            raise ToolError(
                f"The pattern {pattern!r} leads out of {self._workspace.shown(base)}: start it at `path`."
            )
        if not inside:
            raise ToolError("`pattern` is empty: give one such as *.py or src/**/*.ts.")
        inside = f"{inside}**" if inside.endswith("/") else inside
        return inside if "/" in inside else f"**/{inside}"

    async def _files(self, base: str) -> tuple[list[str], list[str]]:
        """Every file below, and what is worth noting about the walk."""
        program = ripgrep.ripgrep()
        if program is None:
            ignored = ignored_below(base, self._workspace.root)
            return await asyncio.to_thread(lambda: list(walk(base, ignored))), []
        paths: list[str] = []
        options = [option for option in ripgrep.TREE if option != "--sort=path"]
        try:
            ending = await ripgrep.run(
                program,
                [*options, "--files", "--", base],
                self._workspace.root,
                lambda raw: paths.append(raw.decode(errors="replace")),
            )
        except OSError as problem:
            raise explain(problem, "start", program) from None
        late = [f"stopped after {ripgrep.SECONDS:g} s, there may be more: narrow the path"]
        return paths, late if ending.code is None else []

    def _result(self, found: list[str], notes: list[str]) -> Output:
        shown: list[str] = []
        left = BYTES
        for path in found[:MOST]:
            name = self._workspace.shown(path)
            left -= len(name.encode(errors="replace")) + 1
            if left < 0:
                break
            shown.append(name)
        if len(shown) < len(found):
            notes.append(
                f"{len(found) - len(shown):,} of {len(found):,} files are not shown; narrow the pattern"
            )
        text = "\n".join([*shown, *(f"[{note}]" for note in notes)])
        return Output((Text(text),), Shown(f"{len(found):,} files"), empty=not found)


def _is_directory(path: str) -> bool:
    return Path(path).is_dir()

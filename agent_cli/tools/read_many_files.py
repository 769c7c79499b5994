"""Reads several files: each under its path, all within one bound."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown, as_text
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.permissions import globs
from agent_cli.permissions.secrets import looks_secret
from agent_cli.ports import Say, Touches
from agent_cli.tools.ignore import ignored_below, walk
from agent_cli.tools.prose import spec_of
from agent_cli.tools.read_file import ReadArguments, ReadFile
from agent_cli.tools.workspace import Workspace

PAGE = 100_000
"""Bytes of one result."""
NOTES = 4_000
MOST = 100
"""Files of one call."""
_NAMED = 20
_PATTERN = re.compile(r"[*?\[{]")


class ReadManyArguments(Arguments, frozen=True):
    paths: Annotated[tuple[str, ...], for_people("paths or patterns, relative to the working directory")]


class ReadManyFiles:
    arguments = ReadManyArguments
    read_only = True
    bounded = True

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("read_many_files", ReadManyArguments, registered)
        self._workspace = workspace
        self._one = ReadFile(workspace, registered)

    def touches(self, args: ReadManyArguments, /) -> Touches:
        """Named files, and the directories in which patterns look."""
        found = [self._workspace.touches("read", self._start(path)) for path in args.paths]
        uses = tuple(dict.fromkeys(use for each in found for use in each.paths))
        unresolved = next((each.unresolved for each in found if each.unresolved), "")
        return Touches("read", " ".join(args.paths), uses, unresolved=unresolved)

    def preview(self, args: ReadManyArguments, /) -> None:
        """Nothing to see: the question names the paths."""

    async def run(self, args: ReadManyArguments, say: Say, /) -> Output:
        if not args.paths:
            raise ToolError("`paths` is empty: give paths or patterns.")
        notes: list[str] = []
        files = list(
            dict.fromkeys([path for asked in args.paths for path in await self._files(asked, notes)])
        )
        shown: list[str] = []
        left = PAGE - NOTES
        late = files[MOST:]
        for number, path in enumerate(files[:MOST]):
            text, is_whole = await self._text(path, left // (min(len(files), MOST) - number))
            if not text:
                late.append(path)
                continue
            left -= len(text.encode(errors="replace")) + 1
            shown.append(text)
            if not is_whole:
                notes.append(f"{self._workspace.shown(path)} is shown in part")
        if late:
            names = ", ".join(map(self._workspace.shown, late[:_NAMED]))
            notes.append(f"{len(late)} files did not fit: {names}{', …' if len(late) > _NAMED else ''}")
        told = "\n".join([*shown, *(f"[{note}]" for note in notes)])[:PAGE]
        return Output((Text(told),), Shown(f"{len(shown)} files"), ok=bool(shown))

    def _start(self, path: str) -> str:
        """Where a pattern begins to look; a plain path is itself."""
        if not self._is_pattern(path):
            return path
        fixed = _PATTERN.split(path, maxsplit=1)[0]
        return fixed.rpartition("/")[0] or ("/" if fixed.startswith("/") else ".")

    def _is_pattern(self, path: str) -> bool:
        """A file that has such a name is meant literally."""
        return _PATTERN.search(path) is not None and not Path(self._workspace.resolve(path)).exists()

    async def _files(self, asked: str, notes: list[str]) -> list[str]:
        if not self._is_pattern(asked):
            return [self._workspace.target(asked)]
        start = self._start(asked)
        base = self._workspace.target(start)
        pattern = asked[len(start) :].lstrip("/") if start != "." else asked.removeprefix("./")
        regex = globs.path(pattern if "/" in pattern else f"**/{pattern}")
        ignored = ignored_below(base, self._workspace.root)
        prefix = len(base.rstrip("/")) + 1
        every = await asyncio.to_thread(lambda: list(walk(base, ignored)))
        found = sorted(path for path in every if regex.fullmatch(path[prefix:]) and self._may_read(path))
        if not found:
            notes.append(f"no file matches {asked!r}")
        return found

    def _may_read(self, path: str) -> bool:
        """Patterns find nothing that a rule closes or that looks secret: such a file has to be named."""
        return not self._workspace.closed(path) and not looks_secret(path)

    async def _text(self, path: str, room: int) -> tuple[str, bool]:
        """One file under its path, and whether that is all of it; "" where not even a line fits."""
        head = f"==> {self._workspace.shown(path)} <=="
        try:
            text = as_text(await self._one.read(path, ReadArguments(path)))
        except ToolError as problem:
            return f"{head}\n[{problem}]", True
        raw = f"{head}\n{text}".encode(errors="replace")
        if len(raw) <= room:
            return raw.decode(), True
        kept = raw[:room].decode(errors="ignore").rpartition("\n")[0]
        return (kept, False) if "\n" in kept else ("", False)

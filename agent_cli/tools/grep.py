"""Searches file contents: ripgrep where it is there, else plain Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, describe, for_people
from agent_cli.permissions import globs
from agent_cli.ports import Say, Touches
from agent_cli.tools import ripgrep, scan
from agent_cli.tools.disk import explain, kind_of
from agent_cli.tools.matches import LINE, Matches, Passed
from agent_cli.tools.prose import spec_of
from agent_cli.tools.workspace import Workspace

_LINE = re.compile(rb"(\d+)([:-])(.*)", re.DOTALL)


class GrepArguments(Arguments, frozen=True):
    pattern: str
    path: Annotated[str, for_people("file or directory")] = "."
    include: Annotated[str, for_people("glob of files, as *.py or src/**/*.ts")] = ""
    context: Annotated[int, describe("lines around each match")] = 0
    case: Literal["sensitive", "ignore", "smart"] = "sensitive"
    mode: Literal["content", "files", "count"] = "content"


class Grep:
    arguments = GrepArguments
    read_only = True
    bounded = True

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("grep", GrepArguments, registered)
        self._workspace = workspace

    def touches(self, args: GrepArguments, /) -> Touches:
        found = self._workspace.touches("read", args.path)
        return Touches("read", f"{args.pattern} in {found.subject}", found.paths, unresolved=found.unresolved)

    def preview(self, args: GrepArguments, /) -> None:
        """Nothing to see: the question names pattern and path."""

    async def run(self, args: GrepArguments, say: Say, /) -> Output:
        if not args.pattern:
            raise ToolError("`pattern` is empty: give a regular expression.")
        base = self._workspace.target(args.path)
        is_file = _is_file(self._workspace, base)
        passed = Passed(self._workspace, base, _wanted(args.include, base) if not is_file else None)
        found = Matches(self._workspace, passed)
        program = ripgrep.ripgrep()
        if program is not None:
            notes = await self._by_ripgrep(program, args, base, found)
        else:
            notes = await scan.search(self._workspace, args, base, found)
        return self._result(args, base, found, notes)

    async def _by_ripgrep(self, program: str, args: GrepArguments, base: str, found: Matches) -> list[str]:
        take = _taking(args, found)
        try:
            ending = await ripgrep.run(program, _options(args, base), self._workspace.root, take)
        except OSError as problem:
            raise explain(problem, "start", program) from None
        if ending.code == 2 and not found.files:
            raise ToolError(f"The search failed: {ending.errors[:1_000]}")
        if ending.code is None:
            return [f"stopped after {ripgrep.SECONDS:g} s, more may match: narrow the path"]
        if ending.code == 2:
            return [f"not everything could be read: {ending.errors.splitlines()[0][:200]}"]
        return []

    def _result(self, args: GrepArguments, base: str, found: Matches, notes: list[str]) -> Output:
        if not found.files:
            kind = f" (files {args.include})" if args.include else ""
            notes.insert(0, f"no match for {args.pattern!r} in {self._workspace.shown(base)}{kind}")
        unit = "matches" if args.mode == "content" else "files"
        text = found.text(unit, notes)
        counted = f"{found.matches:,} matches in " if args.mode != "files" else ""
        return Output((Text(text),), Shown(f"{counted}{found.files:,} files"), empty=not found.files)


def _is_file(workspace: Workspace, base: str) -> bool:
    place = Path(base)
    try:
        mode = place.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise workspace.missing(base) from None
    except OSError as problem:
        raise explain(problem, "search", workspace.shown(base)) from None
    odd = kind_of(mode)
    if odd not in (None, "a directory"):
        raise ToolError(f"{workspace.shown(base)} is {odd}; it cannot be searched.")
    return odd is None


def _wanted(include: str, base: str) -> Callable[[str], bool] | None:
    """Of a pattern with a slash; one without is a file type for ripgrep and needs no second look."""
    if not include:
        return None
    pattern = include if "/" in include else f"**/{include}"
    regex = globs.path(pattern.removeprefix(f"{base}/").removeprefix("./"))
    return lambda path: regex.fullmatch(path.removeprefix(f"{base}/")) is not None


def _options(args: GrepArguments, base: str) -> list[str]:
    options = [*ripgrep.TREE, "--no-heading", "--with-filename", "--line-number", "--engine=auto"]
    options += [f"--max-columns={LINE + 20}", "--max-columns-preview"]
    options += {"sensitive": ["--case-sensitive"], "ignore": ["--ignore-case"], "smart": ["--smart-case"]}[
        args.case
    ]
    if args.include and "/" not in args.include:
        options += ["--type-add", f"wanted:{args.include}", "--type", "wanted"]
    if "\n" in args.pattern or "\\n" in args.pattern:
        options.append("--multiline")
    options += {"content": ["--null"], "files": ["--files-with-matches"], "count": ["--null", "--count"]}[
        args.mode
    ]
    if args.context > 0 and args.mode == "content":
        options.append(f"--context={min(args.context, scan.MOST_CONTEXT)}")
    return [*options, "--regexp", args.pattern, "--", base]


def _taking(args: GrepArguments, found: Matches) -> Callable[[bytes], None]:
    """What to do with a line of ripgrep's output in this mode."""

    def content(raw: bytes) -> None:
        path, mark, rest = raw.partition(b"\0")
        parts = _LINE.fullmatch(rest)
        if mark and parts is not None:
            number, kind, text = parts.groups()
            found.line(_decoded(path), int(number), _decoded(text), is_match=kind == b":")

    def count(raw: bytes) -> None:
        path, _, number = raw.partition(b"\0")
        if number.isdigit():
            found.whole(_decoded(path), int(number))

    def files(raw: bytes) -> None:
        found.whole(_decoded(raw))

    return {"content": content, "count": count, "files": files}[args.mode]


def _decoded(raw: bytes) -> str:
    return raw.decode(errors="replace")

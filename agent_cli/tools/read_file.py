"""Reads one file for the model: numbered lines in pages, images and documents as they are."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, NamedTuple

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Block, Document, Image, Text
from agent_cli.kernel.pictures import LARGEST_IMAGE, LARGEST_PDF, PDF, Kind, media_kind
from agent_cli.kernel.wire import Arguments, describe
from agent_cli.ports import Say, Touches
from agent_cli.tools.disk import explain, open_file
from agent_cli.tools.kinds import binary_kind
from agent_cli.tools.prose import spec_of
from agent_cli.tools.seen import digest_of, digest_of_file
from agent_cli.tools.text import SAMPLE, Form, decode, flat, form_of, readable
from agent_cli.tools.workspace import Workspace

PAGE = 100_000
"""Bytes of one result."""
NOTES = 400
"""Bytes of a page kept for what is said about it."""
INLINE = 1_000_000
"""Larger files are read in a thread, so that the screen keeps moving."""
WHOLE = 8_000_000
"""Larger files are read line by line, never as a whole."""


class ReadArguments(Arguments, frozen=True):
    path: Annotated[str, describe("absolute, ~ or relative to the working directory")]
    offset: Annotated[int, describe("first line, from 1")] = 1
    limit: Annotated[int, describe("number of lines")] = 0


class Vision(NamedTuple):
    """What the model takes beside text."""

    images: bool = False
    documents: bool = False


_TEXT_ONLY = Vision()


class ReadFile:
    arguments = ReadArguments
    read_only = True
    bounded = True

    def __init__(
        self, workspace: Workspace, registered: frozenset[str] = frozenset(), vision: Vision = _TEXT_ONLY
    ) -> None:
        self.spec = spec_of("read_file", ReadArguments, registered)
        self._workspace = workspace
        self._vision = vision

    def touches(self, args: ReadArguments, /) -> Touches:
        return self._workspace.touches("read", args.path)

    def preview(self, args: ReadArguments, /) -> None:
        """Nothing to see: the question names the path."""

    async def run(self, args: ReadArguments, say: Say, /) -> Output:
        return await self.read(self._workspace.target(args.path), args)

    async def read(self, path: str, args: ReadArguments) -> Output:
        """The page that the arguments ask for, of the file at this resolved path. Raises ToolError."""
        shown = self._workspace.shown(path)
        try:
            if _size(path) <= INLINE:
                return self._read(path, args)
            return await asyncio.to_thread(self._read, path, args)
        except (FileNotFoundError, NotADirectoryError):
            raise self._workspace.missing(path) from None
        except OSError as problem:
            raise explain(problem, "read", shown) from None

    def _read(self, path: str, args: ReadArguments) -> Output:
        with open_file(path, self._workspace.shown(path)) as file:
            return self._content(path, file, os.fstat(file.fileno()).st_size, args)

    def _content(self, path: str, file: io.BufferedReader, size: int, args: ReadArguments) -> Output:
        head = file.peek(16)[:16]
        if (kind := media_kind(head)) is not None:
            return self._media(path, file, size, kind)
        if size <= WHOLE:
            raw = file.read() or b""
            self._workspace.seen.mark(path, digest_of(raw))
            decoded = decode(raw)
            if decoded is None:
                return _described(f"{binary_kind(head)}, {len(raw):,} bytes; no text to show")
            text, form = decoded
            lines = _split(text)
            first = _first(args, len(lines))
            return _paged(
                map(_Line, islice(lines, first - 1, None)), first, args.limit, form, total=len(lines)
            )
        self._workspace.seen.mark(path, digest_of_file(path))
        form = form_of(file.read(SAMPLE))
        if form is None:
            return _described(f"{binary_kind(head)}, {size:,} bytes; no text to show")
        file.seek(len(form.mark))
        with io.TextIOWrapper(file, form.encoding, errors="replace", newline="\n") as stream:
            lines = _streamed(stream)
            before = sum(1 for _ in islice(lines, args.offset - 1)) if args.offset > 1 else 0
            following = next(lines, None)
            first = _first(args, before + (following is not None))
            rest = chain(() if following is None else (following,), lines)
            return _paged(rest, first, args.limit, form, total=None)

    def _media(self, path: str, file: io.BufferedReader, size: int, kind: Kind) -> Output:
        is_pdf = kind is PDF
        takes = self._vision.documents if is_pdf else self._vision.images
        largest = LARGEST_PDF if is_pdf else LARGEST_IMAGE
        what = f"{kind.name}, {size:,} bytes"
        self._workspace.seen.mark(path, digest_of_file(path))
        if not takes:
            return _described(f"{what}; this model does not take {'documents' if is_pdf else 'images'}")
        if size > largest:
            return _described(f"{what}; more than the {largest:,} bytes that can be sent to the model")
        from base64 import b64encode

        data = b64encode(file.read()).decode()
        block: Block = Image(kind.media_type, data)
        if is_pdf:
            block = Document(kind.media_type, data, Path(path).name)
        return Output((Text(what), block), Shown(what))


def _size(path: str) -> int:
    return Path(path).stat().st_size


def _described(what: str) -> Output:
    return Output((Text(f"[{what}]"),), Shown(what))


# ── pages ──


class _Line(NamedTuple):
    """`size` is its length in bytes where only a first part was kept."""

    text: str
    size: int = 0


def _split(text: str) -> list[str]:
    lines = flat(readable(text)).split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _first(args: ReadArguments, count: int) -> int:
    """The line to begin with. Raises ToolError where the file, of at least `count` lines, does not have it."""
    first = max(1, args.offset)
    if first > max(1, count):
        raise ToolError(f"There is no line {first}: the file has {count} lines.")
    return first


def _streamed(stream: io.TextIOWrapper) -> Iterator[_Line]:
    """Lines of at most a page each; the rest of a longer one is passed over."""
    while piece := stream.readline(PAGE):
        size = len(piece)
        last = piece
        while not last.endswith("\n") and (last := stream.readline(PAGE)):
            size += len(last)
        yield _Line(piece.rstrip("\r\n"), size if size > len(piece) else 0)


def _paged(lines: Iterable[_Line], first: int, limit: int, form: Form, *, total: int | None) -> Output:
    """A page of lines of which the first has the number `first`. `total` is None where nobody counted."""
    shown: list[str] = []
    notes: list[str] = []
    left = PAGE - NOTES
    more = False
    for number, line in enumerate(lines, first):
        entry = f"{number}\t{line.text}"
        size = len(entry) + 1 if entry.isascii() else len(entry.encode(errors="replace")) + 1
        if size > left and not shown:
            entry = _cut(entry, left)
            notes.append(_long_line(number, line))
        elif size > left or (limit > 0 and len(shown) >= limit):
            more = True
            break
        elif line.size:
            notes.append(_long_line(number, line))
        shown.append(entry)
        left -= size
    return _page(shown, first, notes, form, total if more or first > 1 else len(shown), more=more)


def _page(
    shown: list[str], first: int, notes: list[str], form: Form, total: int | None, *, more: bool
) -> Output:
    last = first + len(shown) - 1
    of = "" if total is None else f" of {total:,}"
    if more:
        follows = "" if total is not None else ", more follow"
        notes.append(f"lines {first}-{last}{of}{follows}; go on with offset={last + 1}")
    elif first > 1:
        notes.append(f"lines {first}-{last}, the end of the file")
    elif not shown:
        notes.append("the file is empty")
    if not form.is_plain:
        notes.append(f"stored as {form.name}")
    text = "\n".join([*shown, *(f"[{note}]" for note in notes)])
    return Output(
        (Text(text),), Shown(f"lines {first}-{last}{of}" if shown else "empty file"), empty=not shown
    )


def _long_line(number: int, line: _Line) -> str:
    return f"line {number} is {line.size or len(line.text):,} characters long, only its beginning is shown"


def _cut(entry: str, size: int) -> str:
    return entry.encode(errors="replace")[:size].decode(errors="ignore")

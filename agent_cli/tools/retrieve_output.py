"""Pages through a result that was too long for the conversation."""

from __future__ import annotations

import os
from typing import Annotated

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, describe
from agent_cli.ports import PathUse, Say, Touches
from agent_cli.tools.disk import open_file
from agent_cli.tools.prose import spec_of
from agent_cli.tools.results import Results

PAGE = 100_000
"""Bytes of one result."""
NOTES = 200
LISTED = 20


class RetrieveArguments(Arguments, frozen=True):
    id: Annotated[str, describe("as the shortened result names it")]
    offset: Annotated[int, describe("first byte, from 0")] = 0
    limit: Annotated[int, describe("number of bytes; default all that fit")] = 0


class RetrieveOutput:
    arguments = RetrieveArguments
    read_only = True
    bounded = True

    def __init__(self, results: Results, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("retrieve_output", RetrieveArguments, registered)
        self._results = results

    def touches(self, args: RetrieveArguments, /) -> Touches:
        path = str(self._results.path_of(args.id))
        return Touches("read", path, (PathUse(path, "r"),))

    def preview(self, args: RetrieveArguments, /) -> None:
        """Nothing to see: the question names the file."""

    async def run(self, args: RetrieveArguments, say: Say, /) -> Output:
        most = PAGE - NOTES
        wanted = min(args.limit, most) if args.limit > 0 else most
        path = str(self._results.path_of(args.id))
        try:
            with open_file(path, path) as file:
                size = os.fstat(file.fileno()).st_size
                first = max(0, args.offset)
                file.seek(first)
                raw = file.read(wanted + 3)
        except OSError:
            raise ToolError(self._unknown(args.id)) from None
        if first >= max(1, size):
            raise ToolError(f"There is no byte {first}: the result has {size:,} bytes.")
        return _page(raw, first, wanted, size)

    def _unknown(self, wanted: str) -> str:
        names = self._results.names()
        if not names:
            return f"There is no kept result '{wanted}': none was too long so far. Run the tool again."
        more = f" and {len(names) - LISTED} older ones" if len(names) > LISTED else ""
        return f"There is no kept result '{wanted}'; there are {', '.join(names[:LISTED])}{more}."


def _page(raw: bytes, first: int, wanted: int, size: int) -> Output:
    """Whole characters: a page begins and ends where one does, and pages in a row lose nothing."""
    start = _boundary(raw, 0)
    end = _boundary(raw, min(wanted, len(raw)))
    text = raw[start:end].decode(errors="replace")
    until = first + end
    rest = f"go on with offset={until}" if until < size else "the end"
    note = f"bytes {first + start:,}-{until:,} of {size:,}; {rest}"
    return Output((Text(f"{text}\n[{note}]"),), Shown(note))


def _boundary(raw: bytes, at: int) -> int:
    """The next place from here on where a character begins."""
    while at < len(raw) and raw[at] & 0xC0 == 0x80:
        at += 1
    return at

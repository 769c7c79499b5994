"""What a message may name behind an `@`: files, and what they define. Both are read in a thread, and searched at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any

from agent_cli.talk.door import Sources, Symbol
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Notice
from agent_cli.tui.menu import Choice
from agent_cli.tui.paths import Paths, quoted

FRESH, SLOWLY = 10.0, 60.0
"""Seconds for which the list of files, and what they define, is taken as it is."""
SHORTEST = 2
"""Letters from which on files come with what they define."""
BESIDE = 8
"""Definitions that are offered below files."""
ONLY = "#"
"""What is typed first where no file is meant."""


class Named:
    """`came` is called when a list is there or a search has gone on, `tell` with why no list is."""

    def __init__(
        self,
        sources: Callable[[], Sources],
        work: Callable[[Coroutine[Any, Any, None]], object],
        came: Callable[[], None],
        tell: Callable[[Item], None],
    ) -> None:
        self._sources = sources
        self._work = work
        self._came = came
        self._tell = tell
        self._paths = Paths(())
        self._symbols: list[Symbol] = []
        self._names = Paths(())
        self._read: dict[str, float] = {}  # when each list was read; -1 while it is

    def of(self, head: str, typed: str, tail: str) -> list[Choice]:
        """The completions of what was typed behind an `@`, between the rest of the text."""
        if typed.startswith(ONLY):
            found = self._defined(typed[1:])
        else:
            found = self._files(head, typed, tail)
            if len(typed) >= SHORTEST:
                near = self._defined(typed, gaps=False)[:BESIDE]
                found += [_choice(head, symbol, tail) for symbol in near]
            return found
        return [_choice(head, symbol, tail) for symbol in found]

    def _files(self, head: str, typed: str, tail: str) -> list[Choice]:
        self._ask("files", FRESH, self._fetch_files)
        found = self._paths.find(typed)
        if self._paths.unfinished:
            self._work(self._look_on())
        return [
            Choice(f"{head}@{quoted(path)}{tail}", clean_line(path), sends=False, path=path) for path in found
        ]

    def _defined(self, typed: str, *, gaps: bool = True) -> list[Symbol]:
        self._ask("symbols", SLOWLY, self._fetch_symbols)
        found = [self._symbols[at] for at in self._names.places(typed, gaps=gaps)]
        if self._names.unfinished:
            self._work(self._look_on())
        return found

    def _ask(self, what: str, fresh: float, fetch: Callable[[], Coroutine[Any, Any, None]]) -> None:
        read = self._read.get(what)
        if read is None or 0 <= read < monotonic() - fresh:
            self._read[what] = -1
            self._work(fetch())

    async def _look_on(self) -> None:
        """Behind the keys that came meanwhile."""
        await asyncio.sleep(0)
        self._came()

    async def _fetch_files(self) -> None:
        try:
            self._paths = await asyncio.to_thread(lambda: Paths(self._sources().files()))
        except OSError as problem:
            self._tell(Notice(f"The files are not known: {problem}", "warning"))
        self._read["files"] = monotonic()
        self._came()

    async def _fetch_symbols(self) -> None:
        def read() -> tuple[list[Symbol], Paths]:
            symbols = list(self._sources().symbols())
            return symbols, Paths([symbol.name for symbol in symbols])

        try:
            self._symbols, self._names = await asyncio.to_thread(read)
        except OSError as problem:
            self._tell(Notice(f"What the files define is not known: {problem}", "warning"))
        self._read["symbols"] = monotonic()
        self._came()


def _choice(head: str, symbol: Symbol, tail: str) -> Choice:
    where = f"{symbol.path}:{symbol.line}"
    text = f"{head}@{quoted(symbol.path)}:{symbol.line} {symbol.name}{tail}"
    return Choice(text, clean_line(symbol.name), clean_line(where), sends=False)

"""What could be meant by what is being typed: a command, a model, a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from time import monotonic
from typing import Any

from agent_cli.kernel.errors import AgentError
from agent_cli.talk.commands import book
from agent_cli.talk.desk import Desk
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Banner, Notice
from agent_cli.tui.menu import Choice, of_commands, of_models
from agent_cli.tui.paths import Paths, quoted, token

MODEL = "/model "

FRESH = 10.0
"""Seconds for which the list of files is taken as it is."""


class Completion:
    """Lists that take a while are made in a thread; `came` is called when one is there, `tell` with why none is."""

    def __init__(
        self,
        desk: Desk,
        work: Callable[[Coroutine[Any, Any, None]], object],
        came: Callable[[], None],
        tell: Callable[[Item], None],
    ) -> None:
        self._desk = desk
        self._work = work
        self._came = came
        self._tell = tell
        self._names: Sequence[str] | None = None  # of models; None until they are asked for
        self._paths = Paths(())
        self._read = -FRESH
        self._reading = False

    def of(self, text: str, before: str) -> list[Choice]:
        """`before` is the part of the text before the cursor."""
        typed = token(before)
        if typed is not None:
            return self._files(text, before, typed)
        if not text.startswith(MODEL):
            self._names = None
            starts = text.startswith("/") and " " not in text
            return of_commands(book.matching(text[1:], self._desk.own)) if starts else []
        return [] if "\n" in text else self._models(text[len(MODEL) :])

    def _models(self, typed: str) -> list[Choice]:
        if self._names is None:
            self._names = ()
            self._work(self._fetch_names())
        session = self._desk.session
        current = session.state.card.id if session is not None else self._desk.welcome.model
        return of_models(self._names, current, typed)

    def _files(self, text: str, before: str, typed: str) -> list[Choice]:
        if not self._reading and monotonic() - self._read > FRESH:
            self._reading = True
            self._work(self._fetch_files())
        head, tail = before[: len(before) - len(typed) - 1], text[len(before) :]
        found = self._paths.find(typed)
        if self._paths.unfinished:
            self._work(self._look_on())
        return [
            Choice(f"{head}@{quoted(path)}{tail}", clean_line(path), sends=False, path=path) for path in found
        ]

    async def _look_on(self) -> None:
        """Behind the keys that came meanwhile."""
        await asyncio.sleep(0)
        self._came()

    async def _fetch_names(self) -> None:
        """Off the screen's thread, since catalogs are read for it."""
        try:
            self._names = await asyncio.to_thread(lambda: tuple(self._desk.sources.models()))
        except AgentError as problem:
            self._tell(Banner("The models are not known.", str(problem)))
        else:
            self._came()

    async def _fetch_files(self) -> None:
        try:
            self._paths = await asyncio.to_thread(lambda: Paths(self._desk.sources.files()))
        except OSError as problem:
            self._tell(Notice(f"The files are not known: {problem}", "warning"))
        self._reading, self._read = False, monotonic()
        self._came()

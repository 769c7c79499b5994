"""What could be meant by what is being typed: a command, a model, a file or what one defines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from agent_cli.kernel.errors import AgentError
from agent_cli.talk.commands import book
from agent_cli.talk.desk import Desk
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Banner
from agent_cli.tui.menu import Choice, of_commands, of_models
from agent_cli.tui.named import Named
from agent_cli.tui.paths import token

MODEL = "/model "
MOST_RESOURCES = 8


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
        self._named = Named(lambda: desk.sources, work, came, tell)

    def of(self, text: str, before: str) -> list[Choice]:
        """`before` is the part of the text before the cursor."""
        typed = token(before)
        if typed is not None:
            head, tail = before[: len(before) - len(typed) - 1], text[len(before) :]
            return [*self._resources(head, typed, tail), *self._named.of(head, typed, tail)]
        if not text.startswith(MODEL):
            self._names = None
            starts = text.startswith("/") and " " not in text
            desk = self._desk
            return of_commands(book.matching(text[1:], book.own_of(desk), desk.lacks)) if starts else []
        return [] if "\n" in text else self._models(text[len(MODEL) :])

    def _resources(self, head: str, typed: str, tail: str) -> list[Choice]:
        """Of servers, as far as their addresses hold what was typed."""
        session = self._desk.session
        if session is None or session.servers is None or not typed:
            return []
        found = [(f"{each.server}:{each.uri}", each.name) for each in session.servers.resources()]
        fits = [pair for pair in found if typed.casefold() in f"{pair[0]} {pair[1]}".casefold()]
        return [
            Choice(f"{head}@{place}{tail}", clean_line(place), clean_line(name), sends=False)
            for place, name in fits[:MOST_RESOURCES]
        ]

    def _models(self, typed: str) -> list[Choice]:
        if self._names is None:
            self._names = ()
            self._work(self._fetch_names())
        session = self._desk.session
        current = session.state.card.id if session is not None else self._desk.welcome.model
        return of_models(self._names, current, typed)

    async def _fetch_names(self) -> None:
        """Off the screen's thread, since catalogs are read for it."""
        try:
            self._names = await asyncio.to_thread(lambda: tuple(self._desk.sources.models()))
        except AgentError as problem:
            self._tell(Banner("The models are not known.", str(problem)))
        else:
            self._came()

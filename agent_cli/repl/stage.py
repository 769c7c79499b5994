"""What a slash command may open, line by line: a list becomes numbers, what takes a while is done next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Block
from agent_cli.repl.asker import Asker
from agent_cli.repl.teller import Teller
from agent_cli.talk import outside
from agent_cli.talk.answers import Alarm, Answer, Note
from agent_cli.talk.stage import Picking, Row, Wish
from agent_cli.talk.untrusted import clean_line

MOST = 30
"""Rows of a list that are shown at once."""


class LineStage:
    """What waits to be done, one after the other: `jobs` at once, `questions` to the person when no turn runs.

    `wish` is another session, `draft` what the next line begins with, `typed` a whole line that came too early.
    """

    def __init__(self, asker: Asker, teller: Teller) -> None:
        self._asker = asker
        self._teller = teller
        self.jobs: deque[Callable[[], Awaitable[None]]] = deque()
        self.questions: deque[Callable[[], Awaitable[None]]] = deque()
        self.wish: Wish | None = None
        self.draft = ""
        self.typed = ""

    def pick(self, picking: Picking, /) -> None:
        self.questions.append(lambda: self._pick(picking))

    def switch(self, wish: Wish, /) -> None:
        self.wish = wish

    def write(self, text: str, files: tuple[Block, ...] = (), /) -> None:
        if files:
            self._teller.tell(
                Note("What went along with it does not come back: name it again with @.", "warning")
            )
        self.draft = text

    def themes(self) -> Sequence[str]:
        return ()

    def paint(self, theme: str, /) -> str:
        return ""

    def copy(self, text: str, what: str, /) -> None:
        async def work() -> None:
            program = await asyncio.to_thread(outside.copy, text)
            told = f"{program} has {what}." if program else "There is no clipboard program here."
            self._teller.tell(Note(told, "info" if program else "warning"))

        self.jobs.append(work)

    def later(self, doing: str, work: Callable[[], Answer | None], /) -> None:
        self.meanwhile(doing, lambda: asyncio.to_thread(work))

    def meanwhile(self, doing: str, work: Callable[[], Awaitable[Answer | None]], /) -> None:
        self._teller.tell(Note(f"{doing} …"))

        async def job() -> None:
            try:
                answer = await work()
            except AgentError as problem:
                answer = Alarm(f"{doing}: that did not work.", str(problem))
            if answer is not None:
                self._teller.tell(answer)

        self.jobs.append(job)

    async def _pick(self, picking: Picking) -> None:
        """A number chooses; a part of a name narrows the list; nothing leaves it, and so does a command."""
        try:
            rows = list(await asyncio.to_thread(picking.rows))
        except AgentError as problem:
            self._teller.tell(Alarm("The list cannot be made.", str(problem)))
            return
        if not rows:
            self._teller.tell(Note(picking.empty))
        while rows:
            self._list(picking.title, rows)
            try:
                said = (await self._asker.ask("number, part of a name, or nothing: ")).strip()
            except (EOFError, KeyboardInterrupt):
                said = ""
            if not said:
                break
            if said.isdecimal() and 0 < int(said) <= len(rows):
                picking.chosen(rows[int(said) - 1].key)
                return
            if said.startswith("/") and not self._has(rows, said):
                self.typed = said
                break
            rows = self._narrowed(rows, said)
        if picking.left is not None:
            picking.left()

    def _list(self, title: str, rows: list[Row]) -> None:
        self._teller.line(title)
        for at, row in enumerate(rows[:MOST], 1):
            note = f", {clean_line(row.note)}" if row.note else ""
            self._teller.line(f"  {at}: {clean_line(row.label)}{note}")
        if len(rows) > MOST:
            self._teller.line(f"  and {len(rows) - MOST} more: type a part of a name")

    def _narrowed(self, rows: list[Row], said: str) -> list[Row]:
        found = self._has(rows, said)
        if not found:
            self._teller.tell(Note(f"Nothing there has '{said}'.", "warning"))
        return found or rows

    def _has(self, rows: list[Row], said: str) -> list[Row]:
        return [row for row in rows if said.casefold() in f"{row.label} {row.note} {row.find}".casefold()]

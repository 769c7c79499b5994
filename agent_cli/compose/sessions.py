"""The sessions that are kept, for a screen that goes from one to another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_cli.compose.later import open_session, prepare, session_db
from agent_cli.compose.options import RunOptions
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import text_of
from agent_cli.talk.door import Door, Form, Known
from agent_cli.talk.stage import Wish

if TYPE_CHECKING:  # sqlite3 is imported when the store is opened
    from agent_cli.config.settings import Settings
    from agent_cli.engine.session import Session
    from agent_cli.store.sqlite import SqliteStore

LOOK_BACK = 200
"""Entries of a session's end in which its last exchange is looked for."""
LONGEST = 400
"""Characters of a message in a preview."""


class Sessions:
    """`opened` is told each session that is opened, and its settings."""

    def __init__(self, options: RunOptions, opened: Callable[[Settings, Session], None]) -> None:
        self._options = options
        self._opened = opened
        self._known: dict[str, int] = {}  # how many entries each has

    def listed(self) -> Sequence[Known]:
        with self._store() as store:
            infos = [info for info in store.sessions() if info.turns]
        self._known = {info.id: info.events for info in infos}
        return [
            Known(info.id, info.title, info.name, info.cwd, info.model, info.updated, info.turns)
            for info in infos
        ]

    def preview(self, session: str, /) -> str:
        since = max(self._known.get(session, 0) - LOOK_BACK, 0)
        asked = answered = ""
        with self._store() as store:
            for entry in store.entries(session, since):
                match entry.event:
                    case ev.OperatorMessage(content, by="operator") if not entry.branch:
                        asked, answered = text_of(content), ""
                    case ev.AssistantMessage(parts=parts) if not entry.branch:
                        answered = text_of(parts) or answered
                    case _:
                        pass
        said = [f"{who} {_short(text)}" for who, text in (("you:", asked), ("agent:", answered)) if text]
        return "\n".join(said) or "nothing was said at its end"

    def rename(self, session: str, name: str, /) -> None:
        with self._store(read_only=False) as store:
            store.rename(session, name)

    def export(self, session: Door, form: Form, file: Path, /) -> None:
        from agent_cli.headless.exports import pages
        from agent_cli.headless.exports.file import pieces, write

        state, entries = session.state, session.past(0, session.state.seq)
        facts = {"session": session.id, "directory": state.begun_in or state.cwd, "model": state.card.id}
        if entries:
            facts |= {"from": pages.day(entries[0].time), "to": pages.day(entries[-1].time)}
        write(file, pieces(form, state.title or session.id, facts, entries))

    async def check(self) -> None:
        await asyncio.to_thread(prepare, self._options)

    async def open(self, wish: Wish, /) -> Door:
        stored = bool(wish.resume or wish.fork) and not self._in_memory(wish)
        options = replace(
            self._options,
            resume=wish.resume or None,
            resume_latest=False,
            fork=wish.fork or None,
            name=None,
            flags={**self._options.flags, **({"model.name": wish.model} if wish.model else {})},
            ephemeral=self._options.ephemeral and not stored,
            notices=(),
        )
        loaded = await asyncio.to_thread(prepare, options)
        session = open_session(options, loaded).session
        self._opened(loaded.settings, session)
        return session

    def _in_memory(self, wish: Wish) -> bool:
        """Whether it is about a session that is nowhere else."""
        wanted = wish.resume or wish.fork.rpartition("@")[0]
        memory = self._options.memory
        return memory is not None and any(info.id == wanted for info in memory.sessions())

    @contextmanager
    def _store(self, *, read_only: bool = True) -> Generator[SqliteStore]:
        from agent_cli.store.sqlite import open_store

        settings = prepare(self._options).settings
        store = open_store(session_db(self._options, settings), read_only=read_only)
        try:
            yield store
        finally:
            store.close()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"

"""The stage of the slash commands, on the real screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.events import Key
from textual.message import Message
from textual.widget import Widget
from textual.worker import Worker

from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Block, Text
from agent_cli.talk.answers import Answer
from agent_cli.talk.stage import Picking, Wish
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Banner, Notice
from agent_cli.tui.blocks.told import block_of
from agent_cli.tui.composer import Composer
from agent_cli.tui.reader import Reader

if TYPE_CHECKING:  # imported when a list is opened
    from agent_cli.tui.picker import Picker


class Staging:
    """`around` holds the composer; `put` shows something in the transcript."""

    class Switch(Message):
        """Another session is wanted."""

        def __init__(self, wish: Wish) -> None:
            super().__init__()
            self.wish = wish

    def __init__(self, around: Widget, put: Callable[[Item], None]) -> None:
        self._around = around
        self._put = put
        self._picker: Picker | None = None
        self._worker: Worker[None] | None = None

    @property
    def _composer(self) -> Composer:
        return self._around.query_one(Composer)

    @property
    def _app(self) -> App[Any]:
        # Textual leaves the type of the app's result open
        return self._around.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def pick(self, picking: Picking) -> None:
        from agent_cli.tui.picker import Picker

        def chosen(key: str) -> None:
            self._around.query_one(Reader).to_end()  # what comes of it is told there
            picking.chosen(key)

        self.close()
        self._picker = Picker(picking._replace(chosen=chosen), self._closed, self._typed)
        self._around.mount(self._picker, before=self._composer)

    def _typed(self, key: Key) -> None:
        """At once, so that what is typed on goes straight to the composer."""
        self._around.screen.set_focus(self._composer)
        self._composer.post_message(Key(key.key, key.character))

    def _closed(self) -> None:
        self._picker = None
        self._composer.focus()

    def switch(self, wish: Wish) -> None:
        self._around.post_message(self.Switch(wish))

    def write(self, text: str, files: tuple[Block, ...] = ()) -> None:
        self._composer.put(self._composer.pastes.take_back((Text(text), *files)))
        self._composer.focus()

    def themes(self) -> list[str]:
        return sorted(name for name in self._app.available_themes if not name.endswith("-ansi"))

    def paint(self, theme: str) -> str:
        app = self._app
        before = app.theme
        if theme:
            app.theme = theme
        return before

    def copy(self, text: str, what: str) -> None:
        self._around.post_message(Reader.Copy(text, what))

    def later(self, doing: str, work: Callable[[], Answer | None]) -> None:
        self.meanwhile(doing, lambda: asyncio.to_thread(work))

    def meanwhile(self, doing: str, work: Callable[[], Awaitable[Answer | None]]) -> None:
        told = Notice(f"{doing} …")
        self._put(told)
        self._worker = self._around.run_worker(self._later(told, doing, work), group="later")

    async def _later(self, told: Notice, doing: str, work: Callable[[], Awaitable[Answer | None]]) -> None:
        try:
            shown = await work()
        except AgentError as problem:
            self._put(Banner(f"{doing}: that did not work.", str(problem)))
        except asyncio.CancelledError:
            told.say(f"{doing}: stopped")
            self._put(Notice(f"{doing}: nobody waits for it any more."))
            raise
        else:
            if shown is not None:
                self._put(block_of(shown))

    def close(self) -> None:
        """What is open is left."""
        if self._picker is not None:
            self._picker.leave()

    def back(self) -> bool:
        """Closes what is open, or lets go of what is done; False where there is nothing."""
        if self._picker is not None:
            self._picker.leave()
            return True
        if self._worker is not None and not self._worker.is_finished:
            self._worker.cancel()
            return True
        return False

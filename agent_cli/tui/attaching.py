"""What comes into the message that is written: pictures and PDF files from everywhere, and messages that wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from agent_cli.kernel.messages import Block
from agent_cli.talk import clipboard
from agent_cli.talk.attachments import LABEL, Attached, NotAttached, attach, named, of_bytes
from agent_cli.talk.desk import Desk
from agent_cli.talk.place import card_of, cwd_of
from agent_cli.talk.withdrawing import take_back
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Notice
from agent_cli.tui.composer import Composer
from agent_cli.tui.paths import quoted

NAME = "clipboard.png"


class Attacher:
    """`tell` is told why something does not go along; its path is written then."""

    def __init__(
        self,
        desk: Desk,
        composer: Composer,
        work: Callable[[Coroutine[Any, Any, None]], object],
        tell: Callable[[Item], None],
        draw: Callable[[], None],
    ) -> None:
        self._desk = desk
        self._composer = composer
        self._work = work
        self._tell = tell
        self._draw = draw

    def chips(self, text: str) -> str | None:
        return " ".join(map(self._chip, named(text, cwd_of(self._desk)))) or None

    def chip(self, path: str) -> str:
        """Where the model does not take it, that is told when the message is sent."""
        found = named(quoted(path), cwd_of(self._desk))
        try:
            return self._held(attach(found[0], card_of(self._desk))) if found else ""
        except NotAttached:
            return ""

    @property
    def _cut(self) -> str:
        """What was cut or copied here."""
        # Textual leaves the type of the app's result open
        return self._composer.app.clipboard  # pyright: ignore[reportUnknownMemberType]

    def _chip(self, path: Path) -> str:
        try:
            return self._held(attach(path, card_of(self._desk)))
        except NotAttached as problem:
            self._tell(Notice(str(problem), "warning"))
            return quoted(str(path))

    def _held(self, attached: Attached) -> str:
        return self._composer.pastes.hold(attached.label, attached.block)

    def take_back(self) -> bool:
        content, composer = take_back(self._desk), self._composer
        if content:
            composer.move_cursor((0, 0))
            composer.write(composer.pastes.take_back(content) + ("\n" if composer.text else ""))
            self._draw()
        return bool(content)

    def asks(self) -> bool:
        if clipboard.readers():
            self._work(self._from_clipboard())
            return True
        if not self._cut:
            self._tell(Notice(clipboard.missing(), "warning"))
        return False

    async def _from_clipboard(self) -> None:
        """Off the screen's thread; where no image is there, what was cut or copied here."""
        data = await asyncio.to_thread(clipboard.picture)
        if not data:
            if not self._cut:
                self._tell(Notice("There is no image in the clipboard."))
            self._composer.action_paste()
            return
        try:
            self._composer.insert(self._held(of_bytes(NAME, data, card_of(self._desk))))
        except NotAttached as problem:
            self._tell(Notice(str(problem), "warning"))


def missing(text: str, files: tuple[Block, ...]) -> list[str]:
    """Chips of files that do not go along, as they stand in a message of an earlier run."""
    return LABEL.findall(text)[len(files) :]

"""The stage of the slash commands, without a screen: what they opened stands in lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent_cli.kernel.messages import Block
from agent_cli.talk.answers import Answer
from agent_cli.talk.stage import Picking, Wish


class Opened:
    """What takes a while is done at once."""

    def __init__(self, put: Callable[[Answer], None]) -> None:
        self._put = put
        self.begun: list[tuple[str, Callable[[], Awaitable[Answer | None]]]] = []
        self.theme = "dim"
        self.lists: list[Picking] = []
        self.wishes: list[Wish] = []
        self.written: list[str] = []
        self.files: list[tuple[Block, ...]] = []
        self.copied: list[tuple[str, str]] = []

    def pick(self, picking: Picking, /) -> None:
        self.lists.append(picking)

    def switch(self, wish: Wish, /) -> None:
        self.wishes.append(wish)

    def write(self, text: str, files: tuple[Block, ...] = (), /) -> None:
        self.written.append(text)
        self.files.append(files)

    def themes(self) -> list[str]:
        return ["dim", "loud"]

    def paint(self, theme: str, /) -> str:
        before = self.theme
        self.theme = theme or self.theme
        return before

    def copy(self, text: str, what: str, /) -> None:
        self.copied.append((text, what))

    def meanwhile(self, doing: str, work: Callable[[], Awaitable[Answer | None]], /) -> None:
        self.begun.append((doing, work))

    def later(self, doing: str, work: Callable[[], Answer | None], /) -> None:
        shown = work()
        if shown is not None:
            self._put(shown)

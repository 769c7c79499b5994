"""Thinking of a model: one line, unfolded on demand."""

from __future__ import annotations

from rich.segment import Segment

from agent_cli.talk.untrusted import clean
from agent_cli.tui.blocks.item import INDENT, PROSE, Item
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, cut, wrap


class Reasoning(Item):
    """Folded, it shows its last line while it grows and its size when it is done."""

    __slots__ = ("_folded", "_parts", "open")

    def __init__(self, text: str = "", *, open: bool = False) -> None:  # noqa: A002  what it is
        super().__init__()
        self._parts = [text] if text else []
        self._folded = True
        self.open = open

    def feed(self, text: str) -> None:
        self._parts.append(text)
        self.changed()

    def close(self) -> None:
        self.open = False
        self.changed()

    def body(self, width: int, ink: Ink) -> list[Line]:
        text = self.source().strip()
        if not text:
            return []
        lines = text.split("\n")
        title = "thinking" if self.open else f"thought for {len(lines):,} line{'s' * (len(lines) > 1)}"
        room = width - len(INDENT) - len(title) - 6
        last = clean(lines[-1 if self.open else 0]).strip("*# ")
        peek = [Segment(f"  {cut(last, room)}", ink.faint)] if self._folded and room > 8 else []
        mark = "▸ " if self._folded else "▾ "
        shown: list[Line] = [[Segment(INDENT), Segment(mark + title, ink.dim), *peek]]
        if self._folded:
            return shown
        bar = Segment(INDENT + "│ ", ink.faint)
        for line in clean(text).split("\n"):
            rows = wrap([Segment(line, ink.quote)], min(width - 6, PROSE))
            shown.extend([bar, *row] for row in rows)
        return shown

    def estimate(self, width: int) -> int:
        return self.gap + 1 if self._folded else super().estimate(width)

    def source(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def toggle(self, *, folded: bool | None = None) -> bool:
        self._folded = not self._folded if folded is None else folded
        self.changed()
        return True

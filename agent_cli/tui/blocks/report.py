"""An answer of the program itself: a title, and rows of a name and what is to say about it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment

from agent_cli.talk.untrusted import clean
from agent_cli.tui.blocks.item import INDENT, Item
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, wrap


class Report(Item):
    """A row with an empty name continues; a row with an empty text is a heading between rows."""

    __slots__ = ("_rows", "_title")

    def __init__(self, title: str, rows: Sequence[tuple[str, str]], *, gap: int = 1) -> None:
        super().__init__(gap=gap)
        self._title = title
        self._rows = rows

    def body(self, width: int, ink: Ink) -> list[Line]:
        inner = max(width - 6, 12)
        names = [cell_len(name) for name, text in self._rows if text]
        wide = min(max(names, default=0), max(inner // 2, 8))
        lines: list[Line] = (
            [[Segment(INDENT), Segment(clean(self._title), ink.heading)]] if self._title else []
        )
        for name, text in self._rows:
            lines.extend(_row(clean(name), clean(text), wide, inner, ink))
        return lines

    def source(self) -> str:
        return "\n".join([self._title, *(f"{name}  {text}".rstrip() for name, text in self._rows)])


def _row(name: str, text: str, wide: int, inner: int, ink: Ink) -> list[Line]:
    lead = [Segment(INDENT)]
    if not text:
        return [[*lead, *row] for row in wrap([Segment(name, ink.strong)], inner)] if name else [[]]
    names = wrap([Segment(name, ink.accent)], wide)
    texts = [
        row for line in text.split("\n") for row in wrap([Segment(line, ink.text)], max(inner - wide - 2, 8))
    ]
    lines: list[Line] = []
    for at in range(max(len(names), len(texts))):
        left = names[at] if at < len(names) else []
        gap = wide + 2 - sum(cell_len(segment.text) for segment in left)
        right = texts[at] if at < len(texts) else []
        lines.append([*lead, *left, Segment(" " * gap), *right])
    return lines

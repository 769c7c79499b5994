"""Code in a fence: plain while it grows, coloured piece by piece once it is whole and near the screen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import Any

from rich.segment import Segment
from rich.style import Style

from agent_cli.talk.untrusted import clean
from agent_cli.tui.blocks.item import EMPTY, INDENT, Item
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, height, padded, wrap

CHUNK = 120
"""Lines that are coloured at a time; a chunk ends before an unindented line where one is near."""

MARGIN = "  "


class Code(Item):
    """`lines` are cleaned. An open one may grow at its end; a closed one is coloured by `language`."""

    __slots__ = ("_coloured", "_ends", "_made", "_raw", "_rows", "_rows_width", "language", "lines", "open")

    def __init__(self, language: str = "", *, open: bool = False, gap: int = 1) -> None:  # noqa: A002  what it is
        super().__init__(gap=gap)
        self.language = language
        self.open = open
        self.lines: list[str] = []
        self._raw: list[str] = []
        self._rows: list[int] = []
        self._rows_width = 0
        self._ends: list[int] = []
        self._coloured: dict[int, list[Line]] = {}
        self._made: dict[int, Line] = {}

    def put(self, lines: Sequence[str], *, keep: int) -> None:
        """Replaces all lines from number `keep` on."""
        del self.lines[keep:], self._raw[keep:], self._rows[keep:]
        self._raw.extend(lines)
        self.lines.extend(clean(line) for line in lines)
        kept = self._rows[-1] if self._rows else 0
        self._made = {row: line for row, line in self._made.items() if row < kept}
        self._width = 0

    def close(self) -> None:
        self.open = False
        self._made.clear()

    def estimate(self, width: int) -> int:
        return self._measure(width)

    def layout(self, width: int, ink: Ink) -> int:
        if self._ink is not ink or self._rows_width != width:
            self.forget()
        self._height = self._measure(width)
        self._width, self._ink = width, ink
        return self._height

    def line(self, index: int) -> Line:
        index -= self.gap
        if self._ink is None or index < 0 or not self._rows or index >= self._rows[-1]:
            return EMPTY
        made = self._made.get(index)
        if made is None:
            made = self._made[index] = self._make(index, self._ink)
        return made

    def forget(self) -> None:
        self._coloured.clear()
        self._made.clear()

    def source(self) -> str:
        return "\n".join(self._raw)

    def codes(self) -> Sequence[str]:
        return (self.source(),)

    def _make(self, index: int, ink: Ink) -> Line:
        number = bisect_right(self._rows, index)
        row = index - (self._rows[number - 1] if number else 0)
        inner = _inner(self._width)
        pieces = wrap(self._line(number, ink), inner, words=False)
        style = ink.fence
        filled = padded(pieces[min(row, len(pieces) - 1)], inner + len(MARGIN), style)
        return [Segment(INDENT), Segment(MARGIN, style), *filled]

    def _measure(self, width: int) -> int:
        if self._rows_width != width:
            self._rows, self._rows_width = [], width
        inner = _inner(width)
        total = self._rows[-1] if self._rows else 0
        for text in self.lines[len(self._rows) :]:
            total += height(text, inner)
            self._rows.append(total)
        return total + self.gap if total else 0

    def _line(self, number: int, ink: Ink) -> Line:
        if self.open or not self.language:
            return [Segment(self.lines[number], ink.fence)]
        if not self._ends:
            self._ends = _chunk_ends(self.lines)
        chunk = bisect_right(self._ends, number)
        start = self._ends[chunk - 1] if chunk else 0
        if chunk not in self._coloured:
            self._coloured[chunk] = coloured(self.lines[start : self._ends[chunk]], self.language, ink)
        return self._coloured[chunk][number - start]


def coloured(lines: list[str], language: str, ink: Ink) -> list[Line]:
    """The lines with the colours of their language; plain where the language is unknown."""
    lexer = _lexer(language.lower())
    if lexer is None:
        return [[Segment(line, ink.fence)] for line in lines]
    styles = _styles(ink.dark, ink.fence)
    shown: list[Line] = [[]]
    for kind, text in lexer.get_tokens("\n".join(lines)):
        style = _style(kind, styles)
        first, *rest = text.split("\n")
        if first:
            shown[-1].append(Segment(first, style))
        shown.extend([Segment(more, style)] if more else [] for more in rest)
    shown.extend([] for _ in range(len(lines) - len(shown)))
    return shown[: len(lines)]


def _inner(width: int) -> int:
    return max(width - len(INDENT) - 2 * len(MARGIN), 4)


def _chunk_ends(lines: list[str]) -> list[int]:
    """Where chunks end: near every CHUNK lines, before a line that follows a blank one and is not indented."""
    ends: list[int] = []
    start, total = 0, len(lines)
    while total - start > CHUNK * 3 // 2:
        candidates = range(start + CHUNK, start + CHUNK // 2, -1)
        end = next((at for at in candidates if lines[at][:1].strip() and not lines[at - 1]), start + CHUNK)
        ends.append(end)
        start = end
    return [*ends, total]


@cache
def _lexer(language: str) -> Any:
    import pygments.lexers
    from pygments.util import ClassNotFound

    library: Any = pygments.lexers  # it has no types
    try:
        return library.get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


_DARK = {
    "Comment": "italic #6f7787",
    "Keyword": "#b48ee6",
    "Keyword.Constant": "#d9a06c",
    "Operator.Word": "#b48ee6",
    "Name.Function": "#7aa2f7",
    "Name.Class": "#79c0c8",
    "Name.Builtin": "#79c0c8",
    "Name.Decorator": "#d9b36c",
    "Name.Tag": "#7aa2f7",
    "Name.Attribute": "#79c0c8",
    "Literal.String": "#9cc48a",
    "Literal.Number": "#d9a06c",
    "Generic.Deleted": "#e07a7a",
    "Generic.Inserted": "#8fbf7f",
    "Generic.Heading": "bold",
    "Generic.Subheading": "bold",
    "Generic.Prompt": "#6f7787",
}
_LIGHT = {
    "Comment": "italic #7b7f87",
    "Keyword": "#7a3fb5",
    "Keyword.Constant": "#9a5a10",
    "Operator.Word": "#7a3fb5",
    "Name.Function": "#2f5fd0",
    "Name.Class": "#1f7a85",
    "Name.Builtin": "#1f7a85",
    "Name.Decorator": "#8f6400",
    "Name.Tag": "#2f5fd0",
    "Name.Attribute": "#1f7a85",
    "Literal.String": "#3c7d2e",
    "Literal.Number": "#9a5a10",
    "Generic.Deleted": "#b93636",
    "Generic.Inserted": "#3c7d2e",
    "Generic.Heading": "bold",
    "Generic.Subheading": "bold",
    "Generic.Prompt": "#7b7f87",
}


@cache
def _styles(dark: bool, fence: Style) -> dict[Any, Style]:
    """Styles by token type; grows by the types that are met."""
    from pygments.token import Token, string_to_tokentype

    table = _DARK if dark else _LIGHT
    known: dict[Any, Style] = {
        string_to_tokentype(name): fence + Style.parse(look) for name, look in table.items()
    }
    known[Token] = fence
    return known


def _style(kind: Any, styles: dict[Any, Style]) -> Style:
    style = styles.get(kind)
    if style is None:
        style = styles[kind] = _style(kind.parent, styles)
    return style

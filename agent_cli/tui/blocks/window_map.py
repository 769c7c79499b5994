"""A picture of the window: a cell for each part of it, in the colour of what fills it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style

from agent_cli.context.breakdown import Share
from agent_cli.talk.amounts import tokens
from agent_cli.talk.untrusted import clean
from agent_cli.tui.blocks.item import INDENT
from agent_cli.tui.blocks.report import Report
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line

ROWS = 5
WIDEST = 40
FULL, FREE, THRESHOLD = "■", "·", "┃"


class WindowMap(Report):
    """A report, then the map and its legend. `used` of `window` tokens are filled; `limit` is where reduction begins.

    An unknown window is drawn as if it were as large as what fills it.
    """

    __slots__ = ("_limit", "_shares", "_used", "_window")

    def __init__(
        self,
        title: str,
        rows: Sequence[tuple[str, str]],
        shares: Sequence[Share],
        sizes: tuple[int, int | None, int | None],
    ) -> None:
        super().__init__(title, rows)
        self._shares = shares
        self._used, self._window, self._limit = sizes

    def body(self, width: int, ink: Ink) -> list[Line]:
        lines = super().body(width, ink)
        lines += [[], [Segment(INDENT), Segment("What fills it", ink.strong)]]
        lines += self._map(min(WIDEST, max(width - 8, 10)), ink)
        wide = max([len(name) for name, _ in self._legend()], default=0)
        for (name, figures), style in zip(
            self._legend(), (*_inks(ink, self._shares), ink.faint, ink.warn), strict=False
        ):
            mark = FREE if name == "free" else THRESHOLD if name == "threshold" else FULL
            lines.append(
                [
                    Segment(INDENT),
                    Segment(f"{mark} ", style),
                    Segment(name.ljust(wide), ink.text),
                    Segment(f"  {figures}", ink.dim),
                ]
            )
        return lines

    def source(self) -> str:
        return "\n".join(
            [
                super().source(),
                "",
                "What fills it",
                *(f"{name}  {figures}" for name, figures in self._legend()),
            ]
        )

    def _legend(self) -> list[tuple[str, str]]:
        whole = self._window or self._used
        rows = [
            (clean(share.name), f"{tokens(share.tokens)}  {share.tokens / whole:.1%}")
            for share in self._shares
        ]
        if self._window:
            free = max(self._window - self._used, 0)
            rows.append(("free", f"{tokens(free)}  {free / self._window:.1%}"))
            if self._limit is not None:
                rows.append(("threshold", f"{tokens(self._limit)}  {self._limit / self._window:.1%}"))
        return rows

    def _map(self, columns: int, ink: Ink) -> list[Line]:
        cells = self._cells(columns * ROWS, ink)
        rows = [cells[at : at + columns] for at in range(0, len(cells), columns)]
        return [[Segment(INDENT), *(Segment(text, style) for text, style in row)] for row in rows]

    def _cells(self, count: int, ink: Ink) -> list[tuple[str, Style]]:
        """In the order of the legend; what is there at all has a cell, as long as there are cells."""
        whole = self._window or self._used
        cells: list[tuple[str, Style]] = []
        filled = 0
        for share, style in zip(self._shares, _inks(ink, self._shares), strict=True):
            filled += share.tokens
            end = max(len(cells) + 1, round(filled * count / whole))
            cells += [(FULL, style)] * (end - len(cells))
        cells = [*cells, *[(FREE, ink.faint)] * (count - len(cells))][:count]
        if self._window and self._limit is not None and self._limit < self._window:
            cells[self._limit * count // self._window] = (THRESHOLD, ink.warn)
        return cells


def _inks(ink: Ink, shares: Sequence[Share]) -> list[Style]:
    """One colour after the other; they begin again where there are more parts than colours."""
    colours = (ink.accent, ink.dim, ink.good, ink.text, ink.bad)
    return [colours[at % len(colours)] for at in range(len(shares))]

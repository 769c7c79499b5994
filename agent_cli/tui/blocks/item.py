"""The common shape of everything in the transcript."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.cells import cell_len

from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, window

INDENT = "  "
"""Column 0 belongs to the cursor of the transcript, column 1 is air."""

PROSE = 104
"""Prose is not set wider than this many cells: longer lines are hard to read."""

WIDEST = 400
"""Cells that a table or a diff may take while it is moved over."""
STEP = 16

EMPTY: Line = []


class Group(Protocol):
    """What the cursor of the transcript stands on: one item, or the pieces of one answer."""

    def source(self) -> str:
        """The text as it came, for the clipboard and for searching."""
        ...

    def codes(self) -> Sequence[str]:
        """The code in it, for the clipboard."""
        ...

    def toggle(self, *, folded: bool | None = None) -> bool:
        """Folds or unfolds; False where there is nothing to fold."""
        ...


class Item:
    """A run of lines. Its height is estimated until it is laid out, then exact for that width.

    Subclasses implement `body`, and call `changed` when it would come out differently.
    """

    __slots__ = ("_height", "_ink", "_lines", "_over", "_width", "gap", "gone", "group")

    def __init__(self, *, gap: int = 1) -> None:
        self.gap = gap
        """Blank lines above."""
        self.gone = False
        """The conversation was taken back to before it."""
        self.group: Group = self
        self._width = 0
        self._height = 0
        self._ink: Ink | None = None
        self._lines: list[Line] | None = None
        self._over: int | None = (
            None  # cells to the left of what is shown; None while everything is made to fit
        )

    def body(self, width: int, ink: Ink) -> list[Line]:
        """The lines, without the gap, at most `width` cells each."""
        raise NotImplementedError

    def estimate(self, width: int) -> int:
        """A cheap guess of the height."""
        return self._height or self.gap + 1

    def layout(self, width: int, ink: Ink) -> int:
        """The exact height; makes the lines."""
        if self._lines is None or self._width != width or self._ink is not ink:
            self._lines = self.body(width, ink) if self._over is None else self._part(self._over, width, ink)
            self._width, self._ink = width, ink
            self._height = (self.gap + len(self._lines)) if self._lines else 0
        return self._height

    def known(self, width: int) -> int | None:
        """The exact height at that width if it was laid out before."""
        return self._height if self._width == width else None

    def line(self, index: int) -> Line:
        """A line of what was laid out last; the same object until something changes."""
        lines = self._lines or []
        index -= self.gap
        return lines[index] if 0 <= index < len(lines) else EMPTY

    def changed(self) -> None:
        self._lines = None
        self._width = 0

    def forget(self) -> None:
        """Gives the lines back; the height stays known."""
        self._lines = None

    @property
    def _is_wide(self) -> bool:
        """Whether it holds what can be looked at in its own width, such as a table."""
        return False

    def move_over(self, step: int) -> bool:
        """Lets it have its own width, of which the screen shows a part, and moves that; back at the left it fits again.

        False where nothing changed.
        """
        before = self._over
        if self._is_wide and (step > 0 or before is not None):
            self._over = 0 if before is None else before + step * STEP
            if self._over < 0:
                self._over = None
        if self._over == before:
            return False
        self.changed()
        return True

    def _part(self, start: int, width: int, ink: Ink) -> list[Line]:
        lines = self.body(max(width, WIDEST), ink)
        texts = ("".join(segment.text for segment in line).rstrip() for line in lines)
        widest = max(map(cell_len, texts), default=0)
        self._over = start = min(start, max(0, -(-(widest - width) // STEP) * STEP))
        return [window(line, start, width) for line in lines]

    def source(self) -> str:
        return ""

    def codes(self) -> Sequence[str]:
        return ()

    def toggle(self, *, folded: bool | None = None) -> bool:
        return False


def rows_of(text: str, width: int) -> int:
    """A guess of how many lines a text takes."""
    return max(1, text.count("\n") + 1 + len(text) // max(width, 20) // 2)


def head_and_tail(lines: list[str], head: int, tail: int) -> tuple[list[str], int, list[str]]:
    """First lines, how many are left out, last lines. Nothing is left out for the sake of one line."""
    hidden = len(lines) - head - tail
    if hidden <= 1:
        return lines, 0, []
    return lines[:head], hidden, lines[len(lines) - tail :] if tail else []

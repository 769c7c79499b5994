"""The transcript: one widget that draws the lines of a column.

What is on the screen stays where it is while heights above become exact. The view follows new text only while
it stands at the bottom.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from agent_cli.tui.blocks.item import Group, Item
from agent_cli.tui.column import Column
from agent_cli.tui.ink import DARK, Ink, ink_of
from agent_cli.tui.taken_back import faded
from agent_cli.tui.wrap import Line

ROUNDS = 8
"""How often heights are made exact before the rest stays a guess until the next frame."""


KEPT = 400
"""Lines that stay drawn. A strip of Textual holds many small objects: more would slow the garbage collector."""

_Drawn: TypeAlias = tuple[Line, tuple[bool, bool, int, Style], Strip]
_VIRTUAL_SIZE: Any = vars(Widget)["virtual_size"]


class Transcript(ScrollView, can_focus=True):
    """Change the column, then call `settle` once."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $panel;
        scrollbar-color-hover: $primary 60%;
        scrollbar-color-active: $primary;
        background: $background;
        color: $foreground;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.column = Column()
        self.follows = True
        """Whether the view stands at the bottom and stays there."""
        self.cursor: Group | None = None
        self._ink: Ink = ink_of(DARK)
        self._top: tuple[Item, int] | None = None  # what stands in the first line, and which line of it
        self._settling = False
        self._base = Style()
        self._drawn: dict[int, _Drawn] = {}

    def settle(self) -> None:
        """Brings heights, scroll position and screen in line with the items."""
        width, height = self.scrollable_content_region.size
        if width < 1 or height < 1:
            return
        column = self.column
        column.shape(width, self._ink)
        self._settling = True
        try:
            for _ in range(ROUNDS):
                top = self._wanted(height)
                if not column.measure(top, height):
                    break
            self._extend(Size(width, column.starts[-1]))
            self.scroll_to(y=self._wanted(height), animate=False, force=True)
        finally:
            self._settling = False
        self._hold()
        self.refresh()

    def show(self, item: Item) -> None:
        """Scrolls no further than needed to see an item."""
        at = self.column.index(item)
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        start, end = self.column.starts[at], self.column.starts[at + 1]
        self.follows = False
        if start < top:
            self._top = (item, 0)
        elif end > top + height:
            self._hold(max(0, min(start, end - height)))
        self.settle()
        self.follows = self.scroll_offset.y >= self.max_scroll_y

    def to_end(self, item: Item | None = None) -> None:
        """Where `item` is higher than the screen, no further than to its first line."""
        self.follows = True
        self.settle()
        height = self.column.heights[self.column.index(item)] if item is not None else 0
        if height > self.scrollable_content_region.height > 0:
            self.follows, self._top = False, (item, 0) if item is not None else None
            self.settle()

    def keep(self, item: Item | None) -> None:
        """Lines came before an item that stood at the top: it stays there."""
        top = self._top[0] if self._top is not None else None
        above = next((at for at, held in enumerate(self.column.items) if held is top), -1)
        if item is not None and above < self.column.index(item):
            self._top = (item, 0)
        self.settle()

    def clear(self) -> None:
        self.column.clear()
        self.cursor, self._top, self.follows = None, None, True
        self.settle()

    def repaint(self, ink: Ink) -> None:
        """Other colours."""
        self._ink = ink
        self.settle()

    def render_lines(self, crop: Region) -> list[Strip]:
        self._base = self.rich_style  # costs too much to ask for each line
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        y += self.scroll_offset.y
        item, line = self.column.line(y)
        pointed = item is not None and self.cursor is not None and item.group is self.cursor
        gone = item is not None and item.gone
        look = (pointed, gone, self.virtual_size.width, self._base)
        drawn = self._drawn.get(y)
        if drawn is not None and drawn[0] is line and drawn[1] == look and self.text_selection is None:
            return drawn[2]
        strip = faded(line, self._ink) if gone else Strip(line)
        if pointed:
            strip = Strip([Segment("▎", self._ink.cursor), *strip.crop(1)])
        strip = (
            self._marked(y, strip).crop_extend(0, look[2], None).apply_style(self._base).apply_offsets(0, y)
        )
        if self.text_selection is None:
            self._keep(y, (line, look, strip))
        return strip

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        last = max(self.column.starts[-1] - 1, 0)
        first = selection.start.y if selection.start else 0
        end = min(selection.end.y if selection.end else last, last)
        lines: list[str] = []
        for y in range(first, end + 1):
            text = "".join(segment.text for segment in self.column.line(y)[1])
            left, right = selection.get_span(y) or (0, -1)
            lines.append((text[left:] if right == -1 else text[left:right]).rstrip())
        return "\n".join(lines), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._settling and round(old_value) != round(new_value):
            self.follows = round(new_value) >= self.max_scroll_y
            self._hold()
            self.settle()

    def _on_resize(self) -> None:
        self.settle()

    def _keep(self, y: int, drawn: _Drawn) -> None:
        if len(self._drawn) > KEPT:
            self._drawn.clear()
        self._drawn[y] = drawn

    def _extend(self, size: Size) -> None:
        """As setting `virtual_size`, without laying out the whole screen again: nothing else depends on it."""
        if size != self.virtual_size:
            self.set_reactive(_VIRTUAL_SIZE, size)
            self._scroll_update(size)

    def _hold(self, top: int | None = None) -> None:
        """Remembers what stands in the first line."""
        found = self.column.find(self.scroll_offset.y if top is None else top)
        self._top = (self.column.items[found[0]], found[1]) if found is not None else None

    def _wanted(self, height: int) -> int:
        """The scroll position that keeps the bottom, or what stands in the first line."""
        starts = self.column.starts
        end = max(starts[-1] - height, 0)
        if self.follows:
            return end
        if self._top is None:
            return min(self.scroll_offset.y, end)
        item, row = self._top
        try:
            at = self.column.index(item)
        except ValueError:  # it was taken away
            return min(self.scroll_offset.y, end)
        return min(starts[at] + max(min(row, self.column.heights[at] - 1), 0), end)

    def _marked(self, y: int, strip: Strip) -> Strip:
        """The line with its selected part marked."""
        selection = self.text_selection
        span = selection.get_span(y) if selection is not None else None
        if span is None:
            return strip
        left = cell_len(strip.text[: span[0]])
        right = strip.cell_length if span[1] == -1 else cell_len(strip.text[: span[1]])
        if right <= left:
            return strip
        parts = list(strip.divide([left, right, max(strip.cell_length, right)]))
        parts[1] = Strip(Segment.apply_style(list(parts[1]), post_style=self._ink.selection))
        return Strip.join(parts)

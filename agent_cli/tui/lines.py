"""A small widget that shows lines, and scrolls when there are more of them than rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from agent_cli.tui.wrap import Line


class Lines(ScrollView, can_focus=False):
    """`make` gives the lines for a width; they are made again when the width or the content changes."""

    DEFAULT_CSS = """
    Lines {
        height: auto;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-background: $surface;
        scrollbar-color: $panel;
        background: transparent;
    }
    """

    def __init__(self, *, id: str | None = None, most: int = 1_000) -> None:  # noqa: A002  Textual's word
        super().__init__(id=id)
        self.most = most
        self._make: Callable[[int], Sequence[Line]] = nothing
        self._strips: list[Strip] = []
        self._width = 0
        self.display = False

    def put(self, make: Callable[[int], Sequence[Line]]) -> None:
        """Other content. Hidden while there is none."""
        self._make = make
        self._width = 0
        self.scroll_to(y=0, animate=False)
        self.fit()

    def fit(self) -> None:
        """Makes the lines for the width that there is."""
        width = self.scrollable_content_region.width or self.screen.size.width - 4
        if width != self._width:
            self._width = width
            self._strips = [Strip(line) for line in self._make(width)]
        rows = min(len(self._strips), self.most)
        self.display = rows > 0
        if self.styles.height is None or self.styles.height.value != rows:
            self.styles.height = rows
        self.virtual_size = Size(width, len(self._strips))
        self.refresh()

    def text(self) -> str:
        return "\n".join(strip.text for strip in self._strips)

    def page(self, step: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + step * max(self.size.height - 1, 1), animate=False)

    def render_line(self, y: int) -> Strip:
        y += self.scroll_offset.y
        strip = self._strips[y] if y < len(self._strips) else Strip([], 0)
        return strip.crop_extend(0, self.size.width, None).apply_style(self.rich_style)

    def _on_resize(self) -> None:
        self.fit()


def nothing(_width: int) -> Sequence[Line]:
    """No lines at any width."""
    return ()

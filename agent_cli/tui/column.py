"""The items of the transcript one under the other: which line belongs to which, at the width that there is.

Heights of items far away are guesses; `measure` makes those exact that are near the screen. Lines are made
only there, and given back when they are far away again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from agent_cli.tui.blocks.item import EMPTY, Item
from agent_cli.tui.ink import DARK, Ink, ink_of
from agent_cli.tui.wrap import Line

KEEP_LINES = 1_500
"""Lines that stay made although they are off the screen."""


class Column:
    """A list of items with their heights. Changing it is cheap; `starts` is brought up to date when it is asked for."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.heights: list[int] = []
        self._starts: list[int] = [0]
        self._stale = 0  # the first item whose start is out of date
        self._width = 0
        self._ink: Ink = ink_of(DARK)
        self._made: dict[Item, int] = {}

    @property
    def starts(self) -> list[int]:
        """The first line of each item, and behind them the number of all lines."""
        if self._stale < len(self._starts):
            self._starts[self._stale :] = accumulate(
                self.heights[self._stale :], initial=self._starts[self._stale]
            )
            self._stale = len(self._starts)
        return self._starts

    def add(self, items: Iterable[Item], *, at: int | None = None) -> None:
        """At the end, or before the item number `at`."""
        new = list(items)
        at = len(self.items) if at is None else at
        self.items[at:at] = new
        self.heights[at:at] = [self._guess(item) for item in new]
        self._outdate(at)

    def update(self, *items: Item) -> None:
        """These have changed."""
        for item in items:
            at = self.index(item)
            self.heights[at] = self._guess(item)
            self._outdate(at)

    def drop(self, items: Iterable[Item]) -> None:
        """Takes items away; a run of the first ones at once."""
        gone = list(items)
        first = next((at for at, item in enumerate(gone) if self.items[at] is not item), len(gone))
        del self.items[:first], self.heights[:first]
        self._outdate(0 if first else len(self.items))
        for item in gone[:first]:
            self._made.pop(item, None)
        for item in gone[first:]:
            at = self.index(item)
            del self.items[at], self.heights[at]
            self._made.pop(item, None)
            self._outdate(at)

    def clear(self) -> None:
        self.items, self.heights = [], []
        self._made.clear()
        self._outdate(0)

    def index(self, item: Item) -> int:
        """Where an item stands; those near the end are found at once. Raises ValueError."""
        for at in range(len(self.items) - 1, -1, -1):
            if self.items[at] is item:
                return at
        raise ValueError("not in the transcript")

    def shape(self, width: int, ink: Ink) -> None:
        """The width and the colours from now on."""
        self._ink = ink
        if width != self._width:
            self._width = width
            self.guess()

    def guess(self) -> None:
        """All heights anew, as far as they are not known."""
        self.heights = [self._guess(item) for item in self.items]
        self._outdate(0)

    def find(self, y: int) -> tuple[int, int] | None:
        """The number of the item that line `y` belongs to, and which of its lines it is."""
        at = bisect_right(self.starts, y) - 1
        return (at, y - self.starts[at]) if 0 <= at < len(self.items) else None

    def line(self, y: int) -> tuple[Item | None, Line]:
        found = self.find(y)
        if found is None:
            return None, EMPTY
        item = self.items[found[0]]
        if item not in self._made:
            self._made[item] = item.layout(self._width, self._ink)
        return item, item.line(found[1])

    def measure(self, top: int, height: int) -> bool:
        """Exact heights for what is within a screen of the screen; True where one was wrong."""
        starts, wrong = self.starts, False
        for at in range(max(bisect_right(starts, top - height) - 1, 0), len(self.items)):
            if starts[at] > top + 2 * height:
                break
            item = self.items[at]
            exact = item.known(self._width)
            if exact is None or (starts[at] <= top + height and starts[at + 1] >= top):
                exact = item.layout(self._width, self._ink)
                self._made[item] = exact
            if exact != self.heights[at]:
                self.heights[at] = exact
                self._outdate(at)
                wrong = True
        if not wrong:
            self._forget(top, height)
        return wrong

    def _forget(self, top: int, height: int) -> None:
        """Gives back lines that were made long ago and are off the screen."""
        total = sum(self._made.values())
        if total <= KEEP_LINES + 4 * height:
            return
        first, last = bisect_right(self.starts, top) - 1, bisect_right(self.starts, top + height)
        seen = set(self.items[max(first, 0) : last + 1])
        for item in [item for item in self._made if item not in seen]:
            item.forget()
            total -= self._made.pop(item)
            if total <= KEEP_LINES // 2:
                break

    def _guess(self, item: Item) -> int:
        known = item.known(self._width)
        return item.estimate(self._width) if known is None else known

    def _outdate(self, at: int) -> None:
        self._stale = min(self._stale, at)

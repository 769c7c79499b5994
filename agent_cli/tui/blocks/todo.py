"""The list of what the agent has set itself to do: as a block, and as lines for the panel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment

from agent_cli.kernel.todo import TodoItem, TodoStatus
from agent_cli.talk.amounts import counted
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.blocks.item import INDENT, Item
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, wrap

_MARKS: dict[TodoStatus, str] = {"done": "✓", "in_progress": "▸", "pending": "○"}


def todo_lines(items: Sequence[TodoItem], width: int, ink: Ink) -> list[Line]:
    """A mark and a text for each; long texts wrap under themselves."""
    lines: list[Line] = []
    for item in items:
        mark, text = {
            "done": (ink.good, ink.dim),
            "in_progress": (ink.accent, ink.strong),
            "pending": (ink.dim, ink.text),
        }[item.status]
        rows = wrap([Segment(clean_line(item.text), text)], max(width - 2, 4))
        lines.append([Segment(f"{_MARKS[item.status]} ", mark), *rows[0]])
        lines.extend([Segment("  "), *row] for row in rows[1:])
    return lines


class Todos(Item):
    __slots__ = ("_items",)

    def __init__(self, items: Sequence[TodoItem]) -> None:
        super().__init__()
        self._items = tuple(items)

    def body(self, width: int, ink: Ink) -> list[Line]:
        title = [Segment(INDENT), Segment(f"To do: {counted(self._items)}", ink.heading)]
        return [title, *([Segment(INDENT), *line] for line in todo_lines(self._items, width - 4, ink))]

    def source(self) -> str:
        return "\n".join(f"{_MARKS[item.status]} {item.text}" for item in self._items)


def panel(items: Sequence[TodoItem], ink: Ink) -> Callable[[int], list[Line]]:
    """What makes the lines of the panel for a width."""

    def lines(width: int) -> list[Line]:
        title = f"To do: {counted(items)}" if items else "To do: nothing is listed"
        return [[Segment(title, ink.heading)], *todo_lines(items, width, ink)]

    return lines

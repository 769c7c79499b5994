"""The line one types into, driven by the keys of vi."""

from __future__ import annotations

from textual.events import Key
from textual.widgets import TextArea

from agent_cli.tui.vi import Done, Vi


def takes(vi: Vi, event: Key, area: TextArea) -> bool:
    """Whether the key was one of vi's; then it was followed."""
    text = area.text
    done = vi.press(event.key, event.character, text, _index(text, area.cursor_location))
    if done is None:
        return False
    _follow(done, area, text)
    return True


def _follow(done: Done, area: TextArea, text: str) -> None:
    if done.text is not None:
        start, end = _location(text, done.start), _location(text, done.end)
        area.replace(done.text, start, end, maintain_selection_offset=False)
    match done.action:
        case "undo":
            area.undo()
        case "redo":
            area.redo()
        case "up":
            area.action_cursor_up()
        case "down":
            area.action_cursor_down()
        case "":
            area.move_cursor(_location(area.text, done.at))


def _index(text: str, location: tuple[int, int]) -> int:
    row, column = location
    start = 0
    for _ in range(row):
        start = text.index("\n", start) + 1
    return start + column


def _location(text: str, index: int) -> tuple[int, int]:
    before = text[:index]
    return before.count("\n"), index - (before.rfind("\n") + 1)

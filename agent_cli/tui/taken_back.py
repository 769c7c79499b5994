"""Marks what the conversation was taken back over: it is still to be read, and no part of it any more."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from textual.strip import Strip

from agent_cli.tui.blocks.changes import Changes
from agent_cli.tui.blocks.opening import Opening
from agent_cli.tui.blocks.operator import Operator
from agent_cli.tui.blocks.report import Report
from agent_cli.tui.column import Column
from agent_cli.tui.ink import Ink

SIGN = "┊"


def take_back(column: Column, to: int, *, after: int | None = None) -> None:
    """Marks from the message at that entry on, everything where that stands above.

    `after` is the last entry above a part of the transcript that may end before the message; None where it does not.
    """
    items = column.items
    at = next((at for at, item in enumerate(items) if isinstance(item, Operator) and item.seq == to), None)
    if at is None and (after is None or to <= after):
        at = 0
    for item in items[len(items) if at is None else at :]:
        item.gone = not isinstance(
            item, Opening | Report | Changes
        )  # what the program answered is none of it


def faded(line: Iterable[Segment], ink: Ink) -> Strip:
    """The same line with the sign of it before it: colour alone says nothing."""
    text = "".join(segment.text for segment in line)
    return Strip([Segment(text[:1] or " "), Segment(SIGN, ink.faint), Segment(text[2:], ink.faint)])

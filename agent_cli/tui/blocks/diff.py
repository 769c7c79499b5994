"""A unified diff with line numbers; side by side where there is room."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style

from agent_cli.talk.untrusted import clean
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, padded, wrap

WIDE = 132
"""Cells from which on old and new stand side by side."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")


class Row(NamedTuple):
    """One line of a diff. `mark` is " ", "+", "-", or "@" for the heading of a hunk."""

    mark: str
    old: int
    new: int
    text: str


def parse(diff: str) -> list[Row]:
    rows: list[Row] = []
    old = new = 0
    for line in clean(diff).split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            old, new = int(hunk.group(1)), int(hunk.group(2))
            rows.append(Row("@", old, new, hunk.group(3).strip()))
        elif not rows or line.startswith("\\") or not line:
            continue  # the names of the files, and "no newline at end of file"
        elif line[0] in " +-":
            rows.append(Row(line[0], old, new, line[1:]))
            old += line[0] != "+"
            new += line[0] != "-"
    return rows


def diff_lines(rows: list[Row], width: int, ink: Ink, *, sides: bool = True) -> list[Line]:
    """The rows as lines of at most `width` cells; long ones wrap. `sides` allows old and new beside each other."""
    digits = len(str(max((max(row.old, row.new) for row in rows), default=1)))
    if sides and width >= WIDE:
        return _side_by_side(rows, width, digits, ink)
    lines: list[Line] = []
    for row in rows:
        if row.mark == "@":
            lines.extend(_hunk(row, lines, digits, width, ink))
        else:
            lines.extend(_one(row, width, digits, ink))
    return lines


def _hunk(row: Row, before: list[Line], digits: int, width: int, ink: Ink) -> list[Line]:
    if not before and not row.text:
        return []
    return wrap([Segment(" " * digits + " ⋯ " + row.text, ink.faint)], width)[:1]


def _look(mark: str, ink: Ink) -> Style:
    return {"+": ink.added, "-": ink.removed}.get(mark, ink.dim)


def _one(row: Row, width: int, digits: int, ink: Ink) -> list[Line]:
    number = row.old if row.mark == "-" else row.new
    style = _look(row.mark, ink)
    inner = max(width - digits - 3, 4)
    lines: list[Line] = []
    for piece in wrap([Segment(row.text, style)], inner, words=False):
        gutter = f"{number:>{digits}} " if not lines else " " * (digits + 1)
        mark = f"{row.mark} " if not lines else "  "
        body = padded(piece, inner, style) if row.mark != " " else piece
        lines.append([Segment(gutter, ink.faint), Segment(mark, style), *body])
    return lines


def _side_by_side(rows: list[Row], width: int, digits: int, ink: Ink) -> list[Line]:
    half = (width - 3) // 2
    lines: list[Line] = []
    for left, right in _pairs(rows):
        if left is not None and left.mark == "@":
            lines.extend(_hunk(left, lines, digits, width, ink))
            continue
        olds = _one(left, half, digits, ink) if left else []
        news = _one(right, half, digits, ink) if right else []
        for at in range(max(len(olds), len(news))):
            old = padded(olds[at] if at < len(olds) else [], half, ink.text)
            lines.append([*old, Segment(" │ ", ink.faint), *(news[at] if at < len(news) else [])])
    return lines


def _pairs(rows: list[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """What stands beside what: removed lines beside the added ones that follow them."""
    at = 0
    while at < len(rows):
        row = rows[at]
        if row.mark in " @":
            yield (row._replace(new=row.old), row) if row.mark == " " else (row, None)
            at += 1
            continue
        removed, added = at, at
        while added < len(rows) and rows[added].mark == "-":
            added += 1
        end = added
        while end < len(rows) and rows[end].mark == "+":
            end += 1
        for step in range(max(added - removed, end - added)):
            left = rows[removed + step] if removed + step < added else None
            right = rows[added + step] if added + step < end else None
            yield left, right
        at = end

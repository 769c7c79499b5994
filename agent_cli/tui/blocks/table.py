"""A table that fits: columns shrink and their cells wrap; where even that is too wide, rows become records."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from agent_cli.tui.wrap import Line, wrap

GAP = 3
LEAST = 6
"""Cells below which a column is not squeezed."""


def table(rows: list[list[Line]], aligns: list[str], width: int, rule: Style) -> list[Line]:
    """The lines of a table whose first row is its head, at most `width` cells each."""
    columns = len(rows[0])
    rows = [(row + [[]] * columns)[:columns] for row in rows]
    widths = _fitted([max(_cells(row[at]) for row in rows) for at in range(columns)], width)
    if widths is None:
        return _records(rows, width, rule)
    lines: list[Line] = []
    for number, row in enumerate(rows):
        lines.extend(_row(row, widths, aligns, rule))
        if number == 0:
            lines.append([Segment("─┼─".join("─" * wide for wide in widths), rule)])
    return lines


def _cells(cell: Line) -> int:
    return sum(cell_len(segment.text) for segment in cell)


def _fitted(natural: list[int], width: int) -> list[int] | None:
    """Widths that fit together; the widest columns give way first. None where columns would be too narrow."""
    room = width - GAP * (len(natural) - 1)
    widths = [max(wide, 1) for wide in natural]
    if sum(widths) <= room:
        return widths
    if room < sum(min(wide, LEAST) for wide in widths):
        return None
    low, high = LEAST, max(widths)
    while low < high:  # the largest cap under which all columns fit
        cap = (low + high + 1) // 2
        if sum(min(wide, cap) for wide in widths) <= room:
            low = cap
        else:
            high = cap - 1
    capped = [min(wide, low) for wide in widths]
    spare = room - sum(capped)
    return [wide + (at < spare and natural[at] > wide) for at, wide in enumerate(capped)]


def _row(row: list[Line], widths: list[int], aligns: list[str], rule: Style) -> list[Line]:
    cells = [wrap(cell, wide) for cell, wide in zip(row, widths, strict=True)]
    lines: list[Line] = []
    for at in range(max(len(cell) for cell in cells)):
        line: Line = []
        for column, (cell, wide) in enumerate(zip(cells, widths, strict=True)):
            if column:
                line.append(Segment(" │ ", rule))
            line.extend(_aligned(cell[at] if at < len(cell) else [], wide, aligns[column]))
        lines.append(line)
    return lines


def _aligned(cell: Line, width: int, align: str) -> Line:
    missing = max(width - _cells(cell), 0)
    before = {"right": missing, "center": missing // 2}.get(align, 0)
    return [Segment(" " * before), *cell, Segment(" " * (missing - before))]


def _records(rows: list[list[Line]], width: int, rule: Style) -> list[Line]:
    head, *rest = rows
    lines: list[Line] = []
    for number, row in enumerate(rest or [head]):
        if number:
            lines.append([Segment("─" * min(width, 12), rule)])
        for title, cell in zip(head, row, strict=True):
            lines.extend(wrap([*title, Segment(": ", rule), *cell], width))
    return lines

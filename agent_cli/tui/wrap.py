"""Runs of styled text, wrapped into lines that fit a number of terminal cells."""

from __future__ import annotations

import re
from typing import TypeAlias

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

Line: TypeAlias = list[Segment]

_WORD = re.compile(r"\S+\s*|\s+")


def wrap(line: Line, width: int, *, words: bool = True) -> list[Line]:
    """One line without breaks as lines of at most `width` cells; `words=False` keeps every blank."""
    width = max(width, 2)
    text = line[0].text if len(line) == 1 else "".join([segment.text for segment in line])
    if len(text) * 2 <= width or (len(text) <= width and text.isascii()):
        return [line]
    cuts = _cuts(text, width, words=words)
    if not cuts:
        return [_trimmed(list(line))] if words else [line]
    return _slices(line, cuts, trim=words)


def height(text: str, width: int) -> int:
    """The number of lines that `wrap(words=False)` gives."""
    width = max(width, 2)
    if text.isascii():
        return max(1, -(-len(text) // width))
    return max(1, len(chop_cells(text, width)))


def window(line: Line, start: int, width: int) -> Line:
    """The cells from `start` on, at most `width` of them; half of a wide character is a blank."""
    return list(Strip(line).crop(start, start + width))


def strip_of(line: Line, indent: str = "", style: Style | None = None) -> Strip:
    return Strip([Segment(indent, style), *line] if indent else line)


def padded(line: Line, width: int, style: Style) -> Line:
    """The line filled up to `width` cells with blanks of that style."""
    missing = width - sum(cell_len(segment.text) for segment in line)
    return [*line, Segment(" " * missing, style)] if missing > 0 else line


def cut(text: str, width: int) -> str:
    """At most `width` cells, ending with … where something was left out."""
    if cell_len(text) <= width:
        return text
    if width < 2:
        return "…"[: max(width, 0)]
    return (chop_cells(text, width - 1) or [""])[0].rstrip() + "…"


def _cuts(text: str, width: int, *, words: bool) -> list[int]:
    """Offsets at which new lines begin."""
    if text.isascii():
        return _cuts_of_words(text, width) if words else list(range(width, len(text), width))
    if not words:
        return _ends([len(piece) for piece in chop_cells(text, width)])
    cuts: list[int] = []
    used = 0
    for match in _WORD.finditer(text):
        word = match.group()
        cells, solid = cell_len(word), cell_len(word.rstrip())
        if used + solid <= width:
            used += cells
        elif solid <= width:
            cuts.append(match.start())
            used = cells
        else:
            used = _cut_inside(cuts, match, width, used)
    return cuts


def _cut_inside(cuts: list[int], match: re.Match[str], width: int, used: int) -> int:
    """Cuts a word that fits no line; returns the cells used in its last line."""
    if used:
        cuts.append(match.start())
    pieces = chop_cells(match.group(), width)
    cuts.extend(match.start() + end for end in _ends([len(piece) for piece in pieces]))
    return cell_len(pieces[-1]) if pieces else 0


def _ends(lengths: list[int]) -> list[int]:
    ends: list[int] = []
    total = 0
    for length in lengths[:-1]:
        total += length
        if total:
            ends.append(total)
    return ends


def _cuts_of_words(text: str, width: int) -> list[int]:
    cuts: list[int] = []
    start, last = 0, len(text.rstrip())
    while last - start > width:
        blank = text.rfind(" ", start, start + width + 1)
        start = blank + 1 if blank > start else start + width
        cuts.append(start)
    return cuts


def _slices(line: Line, cuts: list[int], *, trim: bool) -> list[Line]:
    lines: list[Line] = []
    current: Line = []
    position, waiting = 0, iter([*cuts, -1])
    edge = next(waiting)
    for segment in line:
        text, style = segment.text, segment.style
        while 0 <= edge < position + len(text):
            head, text = text[: edge - position], text[edge - position :]
            if head:
                current.append(Segment(head, style))
            lines.append(_trimmed(current) if trim else current)
            current, position, edge = [], edge, next(waiting)
        current.append(Segment(text, style))
        position += len(text)
    lines.append(_trimmed(current) if trim else current)
    return lines


def _trimmed(line: Line) -> Line:
    while line and line[-1].text[-1:] in {"", " "}:
        last = line.pop()
        if text := last.text.rstrip(" "):
            line.append(Segment(text, last.style))
    return line

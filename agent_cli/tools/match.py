"""Where a text to be replaced stands: exactly, else by whole lines without their ends, else shifted in or out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

How: TypeAlias = Literal["exact", "line-trimmed", "indentation-shifted"]


class Place(NamedTuple):
    """`text[start:end]` is to become `new`, which has the indentation of this place."""

    start: int
    end: int
    new: str


def places(text: str, old: str, new: str) -> tuple[How, list[Place]]:
    """Every place, by the first way that finds any; none: the list is empty. Texts have plain line endings."""
    exact = [Place(start, start + len(old), new) for start in _starts(text, old)]
    return ("exact", exact) if exact or not old.strip() else _by_lines(text, old, new)


def line_places(text: str, old: str, new: str) -> tuple[How, list[Place]]:
    """The same for whole lines: an exact place begins where a line does."""
    at_line = (start for start in _starts(text, old) if start == 0 or text[start - 1] == "\n")
    exact = [Place(start, start + len(old), new) for start in at_line]
    return ("exact", exact) if exact or not old.strip() else _by_lines(text, old, new)


def _by_lines(text: str, old: str, new: str) -> tuple[How, list[Place]]:
    lines, starts = _lines(text)
    wanted = old.split("\n")
    whole = wanted[-1] == "" and len(wanted) > 1
    if whole:
        wanted.pop()
    trimmed = list(_windows(lines, wanted, str.rstrip))
    if trimmed:
        return "line-trimmed", [_place(text, lines, starts, at, len(wanted), new, whole) for at in trimmed]
    shifted: list[Place] = []
    for at in _windows(lines, wanted, str.strip):
        turned = _shifted(lines[at : at + len(wanted)], wanted, new)
        if turned is not None:
            shifted.append(_place(text, lines, starts, at, len(wanted), turned, whole))
    return "indentation-shifted", shifted


def _starts(text: str, old: str) -> Iterator[int]:
    """Also those that overlap, since they make a place ambiguous."""
    at = text.find(old) if old else -1
    while at >= 0:
        yield at
        at = text.find(old, at + 1)


def _lines(text: str) -> tuple[list[str], list[int]]:
    lines = text.split("\n")
    starts = [0]
    for line in lines[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    return lines, starts


def _windows(lines: list[str], wanted: list[str], bare: Callable[[str], str]) -> Iterator[int]:
    """Where every line is the wanted one, both as `bare` makes them. Linear also where lines repeat."""
    kept = [bare(line) for line in lines]
    begins = list(accumulate((len(line) + 1 for line in kept), initial=0))
    text = "\n".join(("", *kept, ""))
    sought = "\n".join(("", *map(bare, wanted), ""))
    for at in _starts(text, sought):
        yield bisect_left(begins, at)


def _place(
    text: str, lines: list[str], starts: list[int], at: int, count: int, new: str, whole: bool
) -> Place:
    last = at + count - 1
    end = starts[last] + len(lines[last])
    if whole and end < len(text):
        end += 1
    elif whole:
        new = new.removesuffix("\n")
    return Place(starts[at], end, new)


def _shifted(found: list[str], wanted: list[str], new: str) -> str | None:
    """`new` with the indentation of the place, None where the two do not go together line by line."""
    known: dict[str, str] = {}
    for there, line in zip(found, wanted, strict=True):
        if line.strip() and known.setdefault(_indent(line), _indent(there)) != _indent(there):
            return None
    return "\n".join(_moved(line, known) for line in new.split("\n"))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _moved(line: str, known: dict[str, str]) -> str:
    if not line.strip():
        return line
    own = _indent(line)
    outer = [indent for indent in known if own.startswith(indent)]
    if outer:
        nearest = max(outer, key=len)
        return known[nearest] + line[len(nearest) :]
    least = min(known, key=len)
    less = len(least) - len(own)
    return known[least][: max(0, len(known[least]) - less)] + line.lstrip()

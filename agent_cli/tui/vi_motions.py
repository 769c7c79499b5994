"""Where the motions of vi lead: functions of a text and a place in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Span(NamedTuple):
    """What an operator takes; of whole lines the line break goes along."""

    start: int
    end: int
    lines: bool = False


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def indented(text: str, at: int) -> int:
    """The first character of the line that is no space."""
    start, end = line_start(text, at), line_end(text, at)
    while start < end and text[start] in " \t":
        start += 1
    return start


def line_number(text: str, number: int) -> int:
    start = 0
    for _ in range(max(0, min(number, text.count("\n")))):
        start = line_end(text, start) + 1
    return indented(text, start)


def vertical(text: str, at: int, lines: int) -> int | None:
    """The same column some lines on; None where there is no such line at all."""
    column, start = at - line_start(text, at), line_start(text, at)
    moved = False
    for _ in range(abs(lines)):
        if lines > 0:
            end = line_end(text, start)
            if end == len(text):
                break
            start = end + 1
        else:
            if start == 0:
                break
            start = line_start(text, start - 1)
        moved = True
    return min(start + column, line_end(text, start)) if moved else None


def by_word(character: str) -> int:
    return 0 if character.isspace() else 1 if character.isalnum() or character == "_" else 2


def by_space(character: str) -> int:
    return 0 if character.isspace() else 1


def next_word(text: str, at: int, kind: Callable[[str], int] = by_word) -> int:
    end = len(text)
    if at < end:
        first = kind(text[at])
        while at < end and first and kind(text[at]) == first:
            at += 1
    while at < end and kind(text[at]) == 0:
        at += 1
    return at


def word_end(text: str, at: int, kind: Callable[[str], int] = by_word) -> int:
    last = len(text) - 1
    at += 1
    while at < last and kind(text[at]) == 0:
        at += 1
    while at < last and kind(text[at + 1]) == kind(text[at]):
        at += 1
    return max(0, min(at, last))


def word_before(text: str, at: int, kind: Callable[[str], int] = by_word) -> int:
    while at > 0 and kind(text[at - 1]) == 0:
        at -= 1
    while at > 1 and kind(text[at - 2]) == kind(text[at - 1]):
        at -= 1
    return max(0, at - 1)


def word_around(text: str, at: int, *, wide: bool) -> Span:
    if at >= len(text):
        return Span(at, at)
    low, high, same = at, at + 1, by_word(text[at])
    start, end = line_start(text, at), line_end(text, at)
    while low > start and by_word(text[low - 1]) == same:
        low -= 1
    while high < end and by_word(text[high]) == same:
        high += 1
    if wide:
        before = high
        while high < end and text[high] in " \t":
            high += 1
        while high == before and low > start and text[low - 1] in " \t":
            low -= 1
    return Span(low, min(high, max(end, low)))


def found(text: str, at: int, how: str, what: str, *, over: bool) -> int:
    """Where f, F, t or T leads within the line, -1 where the character is not there."""
    near = 1 if over and how in "tT" else 0
    if how in "ft":
        place = text.find(what, at + 1 + near, line_end(text, at))
        return place if place < 0 or how == "f" else place - 1
    place = text.rfind(what, line_start(text, at), max(at - near, 0))
    return place if place < 0 or how == "F" else place + 1


STEPS: dict[str, Callable[[str, int], int]] = {
    "h": lambda text, at: max(line_start(text, at), at - 1),
    "l": lambda text, at: min(at + 1, line_end(text, at)),
    " ": lambda text, at: min(at + 1, len(text)),
    "w": next_word,
    "b": word_before,
    "e": word_end,
    "W": lambda text, at: next_word(text, at, by_space),
    "B": lambda text, at: word_before(text, at, by_space),
    "E": lambda text, at: word_end(text, at, by_space),
    "0": line_start,
    "^": indented,
    "$": lambda text, at: max(line_start(text, at), line_end(text, at) - 1),
}

"""Which of the operator's own words are shortened where nothing else makes a conversation fit. Pure."""

from __future__ import annotations

from typing import NamedTuple

from agent_cli.context.reduce import BYTES_PER_TOKEN, size_of
from agent_cli.context.view import Item, places
from agent_cli.kernel.messages import Document, Image, Text

LEAST = 400
"""Bytes of head and tail that every text keeps."""
NOTE = 400
"""Bytes of what stands between them, with a long path."""


class Short(NamedTuple):
    """`item` is the part, `at` which one of its entry; `room` bytes are left of it, 0 for all of a picture."""

    item: Item
    at: int
    room: int


class Shorter(NamedTuple):
    """What is to be shortened, and the tokens that saves."""

    parts: tuple[Short, ...]
    saved: int


def shorten(items: tuple[Item, ...], tokens: int) -> Shorter:
    """The longest texts of user messages, down to the same length, until that many tokens are saved; then their media."""
    wanted = tokens * BYTES_PER_TOKEN
    held = [(item, at) for item, (_, at) in zip(items, places(items), strict=True) if item.role == "user"]
    texts = [(item, at, size_of(item.part)) for item, at in held if isinstance(item.part, Text)]
    level = _level([size for _, _, size in texts], wanted)
    parts = [Short(item, at, level) for item, at, size in texts if size > level + NOTE]
    saved = _saved([size for _, _, size in texts], level)
    media = [(item, at) for item, at in held if isinstance(item.part, (Image, Document))]
    for item, at in sorted(media, key=lambda one: size_of(one[0].part), reverse=True):
        if saved < wanted:
            parts.append(Short(item, at, 0))
            saved += max(0, size_of(item.part) - NOTE)
    return Shorter(tuple(parts), saved // BYTES_PER_TOKEN)


def _level(sizes: list[int], wanted: int) -> int:
    """The greatest length of texts at which enough is saved, LEAST where it is never enough."""
    low, high = LEAST, max([LEAST, *sizes])
    while low < high:
        middle = (low + high + 1) // 2
        if _saved(sizes, middle) >= wanted:
            low = middle
        else:
            high = middle - 1
    return low


def _saved(sizes: list[int], level: int) -> int:
    return sum(max(0, size - level - NOTE) for size in sizes)

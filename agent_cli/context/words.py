"""The operator's own words in what stands for a dropped part: as they were said, the last message whole. Pure."""

from __future__ import annotations

from typing import NamedTuple

OPERATOR_HEADING = "## The operator's messages so far, verbatim"
LAST_HEADING = "### The last of them"
SHORTEST_WORDS = 400
OLDER_SHARE = 4
"""A last message that takes the whole room leaves this part of it, a quarter, to those before it."""


class Rooms(NamedTuple):
    """Bytes: of the operator's words together, and of a last message that is kept whole."""

    words: int
    last: int


class Words(NamedTuple):
    """`older` are messages before the last one, joined."""

    older: str
    last: str


def words_in(said: str) -> Words:
    """What an earlier text of `section` holds; of one that names no last message all of it is the last."""
    older, _, last = said.strip().rpartition(f"\n\n{LAST_HEADING}\n\n")
    return Words(older.strip(), last.strip())


def section(messages: list[str], rooms: Rooms) -> str:
    """Messages, the oldest first, as a section of their own: the newest that fit, of the first that does not its ends."""
    if not messages:
        return ""
    whole = len(messages[-1].encode()) <= max(rooms.words, rooms.last)
    last = messages[-1] if whole else ends(messages[-1], rooms.words)
    left = max(rooms.words - len(last.encode()), rooms.words // OLDER_SHARE)
    older: list[str] = []
    for text in reversed(messages[:-1]):
        fits = len(text.encode()) <= left
        if fits or left >= SHORTEST_WORDS:
            older.append(_within(text, left))
        if not fits:
            break
        left -= len(text.encode())
    said = "\n\n".join([*reversed(older), LAST_HEADING, last] if older else [last])
    return f"{OPERATOR_HEADING}\n\n{said}"


def _within(text: str, room: int) -> str:
    return text if len(text.encode()) <= room else ends(text, room)


def ends(text: str, room: int) -> str:
    """Head and tail of a text, half of the room each, and between them that something is missing."""
    raw = text.encode()
    head, tail = raw[: room // 2].decode(errors="ignore"), raw[-(room // 2) :].decode(errors="ignore")
    return f"{head}\n[… left out here …]\n{tail}"

"""Where secrets stand in a text, and the text with `[REDACTED:kind]` in their places. Linear time, and little of it.

Long words are few: anchors are looked for in them alone, and patterns run only at anchors. 400 KB of source code take
some milliseconds.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from agent_cli.guardrails.secrets import in_use, table
from agent_cli.guardrails.secrets.table import Row

SHORTEST = 8
"""Characters of a known value that is looked for; shorter ones may stand for anything."""
LEAST = 12
"""Bytes of the shortest text that can hold a secret."""
LONG, LONGER = 20, 40
"""Bytes of a word in which secrets are looked for: of names, and where `+` and `/` belong to words, too."""
CONTEXT = 20
"""Bytes before such a word that may belong to the secret."""
MEMORABLE, REMEMBERED = (1_000, 200_000), 8
"""Sizes of texts that are remembered as clean, and how many are."""
ENTROPY = 2.6
"""Bits a character of the dullest secret of some length."""
CHANGES, WILD = 0.22, 0.4
"""Of two neighbours in random text at least that share are of different kinds: a digit by a letter, A by a;
and where it has no digits."""

_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
_WORD = bytes(ord("w") if code in _LETTERS else ord(" ") for code in range(256))
WIDE = bytes(ord("w") if code in _LETTERS | set(b"+/") else ord(" ") for code in range(256))


class Span(NamedTuple):
    """Characters `start` to `end` of the text."""

    start: int
    end: int
    kind: str


class Redacted(NamedTuple):
    """`kinds` names what was replaced, each occurrence once."""

    text: str
    kinds: tuple[str, ...] = ()


_CLEAN: dict[str, int] = {}
"""By text, how many secrets were known when it was found clean."""


def redact(text: str) -> Redacted:
    """A text that was found clean just before is not looked through again: a result is, on its way to the log."""
    if text in _CLEAN and _CLEAN[text] == len(in_use.known()):
        return Redacted(text)
    spans = find(text)
    if not spans:
        _remember(text)
        return Redacted(text)
    parts: list[str] = []
    at = 0
    for start, end, kind in spans:
        parts += (text[at:start], f"[REDACTED:{kind}]")
        at = end
    clean = "".join((*parts, text[at:]))
    if not find(clean):
        _remember(clean)
    return Redacted(clean, tuple(span.kind for span in spans))


def _remember(text: str) -> None:
    if MEMORABLE[0] <= len(text) <= MEMORABLE[1]:
        while len(_CLEAN) >= REMEMBERED:
            del _CLEAN[next(iter(_CLEAN))]
        _CLEAN[text] = len(in_use.known())


def redacted(text: str) -> str:
    """The text without what looks like a secret."""
    return redact(text).text


def without(text: str, values: Iterable[str]) -> str:
    """The text without known values, of keys in use, and without what looks like a secret."""
    for value in values:
        if len(value) >= SHORTEST:
            text = text.replace(value, "[REDACTED:key]")
    return redacted(text)


def find(text: str) -> list[Span]:
    """In the order of the text; no two overlap."""
    if len(text) < LEAST:
        return []
    data = text.encode("ascii", "replace")  # a byte a character: places stay what they are
    found = sorted(
        [
            *_in_use(text),
            *_in_words(data, _WORD, LONG),
            *_in_words(data, WIDE, LONGER),
            *_held(data),
            *_keyed(data),
        ]
    )
    return _apart(found)


def _in_use(text: str) -> Iterator[Span]:
    """Values that are known to be secrets, whatever stands around them."""
    for value, kind in in_use.known().items():
        at = text.find(value)
        while at >= 0:
            yield Span(at, at + len(value), kind)
            at = text.find(value, at + len(value))


def _apart(found: list[Span]) -> list[Span]:
    """Of two that overlap the one that begins first; both as one, so that nothing of the second shows."""
    apart: list[Span] = []
    for span in found:
        if apart and span.start < apart[-1].end:
            apart[-1] = apart[-1]._replace(end=max(apart[-1].end, span.end))
        else:
            apart.append(span)
    return apart


# ── by a prefix ──


def _in_words(data: bytes, letters: bytes, least: int) -> Iterator[Span]:
    words: list[bytes] = []
    starts: list[int] = []
    places: list[int] = []
    size = 0
    for start, end in long_words(data, letters, least):
        begin = max(0, start - CONTEXT)
        word = data[begin:end]
        words.append(word)
        starts.append(size)
        places.append(begin)
        size += len(word) + 1
    if not words:
        return
    hay = b"\n".join(words)
    for row in table.PREFIXED:
        at = hay.find(row.anchor)
        while at >= 0:
            word = bisect_right(starts, at) - 1
            yield from _at(row, data, places[word] + at - starts[word])
            at = hay.find(row.anchor, at + 1)


def long_words(data: bytes, letters: bytes, least: int) -> Iterator[tuple[int, int]]:
    """Where words of that many bytes begin and end."""
    drawn, run, at = data.translate(letters), b"w" * least, 0
    while (at := drawn.find(run, at)) >= 0:
        end = drawn.find(b" ", at)
        end = len(drawn) if end < 0 else end
        yield at, end
        at = end


def _at(row: Row, data: bytes, place: int) -> Iterator[Span]:
    """The secret of that row whose anchor stands there."""
    for before in range(row.before, -1, -1):
        begin = place - before
        match = _pattern(row.pattern).match(data, begin) if begin >= 0 else None
        if match is not None and match.end() >= place:
            if _begins(data, begin) and _plausible(match.group()):
                yield Span(match.start(), match.end(), row.kind)
            return


@cache
def _pattern(shape: bytes) -> re.Pattern[bytes]:
    return re.compile(shape)


_BEFORE = re.compile(rb"(?:\A|[^A-Za-z0-9]|\\[nrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,12}m)\Z")
"""What may stand before a secret: nothing of a word; a line end or a space that is written out ends one."""


def _begins(data: bytes, place: int) -> bool:
    return place == 0 or _BEFORE.search(data[max(0, place - 16) : place]) is not None


def _plausible(value: bytes) -> bool:
    """Not the kind of value that documents and tests have."""
    return _pattern(table.PLACEHOLDER).search(value) is None and entropy(value[:400]) >= ENTROPY


def entropy(value: bytes) -> float:
    """Bits a character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values()) if size else 0.0


# ── by what holds them ──


def _held(data: bytes) -> Iterator[Span]:
    for row in table.HELD:
        at = data.find(row.anchor)
        while at >= 0:
            match = _pattern(row.pattern).match(data, at)
            end = at + 1
            if match is not None:
                yield from _of_url(match) if row.kind == "url-password" else _inside(row, match)
                end = max(match.end(), end)
            at = data.find(row.anchor, end)


def _inside(row: Row, match: re.Match[bytes]) -> Iterator[Span]:
    if match.re.groups:
        if _plausible(match.group(1)):
            yield Span(match.start(1), match.end(1), row.kind)
    elif _pattern(table.KEY_MATERIAL).search(match.group(), match.group().index(b"-----", 11) + 5):
        yield Span(match.start(), match.end(), row.kind)


def _of_url(match: re.Match[bytes]) -> Iterator[Span]:
    user, password, host = match.groups()
    own = password.lower()
    shown = (
        own in table.WEAK or own == user.lower() or host.lower() in table.NEAR or b"example" in host.lower()
    )
    if not shown and not own.startswith((b"$", b"{", b"%7b", b"[", b"*")) and not _placeholder(own):
        yield Span(match.start(2), match.end(2), "url-password")


def _placeholder(value: bytes) -> bool:
    return _pattern(table.PLACEHOLDER).search(value) is not None


# ── by a name ──


def _keyed(data: bytes) -> Iterator[Span]:
    lower = data.lower()
    is_set = _pattern(table.IS_SET).match
    for name in table.NAMED:
        for place in _places(lower, name):
            if is_set(data, place + len(name)) is None and name != b"passw":
                continue
            yield from _named(data, place, name)
            yield from _setting(data, place, name)
    for name in table.SCHEMES:
        for place in _places(lower, name):
            yield from _named(data, place, name)


def _places(data: bytes, anchor: bytes) -> Iterator[int]:
    at = data.find(anchor)
    while at >= 0:
        yield at
        at = data.find(anchor, at + 1)


def _named(data: bytes, place: int, name: bytes) -> Iterator[Span]:
    for row in _KEYED[name]:
        match = _pattern(row.pattern).match(data, place)
        if match is None or (row.head and not _pattern(row.head).search(data[max(0, place - 90) : place])):
            continue
        if (row.kind == "basic-auth" or _is_mixed(match.group(1))) and _plausible(match.group(1)):
            yield Span(match.start(1), match.end(1), row.kind)


def _setting(data: bytes, place: int, name: bytes) -> Iterator[Span]:
    """The value of a setting whose name says that it holds a secret."""
    end = place + len(name)
    match = _pattern(table.SETTING).match(data, end)
    if match is not None and not _pattern(table.NO_SECRET).search(match.group(1)):
        value = match.group(2).rstrip(b".!&")
        called = data[match.end() : match.end() + 1] == b"("
        if not called and _is_secret(data, place, name) and is_random(value) and _plausible(value):
            yield Span(match.start(2), match.start(2) + len(value), "secret")
            return
    if data[place:end].isupper():
        yield from _env_line(data, place)


def _is_secret(data: bytes, place: int, name: bytes) -> bool:
    return name != b"key" or _pattern(table.OF_A_KEY).search(data[max(0, place - 14) : place]) is not None


def _env_line(data: bytes, place: int) -> Iterator[Span]:
    head = data[max(0, place - 61) : place]
    begin = place - len(head) + len(head.rstrip(table.ENV_NAME))
    match = _pattern(table.ENV_LINE).match(data, begin)
    if match is None or _pattern(table.NO_SECRET).search(match.group(1)):
        return
    if _pattern(table.BEFORE_ENV).search(data[max(0, begin - 16) : begin]) is None:
        return
    value = match.group(2)
    start = value[:64]
    mixed = _LETTER.search(start) and _is_mixed(start)
    if mixed and not _placeholder(value) and value.lower() not in table.WEAK and _changes(start) >= CHANGES:
        yield Span(match.start(2), match.end(2), "secret")


def _is_mixed(value: bytes) -> bool:
    return _DIGIT.search(value) is not None or _changes(value) >= WILD


def is_random(value: bytes) -> bool:
    """Whether somebody's machine made it up: names, paths and versions have long stretches of one kind of character."""
    if not _LETTER.search(value) or _CHAIN.fullmatch(value):
        return False
    if len(_DIGIT.findall(value)) < 2:
        return _changes(value) >= WILD
    return _changes(value) >= CHANGES or _HEX.fullmatch(value) is not None


_DIGIT, _LETTER = re.compile(rb"[0-9]"), re.compile(rb"[A-Za-z]")
_HEX = re.compile(rb"[0-9a-f]{32,128}")
_CHAIN = re.compile(rb"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_KEYED: dict[bytes, tuple[Row, ...]] = {
    name: tuple(row for row in table.KEYED if row.anchor == name) for name in (*table.NAMED, *table.SCHEMES)
}
_KINDS = bytes(
    48 if 48 <= code < 58 else 65 if 65 <= code < 91 else 97 if 97 <= code < 123 else 46
    for code in range(256)
)


def _changes(value: bytes) -> float:
    drawn = value.translate(_KINDS).replace(b".", b"")
    return sum(one != other for one, other in pairwise(drawn)) / max(1, len(drawn))

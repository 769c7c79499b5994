"""Older encodings told by their bytes. What cannot be told for sure is said to be unsure, and kept byte for byte."""

from __future__ import annotations

import re
from typing import NamedTuple

SURE = 0.85
"""Share of the characters beyond ASCII that have to be common ones of the encoding."""
FEWEST = 4
"""Characters beyond ASCII without which no encoding of many letters is told."""
LONG = 8
"""Bytes beyond ASCII in runs from which on a text is none of western letters among ASCII."""
_RUNS = re.compile(rb"[\x80-\xff]{3,}")
_SOUND = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


class Guess(NamedTuple):
    """`sure` is False where the bytes do not say which encoding it is; all of them survive in `encoding`."""

    encoding: str
    sure: bool = True


def is_broken_utf8(raw: bytes) -> bool:
    """UTF-8 in which some bytes are damaged: most of what is beyond ASCII is sound."""
    beyond = len(raw) - len(raw.translate(None, bytes(range(128, 256))))
    sound = sum(map(len, _SOUND.findall(raw)))
    return sound >= 2 and sound * 4 >= beyond * 3


def guess(raw: bytes) -> Guess:
    """Of bytes that are no UTF-8."""
    beyond = len(raw) - len(raw.translate(None, bytes(range(128, 256))))
    western = _survives(raw, "cp1252") is not None
    in_runs = sum(map(len, _RUNS.findall(raw)))
    runs = in_runs * 2 > beyond
    known = max(
        ((_score(text, name), name) for name in _COMMON if (text := _survives(raw, name)) is not None),
        default=(0.0, ""),
    )
    if known[0] >= SURE and (runs or known[1] in _WITH_ASCII_TRAILS):
        return Guess(known[1])
    if runs and in_runs >= LONG:
        return Guess("latin-1", sure=False)
    return Guess("cp1252" if western else "latin-1")


def _survives(raw: bytes, encoding: str) -> str | None:
    """The text, where it gives the same bytes again."""
    try:
        text = raw.decode(encoding)
        return text if text.encode(encoding) == raw else None
    except UnicodeError:
        return None


def _score(text: str, encoding: str) -> float:
    """Share of common characters among those beyond ASCII; 0 where there are too few to tell."""
    beyond = [char for char in text if char > "\x7f"]
    if len(beyond) < FEWEST:
        return 0.0
    return _COMMON[encoding](beyond)


def _chinese(encoding: str, last: int, chars: list[str]) -> float:
    """The first of the two levels of characters, in the order of the standard, are those in daily use."""
    first = 0xB0 if encoding == "gb2312" else 0xA4
    good = 0
    for char in chars:
        try:
            lead = char.encode(encoding)[0]
        except UnicodeEncodeError:
            continue
        good += first <= lead <= last or _is_sign(char)
    return good / len(chars)


def _simplified(chars: list[str]) -> float:
    return _chinese("gb2312", 0xD7, chars)


def _traditional(chars: list[str]) -> float:
    return _chinese("big5", 0xC6, chars)


def _japanese(chars: list[str]) -> float:
    kana = sum("\u3041" <= char <= "\u30ff" for char in chars)
    if kana * 4 < len(chars):
        return 0.0
    good = sum(
        "\u3041" <= char <= "\u30ff" or "\u4e00" <= char <= "\u9fff" or _is_sign(char) for char in chars
    )
    return good / len(chars) + 0.02


def _korean(chars: list[str]) -> float:
    good = sum("\uac00" <= char <= "\ud7a3" or _is_sign(char) for char in chars)
    return good / len(chars) + (0.01 if good == len(chars) else -0.1)


def _cyrillic(chars: list[str]) -> float:
    """Most letters are small ones, which other encodings read as capitals; Greek and Hebrew would give rare ones."""
    usual, rare = sum(map(chars.count, "оеаинтсрвл")), sum(map(chars.count, "фщъ"))
    if usual * 2 < len(chars) or rare * 20 > len(chars):
        return 0.0
    small = sum("\u0430" <= char <= "\u044f" or char == "\u0451" for char in chars)
    large = sum("\u0410" <= char <= "\u042f" or char == "\u0401" for char in chars)
    return (small + large) / len(chars) if small > large * 2 else 0.0


def _is_sign(char: str) -> bool:
    return "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uff65" or "\u2010" <= char <= "\u2026"


_COMMON = {
    "gb18030": _simplified,
    "big5": _traditional,
    "cp932": _japanese,
    "euc_jp": _japanese,
    "euc_kr": _korean,
    "koi8-r": _cyrillic,
    "cp1251": _cyrillic,
}
_WITH_ASCII_TRAILS = frozenset({"big5", "cp932", "gb18030"})
"""Encodings whose characters may end in a letter of ASCII, so that runs are short."""

"""Where a key stands in a config file, for who has to mend it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_cli.config import files
from agent_cli.kernel.errors import ConfigError

Place = tuple[tuple[str | int, ...], int]
"""A path with its line."""

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\]:,]|[^\s"{}\[\]:,]+')
_WORD = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_KEY = rf"{_WORD}(?:[ \t]*\.[ \t]*{_WORD})*"
_TABLE = re.compile(rf"[ \t]*\[\[?[ \t]*({_KEY})[ \t]*\]\]?")
_SETTING = re.compile(rf"[ \t]*({_KEY})[ \t]*=")


def located(origin: str, path: Sequence[str | int]) -> str:
    """FILE:LINE of what stands there, or of what it stands in; where the origin is no file, the origin."""
    file = Path(origin)
    if not file.is_file():
        return origin
    try:
        text = files.text_of(file)
    except ConfigError:
        return origin
    known = dict(_toml(text) if file.suffix == ".toml" else _json(text))
    for end in range(len(path), 0, -1):
        if line := known.get(tuple(path[:end])):
            return f"{origin}:{line}"
    return origin


def _json(text: str) -> Iterator[Place]:
    """Of every key and every item; the text is JSON."""
    path: list[str | int] = []
    expects_key = False
    for token in _TOKEN.finditer(text):
        line, word = text.count("\n", 0, token.start()) + 1, token[0]
        if word in "}]":
            path.pop()
        elif word == ",":
            last = path[-1]
            expects_key = isinstance(last, str)
            path[-1] = last if isinstance(last, str) else last + 1
        elif word == ":":
            expects_key = False
        elif expects_key:
            path[-1] = str(json.loads(word))
            yield tuple(path), line
        else:
            if path and isinstance(path[-1], int):
                yield tuple(path), line
            if word in "{[":
                path.append("" if word == "{" else 0)
            expects_key = word == "{"


def _toml(text: str) -> Iterator[Place]:
    """Of every table and every key that begins a line."""
    above: tuple[str | int, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if table := _TABLE.match(line):
            above = named = _parts(table[1])
            if line.lstrip().startswith("[["):
                counts[named] = counts.get(named, -1) + 1
                above = (*named, counts[named])
            yield above, number
        elif setting := _SETTING.match(line):
            path = (*above, *_parts(setting[1]))
            for end in range(len(above) + 1, len(path) + 1):
                yield path[:end], number


def _parts(key: str) -> tuple[str, ...]:
    return tuple(word.strip("\"'") for word in re.findall(_WORD, key))

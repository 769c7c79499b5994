"""Globs to regular expressions. Two readings: of paths, where `*` stops at `/`, and of flat text.

In both, `?` is one character and `[...]` a class, so `[*]` is a star as such. In paths `**` crosses
directories and `{a,b}` is either.
"""

from __future__ import annotations

import re
from functools import lru_cache

WILD = "*?["
_CLASS = re.compile(r"\[[!^]?\]?[^\]]*\]")
_SINGLE = re.compile(r"\[([*?\[\]{}])\]")


@lru_cache(1024)
def flat(pattern: str) -> re.Pattern[str]:
    """`*` is any text, new lines and slashes included."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        taken, regex = _one(pattern, at, any_text=".*", one_character=".")
        parts.append(regex)
        at += taken
    return re.compile("".join(parts), re.DOTALL)


@lru_cache(1024)
def path(pattern: str, *, fold: bool = False) -> re.Pattern[str]:
    """`**/` is any number of directories, also none; a trailing `/**` is everything below."""
    parts: list[str] = []
    at = 0
    braces = pattern.count("{") == pattern.count("}")
    open_braces = 0
    while at < len(pattern):
        char = pattern[at]
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            taken, regex = 3, "(?:.*/)?"
        elif pattern.startswith("**", at):
            taken, regex = 2, ".*"
        elif char == "{" and braces:
            taken, regex, open_braces = 1, "(?:", open_braces + 1
        elif char == "}" and open_braces:
            taken, regex, open_braces = 1, ")", open_braces - 1
        elif char == "," and open_braces:
            taken, regex = 1, "|"
        else:
            taken, regex = _one(pattern, at, any_text="[^/]*", one_character="[^/]")
        parts.append(regex)
        at += taken
    regex = "".join(parts) + ")" * open_braces
    return re.compile(regex, re.DOTALL | (re.IGNORECASE if fold else 0))


def _one(pattern: str, at: int, *, any_text: str, one_character: str) -> tuple[int, str]:
    """How many characters of the pattern the next piece takes, and its expression."""
    char = pattern[at]
    if char == "*":
        return 1, any_text
    if char == "?":
        return 1, one_character
    found = _CLASS.match(pattern, at) if char == "[" else None
    if found is None:
        return 1, re.escape(char)
    inner = found.group()[1:-1]
    negated = inner[:1] in ("!", "^")
    members = (inner[1:] if negated else inner).replace("\\", "\\\\").replace("[", "\\[")
    members = members.replace("]", "\\]").replace("&&", "&\\&").replace("||", "|\\|").replace("~~", "~\\~")
    if members.startswith("^"):
        members = "\\" + members
    regex = f"[{'^' if negated else ''}{members}]"
    try:
        re.compile(regex)
    except re.error:
        return 1, re.escape(char)
    return len(found.group()), f"(?!/){regex}" if one_character != "." else regex


def literal(pattern: str) -> str | None:
    """The only text that the pattern can match, None where it has a wildcard."""
    bare = _SINGLE.sub("", pattern)
    if any(char in bare for char in WILD):
        return None
    return _SINGLE.sub(r"\1", pattern)


def head(pattern: str) -> str:
    """The text before the first wildcard."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        escaped = _SINGLE.match(pattern, at)
        if escaped is not None:
            out.append(escaped.group(1))
            at = escaped.end()
            continue
        if pattern[at] in WILD or pattern[at] == "{":
            break
        out.append(pattern[at])
        at += 1
    return "".join(out)


def escape(text: str) -> str:
    """A pattern that matches this text only."""
    return "".join(f"[{char}]" if char in "*?[{}" else char for char in text)

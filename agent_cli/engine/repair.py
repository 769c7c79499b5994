"""Arguments of a tool call that do not parse, mended before anything else sees them.

In this order and no further: prose and code fences around the object dropped, an unterminated string closed,
unclosed braces and brackets closed in reverse, a dangling key given null, trailing commas dropped. What is
still no object then is left exactly as it was.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from agent_cli.kernel.wire import is_object, is_too_deep

CUT_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{0,3})?$")
CLOSERS = {"{": "}", "[": "]"}


class Repaired(NamedTuple):
    """`closed` says that something had to be closed: the text was cut, and more may have been meant."""

    arguments: dict[str, Any]
    closed: bool


def repair(raw: str) -> Repaired | None:
    """The object that was meant, None where that cannot be told. Valid text is taken as it is."""
    valid = _object(raw)
    if valid is not None:
        return Repaired(valid, closed=False)
    start = raw.find("{")
    if start < 0:
        return None
    scan = _Scan(raw[start:])
    if any(mark in raw[:start] + scan.rest for mark in "{}[]"):
        return None  # more than prose and fences: another value, of which this one is only a part
    mended = _object(scan.mended())
    return None if mended is None else Repaired(mended, closed=scan.closed)


def _object(text: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None
    return parsed if is_object(parsed) and not is_too_deep(parsed) else None


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


class _Scan:
    """One pass over text that begins with a brace; stops behind the brace that closes it. `rest` is what follows.

    `_expects` is where the innermost object stands: "key", "colon", "value" or "comma".
    """

    def __init__(self, text: str) -> None:
        self.closed = False
        self._out: list[str] = []
        self._stack: list[str] = []
        self._expects: list[str] = []
        at = 0
        while at < len(text) and (at == 0 or self._stack):
            at = self._take(text, at)
        self.rest = text[at:]

    def _take(self, text: str, at: int) -> int:
        """Takes one token; returns where the next begins."""
        char = text[at]
        if char == '"':
            return self._take_string(text, at)
        if char in CLOSERS:
            self._stack.append(char)
            self._expects.append("key" if char == "{" else "value")
        elif char in "}]":
            self._drop_comma()
            self._stack.pop()
            self._expects.pop()
            self._done_value()
        elif char == ":" and self._expects:
            self._expects[-1] = "value"
        elif char == "," and self._expects:
            self._expects[-1] = "key" if self._stack[-1] == "{" else "value"
        elif not char.isspace():
            self._done_value()
        self._out.append(char)
        return at + 1

    def _take_string(self, text: str, at: int) -> int:
        end = at + 1
        while end < len(text) and text[end] != '"':
            end += 2 if text[end] == "\\" else 1
        if end >= len(text):
            cut = text[at:]
            half_escape = CUT_ESCAPE.search(cut)
            if (
                half_escape
                and (len(cut[: half_escape.start()]) - len(cut[: half_escape.start()].rstrip("\\"))) % 2 == 0
            ):
                cut = cut[: half_escape.start()]
            self._out.append(cut + '"')
            self.closed = True
        else:
            self._out.append(text[at : end + 1])
        if self._expects and self._expects[-1] == "key":
            self._expects[-1] = "colon"
        else:
            self._done_value()
        return end + 1

    def _done_value(self) -> None:
        if self._expects and self._expects[-1] == "value":
            self._expects[-1] = "comma"

    def _drop_comma(self) -> None:
        """Of the last thing that is no space."""
        at = len(self._out) - 1
        while at >= 0 and self._out[at].isspace():
            at -= 1
        if at >= 0 and self._out[at] == ",":
            del self._out[at]

    def mended(self) -> str:
        while self._stack:
            self.closed = True
            expects = self._expects[-1]
            if expects == "colon":
                self._out.append(": null")
            elif expects == "value" and self._stack[-1] == "{":
                self._out.append(" null")
            else:
                self._drop_comma()
            self._out.append(CLOSERS[self._stack.pop()])
            self._expects.pop()
            self._done_value()
        return "".join(self._out)

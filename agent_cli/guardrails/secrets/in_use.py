"""Values that are known to be secrets whatever they look like: keys in use, and what variables named like one hold.

They are those of the process: whoever looks through a text for secrets finds them, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import quote

KINDS = 30
"""Characters of the name that stands in the place of a value."""
MOST = 200
"""Spellings that are looked for; each costs some microseconds a text."""

_values: dict[str, str] = {}


def know(values: Mapping[str, str]) -> None:
    """Secrets, by the names of the variables that hold them: those become the kinds by which they are told."""
    for name, value in values.items():
        kind = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:KINDS].strip("-")
        for spelled in (value, json.dumps(value)[1:-1], quote(value, safe="")):
            if len(_values) < MOST:
                _values.setdefault(spelled, kind if len(kind) > 1 else "key")


def forget() -> None:
    """For tests, and for who keeps a process longer than its keys."""
    _values.clear()


def known() -> Mapping[str, str]:
    """Spellings of secrets, each with its kind."""
    return _values


def begun(text: str) -> int:
    """Where the beginning of one stands at the end of the text; its length where none does."""
    start = len(text)
    for value in _values:
        at = text.find(value[0], max(0, len(text) - len(value) + 1))
        while 0 <= at < start:
            if value.startswith(text[at:]):
                start = at
            at = text.find(value[0], at + 1)
    return start

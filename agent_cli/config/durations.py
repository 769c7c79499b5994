"""What a text like "90", "15m" or "1h30m" means, wherever one is written."""

from __future__ import annotations

import math
import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*")


def seconds(value: object) -> float:
    """Seconds from a number, or from a text like "90", "4h", "1h30m". Raises ValueError."""
    match value:
        case bool():
            found = None
        case int() | float():
            found = float(value)
        case str():
            found = _duration(value.strip().lower())
        case _:
            found = None
    if found is None:
        raise ValueError("must be seconds, or a duration like '30m' or '4h'")
    if not 0 <= found < math.inf:
        raise ValueError("must be a number of seconds, not negative and not endless")
    return found


def _duration(text: str) -> float | None:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    pieces = _PIECE.findall(text)
    if not pieces or _PIECE.sub("", text):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in pieces)

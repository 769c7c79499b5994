"""Text of models and tools made safe for a terminal: no escape sequence and no control byte gets through."""

from __future__ import annotations

import re

SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x1b\\|\x07|\Z)|[ -/]*[0-~])", re.DOTALL)
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
VISIBLE = {
    **{code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"},
    **{ord(mark): f"\\u{ord(mark):04x}" for mark in BIDI},
}


def plain(text: str) -> str:
    """Escape sequences are dropped, other control characters and bidirectional marks made visible."""
    return SEQUENCES.sub("", text.replace("\r\n", "\n")).translate(VISIBLE)


def one_line(text: str, most: int = 160) -> str:
    """The text as one line of at most `most` characters."""
    line = " ".join(plain(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"

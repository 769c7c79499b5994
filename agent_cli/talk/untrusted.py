r"""Text of models and tools on its way to the terminal: nothing of it may act as a control code.

Escape sequences are dropped, other control bytes are shown as `\xNN`, and characters that reorder or hide
text (bidirectional overrides, tag characters, invisible separators) are shown as `\uNNNN`.
"""

from __future__ import annotations

import re

TAB = 4

_SUSPECT = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_ESCAPES = re.compile(
    "(?:\x1b\\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c|$)"  # OSC, also one that is still open
    "|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\\\|\x9c|$)"  # DCS, SOS, PM, APC
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*(?:[@-~]|$)"  # CSI
    "|\x1b[ -/]*(?:[0-~]|$)"  # the short ones
)


def clean(text: str) -> str:
    """The text without anything that a terminal would obey; tabs become spaces, lines end with a line feed."""
    if not _SUSPECT.search(text):
        return text
    return "\n".join(_clean_line(line) for line in text.split("\n"))


def clean_line(text: str) -> str:
    """One line of it; line breaks and runs of blanks become one space."""
    return " ".join(clean(text).split())


def _clean_line(line: str) -> str:
    line = _ESCAPES.sub("", line)
    if "\r" in line:
        line = line.rstrip("\r").rpartition("\r")[2]  # a progress line shows what was written last
    if "\t" in line:
        line = line.expandtabs(TAB)
    return _SUSPECT.sub(_visible, line)


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

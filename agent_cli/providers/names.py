"""Names and ids as a service accepts them. The same one always becomes the same, so that pairs stay pairs."""

from __future__ import annotations

import re
import zlib

ODD = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST_ID = 40
"""OpenAI's limit; Anthropic takes these too."""


def wire_id(call_id: str) -> str:
    """A call id of letters, digits, `_` and `-`, at most 40 long."""
    plain = ODD.sub("_", call_id) or "call"
    if plain == call_id and len(plain) <= LONGEST_ID:
        return plain
    return f"{plain[: LONGEST_ID - 9]}_{zlib.crc32(call_id.encode('utf-8', 'replace')):08x}"


def wire_name(name: str, longest: int) -> str:
    """A tool name that a model made up may hold anything; in the history it must be one that a tool could have."""
    return ODD.sub("_", name)[:longest] or "unknown"

"""Names of tools as every service takes them: `mcp__SERVER__TOOL`, at most 64 letters, digits, `_` and `-`."""

from __future__ import annotations

import hashlib
import re
from fnmatch import fnmatchcase

PREFIX = "mcp__"
LONGEST = 64
LONGEST_SERVER = 24
_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_DIGITS = 6


def tool_name(server: str, tool: str) -> str:
    """Depends on the two names alone, so that it is the same in every session, whatever else a server offers.

    A name that has to be changed ends with a digest of what it was, so that no two become one.
    """
    head = f"{PREFIX}{server_part(server)}__"
    return head + _fitting(tool, LONGEST - len(head))


def server_part(server: str) -> str:
    """Without two underscores in a row: they separate the parts of a tool's name."""
    parted = "__" in server or server.startswith("_") or server.endswith("_")
    return _fitting(server, LONGEST_SERVER, changed=parted)


def _fitting(name: str, most: int, *, changed: bool = False) -> str:
    if name and len(name) <= most and not _ODD.search(name) and not changed:
        return name
    digest = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).hexdigest()[:_DIGITS]
    plain = re.sub(r"__+", "_", _ODD.sub("_", name)).strip("_")[: most - _DIGITS - 1]
    return f"{plain}_{digest}" if plain else digest


def wanted(tool: str, allow: tuple[str, ...], deny: tuple[str, ...]) -> bool:
    """Whether the operator wants a tool of that name; what he denies counts more than what he allows."""
    return (not allow or any(fnmatchcase(tool, glob) for glob in allow)) and not any(
        fnmatchcase(tool, glob) for glob in deny
    )

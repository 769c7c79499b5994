"""Calls compared canonically: keys sorted, values under path-shaped keys cleaned, nothing else touched."""

from __future__ import annotations

import json
import posixpath
from typing import Any

from agent_cli.kernel.messages import ToolCall
from agent_cli.kernel.wire import is_object

PATH_KEYS = frozenset(
    {"path", "paths", "file", "file_path", "filename", "dir", "directory", "target", "cwd", "root"}
)


def canonical(call: ToolCall) -> str:
    """One text for all spellings of one call."""
    if call.arguments is None:
        return f"{call.name} {call.raw}"
    return f"{call.name} {json.dumps(_clean(call.arguments), sort_keys=True, ensure_ascii=False)}"


def _clean(arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: _clean_path(value) if key in PATH_KEYS else value for key, value in arguments.items()}


def _clean_path(value: Any) -> Any:
    if isinstance(value, str):
        return posixpath.normpath(value) if value else value
    return value


def same_call(one: str, other: str) -> bool:
    """Equal, or equal but for a path of which one spelling is the end of the other on a component boundary."""
    if one == other:
        return True
    (name, _, first), (other_name, _, second) = one.partition(" "), other.partition(" ")
    if name != other_name:
        return False
    try:
        left, right = json.loads(first), json.loads(second)
    except (ValueError, RecursionError):
        return False
    if not (is_object(left) and is_object(right)):  # what was no object is compared as the text that it was
        return False
    return left.keys() == right.keys() and all(_same_value(key, left[key], right[key]) for key in left)


def _same_value(key: str, one: Any, other: Any) -> bool:
    if one == other:
        return True
    if key not in PATH_KEYS or not (isinstance(one, str) and isinstance(other, str)):
        return False
    short, long = sorted((one, other), key=len)
    return long.endswith("/" + short.lstrip("/"))

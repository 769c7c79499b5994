"""What pydantic refuses, in sentences: the key, the value, the place it came from, what would fit."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agent_cli.config import fields
from agent_cli.kernel.wire import is_list, is_object

_WANTED = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "model_type": "must hold keys and values",
    "dict_type": "must hold keys and values",
    "missing": "is missing",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
    "value_error": "{error}",
}

_HIDDEN = ("api_key_env",)
"""Where somebody may have put a key."""


def told(refused: ValidationError, origin: str, tree: dict[str, Any]) -> list[str]:
    """One line each. `tree` is the layer as it was written: what the environment gave is not repeated."""
    return [_line(error, origin, tree) for error in refused.errors(include_url=False)]


def unknown(path: fields.Path, origin: str) -> str:
    near = fields.nearest(path)
    beside = fields.siblings(path)
    hint = f"; did you mean '{near}'?" if near else ""
    if not hint and beside:
        hint = f"; there are {', '.join(beside)}"
    return f"{origin}: there is no setting '{'.'.join(path)}'{hint}"


def _line(error: ErrorDetails, origin: str, tree: dict[str, Any]) -> str:
    path = tuple(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return unknown(path, origin)
    wanted = _WANTED.get(error["type"], error["msg"]).format(**error.get("ctx", {}))
    if error["type"] == "missing":
        return f"{origin}: {_dotted(error)} {wanted}"
    value = _value(error, tree)
    return f"{origin}: {_dotted(error)}{value} {wanted}{_near_value(error)}"


def _dotted(error: ErrorDetails) -> str:
    dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])
    return dotted[1:]


def _value(error: ErrorDetails, tree: dict[str, Any]) -> str:
    found: Any = tree
    for part in error["loc"]:
        if is_object(found):
            found = found.get(str(part), error["input"])
        elif is_list(found) and isinstance(part, int):
            found = found[part]
    if error["loc"][-1] in _HIDDEN or isinstance(found, dict | list):
        return ""
    shown = json.dumps(found, ensure_ascii=False, default=str)
    return f" = {shown if len(shown) <= 80 else shown[:79] + '…'}"


def _near_value(error: ErrorDetails) -> str:
    import difflib
    import re

    if error["type"] != "literal_error":
        return ""
    known = re.findall(r"'([^']*)'", error.get("ctx", {}).get("expected", ""))
    close = difflib.get_close_matches(str(error["input"]), known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""

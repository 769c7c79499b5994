"""What does not fit the schema, in sentences: the key, the value, the place it came from, what would fit."""

from __future__ import annotations

import json
from typing import Any

from agent_cli.config import fields
from agent_cli.config.check import Mistake
from agent_cli.kernel.wire import is_list, is_object

_HIDDEN = ("api_key_env",)
"""Where somebody may have put a key."""


def told(mistake: Mistake, origin: str, tree: dict[str, Any]) -> str:
    """`tree` is the layer as it was written: what the environment gave is not repeated."""
    if not mistake.wanted:
        return unknown(tuple(str(part) for part in mistake.path), origin)
    found, there = _found(mistake, tree)
    shown = f" = {_shown(found)}" if there and not _hidden(mistake, found) else ""
    return f"{origin}: {_dotted(mistake)}{shown} {mistake.wanted}{_near_value(mistake, found)}"


def unknown(path: fields.Path, origin: str) -> str:
    near, dotted = fields.nearest(path), ".".join(path)
    inside = next((key.name for key in fields.all_keys() if key.name.startswith(f"{dotted}.")), "")
    if inside:
        return f"{origin}: '{dotted}' is a section, no setting by itself; name one in it, such as '{inside}'"
    beside = fields.siblings(path)
    hint = f"; did you mean '{near}'?" if near else ""
    if not hint and beside:
        hint = f"; there are {', '.join(beside)}"
    return f"{origin}: there is no setting '{'.'.join(path)}'{hint}"


def _dotted(mistake: Mistake) -> str:
    dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in mistake.path)
    return dotted[1:]


def _found(mistake: Mistake, tree: dict[str, Any]) -> tuple[Any, bool]:
    """The value at that place, and whether there is one. What stands in PATH:ACCESS is shown with it."""
    found: Any = tree
    for part in mistake.path:
        if is_object(found):
            if part not in found:
                return None, False
            found = found[str(part)]
        elif is_list(found) and isinstance(part, int):
            found = found[part]
    return found, True


def _hidden(mistake: Mistake, found: Any) -> bool:
    return mistake.path[-1] in _HIDDEN or isinstance(found, dict | list)


def _shown(found: Any) -> str:
    shown = json.dumps(found, ensure_ascii=False, default=str)
    return shown if len(shown) <= 80 else shown[:79] + "…"


def _near_value(mistake: Mistake, found: Any) -> str:
    import difflib

    close = difflib.get_close_matches(str(found), mistake.choices, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""

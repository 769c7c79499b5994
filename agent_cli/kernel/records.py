"""Facts and previews as records of JSON, the way programs read them: every field, also one that holds its default."""

from __future__ import annotations

import json
import re
from typing import Any, TypeGuard

import msgspec

from agent_cli.kernel import events as ev
from agent_cli.kernel import wire

VERSION = 1
"""Of the format: fields and types may be added to it, none goes away or changes its meaning."""
UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029]")
"""Controls that JSON lets stand in a text: some readers end a line there, and a terminal may obey them."""


def fact_of(entry: ev.Entry) -> dict[str, Any]:
    """The record of a fact."""
    fields = whole(entry.event)
    place = {"session": entry.session, "turn": entry.turn, "step": entry.step}
    head = {"v": VERSION, "type": fields.pop("kind"), **place}
    return {**head, "seq": entry.seq, "time": entry.time, "branch": entry.branch, **fields}


def preview_of(preview: ev.Live, place: dict[str, Any]) -> dict[str, Any]:
    """The record of a preview; `place` is where the session stands (`session`, `turn`, `step`)."""
    fields = whole(preview)
    return {"v": VERSION, "type": fields.pop("kind"), **place, **fields}


def whole(value: Any) -> Any:
    """The JSON value of a value with every field in it, also those that hold their default."""
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        tag = {config.tag_field: config.tag} if config.tag_field else {}
        return tag | {name: whole(getattr(value, name)) for name in value.__struct_fields__}
    if is_items(value):
        return [whole(item) for item in value]
    return value


def is_items(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def line_of(record: dict[str, Any]) -> str:
    """One line, also for a reader that takes more than a line feed for the end of one."""
    try:
        text = wire.to_json(record)
    except (UnicodeEncodeError, OverflowError):  # half of a surrogate pair, or a number of more than 64 bits
        text = json.dumps(record)
    return UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"

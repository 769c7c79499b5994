"""JSON Schemas of what `--output-format stream-json` prints and `--input-format stream-json` takes, a line each."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec

from agent_cli.headless import jsonl
from agent_cli.headless.summary import Result
from agent_cli.kernel import events, orders

DRAFT = "https://json-schema.org/draft/2020-12/schema"
REF = "#/$defs/{name}"
COUNT = {"type": "integer", "minimum": 0}
PLACE = {"session": {"type": "string"}, "turn": COUNT, "step": COUNT}
OF_FACTS = {
    **PLACE,
    "seq": {"type": "integer", "minimum": 1},
    "time": {"type": "number", "description": "Seconds since the epoch."},
    "branch": {"type": "string", "description": 'The subtask whose fact it is; "" for the session itself.'},
}


def output() -> str:
    facts, previews = get_args(events.Recorded), get_args(events.Live)
    own: list[Any] = [jsonl.Ready, jsonl.InputError, Result]
    schemas, shared = msgspec.json.schema_components([*facts, *previews, *own], ref_template=REF)
    names = [str(schema["$ref"]).rpartition("/")[2] for schema in schemas]
    tags = [kind.__struct_config__.tag for kind in (*facts, *previews)]
    kinds = dict(zip(names, [*tags, "ready", "input-error", "result"], strict=True))
    places = [OF_FACTS] * len(facts) + [PLACE] * len(previews) + [{}] * len(own)
    defs = {name: _all_there(held) for name, held in shared.items()}
    for (name, tag), place in zip(kinds.items(), places, strict=True):
        defs[name] = _line(defs[name], str(tag), place)
    return _whole("A line of agent-cli --output-format stream-json", names, defs)


def taken() -> str:
    schemas, shared = msgspec.json.schema_components(get_args(orders.Order), ref_template=REF)
    names = [str(schema["$ref"]).rpartition("/")[2] for schema in schemas]
    return _whole("A line of agent-cli --input-format stream-json", names, {**shared})


def _whole(title: str, names: list[str], defs: dict[str, Any]) -> str:
    top = {
        "$schema": DRAFT,
        "title": f"{title}, version {jsonl.VERSION}",
        "oneOf": [{"$ref": REF.format(name=name)} for name in names],
        "$defs": dict(sorted(defs.items())),
    }
    return json.dumps(top, indent=1, ensure_ascii=False) + "\n"


def _all_there(schema: dict[str, Any]) -> dict[str, Any]:
    """Every field is printed, also one that holds its default."""
    if "properties" not in schema:
        return schema
    return {**schema, "required": list(schema["properties"])}


def _line(schema: dict[str, Any], tag: str, place: dict[str, Any]) -> dict[str, Any]:
    own = {name: held for name, held in schema["properties"].items() if name not in ("kind", "type", "v")}
    properties = {"v": {"const": jsonl.VERSION}, "type": {"const": tag}, **place, **own}
    return {**schema, "properties": properties, "required": list(properties)}

"""Schemas of servers as services take them: what one of them would refuse is mended, or its tool is left out."""

from __future__ import annotations

import json
import re
from typing import Any

from agent_cli.kernel.wire import is_list, is_object, is_too_deep

PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
LARGEST = 60_000
"""Bytes of one schema."""
COMBINED = ("oneOf", "anyOf", "allOf")
INNER = ("items", "additionalProperties", "not", "contains", "if", "then", "else")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
LISTED = (*COMBINED, "prefixItems")
"""Where a schema holds a schema, schemas by name, and schemas in a row."""
UNSAID = ("$schema", "$id", "$comment", "title")


class Unusable(ValueError):
    """Says why no model can be offered the tool."""


def usable(schema: Any) -> dict[str, Any]:
    """An object schema without alternatives at its top. Raises Unusable."""
    if not is_object(schema):
        raise Unusable("its schema is no object")
    if is_too_deep(schema):
        raise Unusable("its schema is nested too deeply")
    if len(json.dumps(schema, default=str)) > LARGEST:
        raise Unusable(f"its schema has more than {LARGEST:,} bytes")
    found = _flat({key: value for key, value in schema.items() if key not in UNSAID})
    kind = found.get("type", "object")
    if kind != "object" and not (is_list(kind) and "object" in kind):
        raise Unusable(f"its arguments are {kind!r}, no object")
    properties: Any = found.get("properties", {})
    if not is_object(properties):
        raise Unusable("the properties of its schema are no object")
    required: Any = found.get("required", [])
    needed = [name for name in required if isinstance(name, str)] if is_list(required) else []
    for name in [name for name in properties if not PROPERTY.fullmatch(name)]:
        if name in needed:
            raise Unusable(f"its argument {name[:80]!r} has a name that services refuse")
        properties = {key: held for key, held in properties.items() if key != name}
    found = {**found, "type": "object", "properties": properties}
    found.pop("required", None)
    if needed:
        found["required"] = needed
    _check(found)
    return _itemed(found)


def _itemed(schema: Any) -> Any:
    """Lists say what is in them, which may be anything: OpenAI refuses every request with one that does not say it."""
    if not is_object(schema):
        return schema
    found = dict(schema)
    for key, held in schema.items():
        if key in INNER:
            found[key] = _itemed(held)
        elif key in NAMED and is_object(held):
            found[key] = {name: _itemed(part) for name, part in held.items()}
        elif key in LISTED and is_list(held):
            found[key] = [_itemed(part) for part in held]
    kind = found.get("type")
    if (kind == "array" or (is_list(kind) and "array" in kind)) and "prefixItems" not in found:
        found.setdefault("items", {})
    return found


def _flat(schema: dict[str, Any]) -> dict[str, Any]:
    """Alternatives at the top become one object: of any of them nothing is required that another does without."""
    found = dict(schema)
    for key in COMBINED:
        parts: Any = found.pop(key, None)
        variants = [part for part in parts if is_object(part)] if is_list(parts) else []
        if not variants:
            continue
        merged: dict[str, Any] = {}
        for part in variants:
            inner: Any = part.get("properties", {})
            merged |= inner if is_object(inner) else {}
        own: Any = found.get("properties", {})
        found["properties"] = {**merged, **(own if is_object(own) else {})}
        sets = [{str(name) for name in part.get("required", ())} for part in variants]
        also = set[str]().union(*sets) if key == "allOf" else set[str].intersection(*sets)
        kept: Any = found.get("required", [])
        found["required"] = [*kept, *sorted(also - {str(name) for name in kept})]
    return found


def _check(schema: dict[str, Any]) -> None:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as problem:
        raise Unusable(f"its schema is no JSON Schema: {str(problem.message)[:200]}") from None
    except RecursionError:
        raise Unusable("its schema is nested too deeply") from None
    for reference in _references(schema):
        if not _leads_somewhere(schema, reference):
            raise Unusable(f"its schema refers to {reference[:80]!r}, which is not in it")


def _references(schema: Any) -> list[str]:
    if is_list(schema):
        return [found for part in schema for found in _references(part)]
    if not is_object(schema):
        return []
    own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    return [*own, *(found for part in schema.values() for found in _references(part))]


def _leads_somewhere(schema: Any, reference: str) -> bool:
    """Within the schema itself: nothing is fetched for it."""
    if reference == "#":
        return True
    if not reference.startswith("#/"):
        return False
    held = schema
    for part in reference[2:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if is_object(held) and name in held:
            held = held[name]
        elif is_list(held) and name.isdecimal() and int(name) < len(held):
            held = held[int(name)]
        else:
            return False
    return True

"""JSON both ways for every value of the kernel, and for the typed arguments of tools.

The type hints are the schema. Fields that hold their default are left out, so that a log stays small;
unknown fields are ignored, since a newer version may have written them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeGuard, TypeVar, get_args, get_type_hints

import msgspec

from agent_cli.kernel.errors import ArgumentsError
from agent_cli.kernel.events import Recorded

T = TypeVar("T")

LEFT_OUT = ("title", "default")
"""What a schema says that no model needs; each request pays for it."""
MOST_DEPTH = 100
"""Objects and lists inside one another, in what a model sends."""


FREE = (dict[str, Any],)
"""Arguments of a tool that somebody else checks."""


class WireError(ValueError):
    """The JSON does not fit the type; the message names the place."""


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of a tool's arguments. `Annotated[type, describe("…")]` gives a field its description."""


def describe(text: str) -> msgspec.Meta:
    """The description of one argument as the model reads it."""
    return msgspec.Meta(description=text)


def for_people(text: str) -> msgspec.Meta:
    """The same for the pages of the documentation alone: its name, and the tool's own text, tell a model enough."""
    return msgspec.Meta(extra={"for_people": text})


def described(kind: type[Any]) -> dict[str, str]:
    """What each argument of a struct is, whomever it is written for."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: _told(hints[name]) for name in kind.__struct_fields__}


def _told(hint: Any) -> str:
    metas = [meta for meta in getattr(hint, "__metadata__", ()) if isinstance(meta, msgspec.Meta)]
    texts = [meta.description or (meta.extra or {}).get("for_people", "") for meta in metas]
    return next(filter(None, texts), "")


def encode(value: Any) -> Any:
    """A JSON value: dicts, lists and scalars."""
    return msgspec.to_builtins(value)


def to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def decode(kind: type[T], data: Any) -> T:
    """A value of that type from a JSON value. Raises WireError."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as problem:
        raise WireError(str(problem)) from None


def encodable(kind: type[T], value: T) -> T:
    """The value itself, or a copy in which halves of surrogate pairs, which nothing can encode, are replaced.

    Raises WireError where it is no value of that type at all.
    """
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        return decode(kind, _whole(encode(value)))
    except (TypeError, ValueError, RecursionError) as problem:
        raise WireError(str(problem)) from None
    if not isinstance(value, kind):
        raise WireError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def _whole(data: Any) -> Any:
    if isinstance(data, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", data)
    if _is_row(data):
        return [_whole(one) for one in data]
    return {key: _whole(one) for key, one in data.items()} if is_object(data) else data


def event_from_json(text: str | bytes, kind: str = "") -> Recorded:
    """A fact from its JSON text. Raises WireError, also where it is none of the `kind` that is named.

    Naming it spares the first reading all the others: to learn to read every kind takes 10 ms.
    """
    try:
        return _one(kind).decode(text) if kind in _kinds() else _events().decode(text)
    except msgspec.MsgspecError as problem:
        raise WireError(str(problem)) from None


@cache
def _kinds() -> dict[str, type[Recorded]]:
    return {str(kind.__struct_config__.tag): kind for kind in get_args(Recorded)}


@cache
def _one(kind: str) -> msgspec.json.Decoder[Recorded]:
    return msgspec.json.Decoder(_kinds()[kind])


@cache
def _events() -> msgspec.json.Decoder[Recorded]:
    return msgspec.json.Decoder(Recorded)


def is_object(data: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(data, dict)


def is_list(data: Any) -> TypeGuard[list[Any]]:
    return isinstance(data, list)


def _is_row(data: Any) -> TypeGuard[Iterable[Any]]:
    return isinstance(data, list | tuple)


def is_too_deep(data: Any) -> bool:
    """Whether it is nested deeper than MOST_DEPTH: such a value could be read, but not be written again."""
    level: list[Any] = [data]
    for _ in range(MOST_DEPTH):
        level = [item for held in level for item in _held_by(held) if isinstance(item, (dict, list))]
        if not level:
            return False
    return True


def _held_by(data: Any) -> Iterable[Any]:
    return data.values() if is_object(data) else data


def arguments(kind: type[T], data: dict[str, Any]) -> T:
    """A tool's arguments from what a model sent; "12" is taken for a number, null for an argument left out.

    Raises ArgumentsError naming what would fit.
    """
    if kind in FREE:  # whoever takes anything may be told null, too
        return msgspec.convert(data, kind)
    given = {name: value for name, value in data.items() if value is not None}
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as problem:
        raise ArgumentsError(_explain(str(problem), kind)) from None


def _explain(problem: str, kind: type[Any]) -> str:
    names = sorted(field.encode_name for field in msgspec.structs.fields(kind))
    unknown = re.search(r"unknown field `(\w+)`", problem)
    near = difflib.get_close_matches(unknown.group(1), names, n=1) if unknown else []
    hint = f"did you mean '{near[0]}'?" if near else f"the arguments are {', '.join(names)}"
    return f"{problem.replace('Object', 'the arguments object', 1)}; {hint}"


@cache
def schema_of(kind: type[Any]) -> dict[str, Any]:
    """JSON Schema of a struct of arguments, with every reference written out."""
    (schema,), shared = msgspec.json.schema_components([kind], ref_template="{name}")
    return _written_out(schema, shared)


def _written_out(schema: Any, shared: dict[str, Any]) -> Any:
    if is_list(schema):
        return [_written_out(item, shared) for item in schema]
    if not is_object(schema):
        return schema
    if "$ref" in schema:
        return _written_out(shared[str(schema["$ref"])], shared)
    kept = {key: value for key, value in schema.items() if key not in LEFT_OUT and value != []}
    if (
        kept.get("additionalProperties") is False
    ):  # each unknown argument is answered with those that there are
        del kept["additionalProperties"]
    options = [option for option in kept.pop("anyOf", []) if option != {"type": "null"}]
    if len(options) == 1:  # an argument that may be left out needs no null beside its type
        return {**_written_out(options[0], shared), **kept}
    if options:
        kept["anyOf"] = options
    if "properties" in kept:
        kept["properties"] = {name: _written_out(held, shared) for name, held in kept["properties"].items()}
        return {
            key: value if key == "properties" else _written_out(value, shared) for key, value in kept.items()
        }
    return {key: _written_out(value, shared) for key, value in kept.items()}

"""The settings by their dotted keys: what there is, what is near, what a text means there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, TypeGuard, Union, get_args, get_origin

import msgspec

from agent_cli.config.kinds import REST, Section
from agent_cli.config.settings import Settings

Path: TypeAlias = tuple[str, ...]
"""A dotted key in its parts. Names of providers and models are one part, dots included."""

SCHEMA = "$schema"
"""What a file may say at its top for an editor."""
NAMED = ("providers", "models", "task_classes")
"""Sections whose second part is a name that the operator chooses."""
HEADERS = "headers"
"""Of a provider: what stands in it are names and texts of the operator's."""


class Shape(NamedTuple):
    """What an annotation says: the type, what it is bound by, and whether null stands for nothing."""

    kind: Any
    metas: tuple[msgspec.Meta, ...] = ()
    optional: bool = False


class Field(NamedTuple):
    """A key of a section. `default` is NODEFAULT where a value must be given."""

    annotation: Any
    default: Any

    @property
    def description(self) -> str:
        return next((meta.description for meta in shape(self.annotation).metas if meta.description), "")


class Key(NamedTuple):
    """`name` is dotted; NAME stands for what the operator chooses."""

    name: str
    field: Field

    @property
    def named(self) -> bool:
        """Whether it belongs to something that the operator names."""
        return ".NAME." in self.name

    @property
    def description(self) -> str:
        return self.field.description

    @property
    def default(self) -> Any:
        return self.field.default


def shape(annotation: Any) -> Shape:
    """What stands outside counts before what stands inside."""
    kind: Any = annotation
    metas: list[msgspec.Meta] = []
    optional = False
    while True:
        if get_origin(kind) is Annotated:
            kind, *beside = get_args(kind)
            metas += [meta for meta in beside if isinstance(meta, msgspec.Meta)]
        elif get_origin(kind) in {Union, UnionType}:
            (kind,) = (inner for inner in get_args(kind) if inner is not NoneType)
            optional = True
        else:
            return Shape(kind, tuple(metas), optional)


@cache
def fields_of(section: type[Section]) -> dict[str, Field]:
    """The keys of a section, in the order of the schema."""
    return {name: field for name, field in _all_of(section).items() if not _is_rest(field)}


@cache
def rest_of(section: type[Section]) -> tuple[str, Field] | None:
    """The attribute that holds what the operator names beside the keys of that section, if there may be such."""
    return next(((name, field) for name, field in _all_of(section).items() if _is_rest(field)), None)


def row_of(section: type[Section]) -> type[Section] | None:
    """What each of those is."""
    rest = rest_of(section)
    return shape(get_args(shape(rest[1].annotation).kind)[1]).kind if rest else None


def written(section: Section) -> dict[str, Any]:
    """The values as a config file holds them."""
    rest = rest_of(type(section))
    tree: dict[str, Any] = {}
    for name in section.__struct_fields__:
        value = getattr(section, name)
        if rest and name == rest[0]:
            tree |= {row: written(held) for row, held in value.items()}
        else:
            tree[name] = written(value) if isinstance(value, Section) else msgspec.to_builtins(value)
    return tree


def _all_of(section: type[Section]) -> dict[str, Field]:
    return {
        field.name: Field(
            field.type,
            field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory(),
        )
        for field in msgspec.structs.fields(section)
    }


def _is_rest(field: Field) -> bool:
    return any(meta.extra and REST in meta.extra for meta in shape(field.annotation).metas)


def names_of(kind: Any) -> tuple[str, ...]:
    """The names that things of a mapping may have, () where the operator chooses them."""
    if get_origin(kind) is not dict:
        return ()
    name = get_args(kind)[0]
    return get_args(name) if get_origin(name) is Literal else ()


def is_section(kind: Any) -> TypeGuard[type[Section]]:
    return isinstance(kind, type) and issubclass(kind, Section)


@cache
def all_keys() -> tuple[Key, ...]:
    """Every setting, in the order of the schema."""
    return tuple(_keys(Settings, ""))


def json_schema() -> dict[str, Any]:
    """Of a config file, for editors and checkers."""
    found = msgspec.json.schema(Settings)
    says = "Where an editor finds this schema; it is not read."
    found["$defs"][Settings.__name__]["properties"][SCHEMA] = {"type": "string", "description": says}
    for section in {held for held in _sections(Settings) if rest_of(held)}:
        rest = rest_of(section)
        described = found["$defs"][section.__name__]
        if rest:
            described["additionalProperties"] = described["properties"].pop(rest[0])["additionalProperties"]
    return found


def _sections(section: type[Section]) -> Iterator[type[Section]]:
    yield section
    for field in fields_of(section).values():
        kind = shape(field.annotation).kind
        if is_section(kind):
            yield from _sections(kind)


def path_of(dotted: str) -> Path:
    parts = dotted.split(".")
    if parts[0] == "providers" and HEADERS in parts[2:-1]:
        at = parts.index(HEADERS, 2)
        return parts[0], ".".join(parts[1:at]), HEADERS, ".".join(parts[at + 1 :])
    if parts[0] in NAMED and len(parts) > 3:
        return parts[0], ".".join(parts[1:-1]), parts[-1]
    return tuple(parts)


def field_at(path: Path) -> Field | None:
    """The setting at that place; None for sections and for what does not exist."""
    kind: Any = Settings
    for index, part in enumerate(path):
        if is_section(kind):
            field = fields_of(kind).get(part)
            if field is None:
                kind = row_of(kind)
                continue
            kind = shape(field.annotation).kind
            if _is_texts(kind):
                return field if len(path) - index <= 2 else None
            if index == len(path) - 1:
                return None if is_section(kind) or get_origin(kind) is dict else field
        elif get_origin(kind) is dict and part in (names_of(kind) or (part,)):
            kind = shape(get_args(kind)[1]).kind
        else:
            return None
    return None


def siblings(path: Path) -> list[str]:
    """The keys that stand where the last part of the path stands."""
    kind: Any = Settings
    for part in path[:-1]:
        if is_section(kind):
            known = fields_of(kind).get(part)
            kind = shape(known.annotation).kind if known else row_of(kind)
        elif get_origin(kind) is dict:
            kind = shape(get_args(kind)[1]).kind
        elif get_origin(kind) is tuple:
            kind = shape(get_args(kind)[0]).kind
        else:
            return []
    return list(fields_of(kind)) if is_section(kind) else list(names_of(kind))


def nearest(path: Path) -> str:
    """The dotted key that was probably meant, or ""."""
    import difflib

    beside = {name: ".".join((*path[:-1], name)) for name in siblings(path)}
    anywhere = {key.name.rpartition(".")[2]: key.name for key in reversed(all_keys())}
    for known, cutoff in ((beside, 0.6), (anywhere, 0.85)):
        close = difflib.get_close_matches(path[-1], known, n=1, cutoff=cutoff)
        if close:
            return known[close[0]]
    parts = [name for name in beside if len(path[-1]) >= 3 and path[-1] in name]
    return beside[parts[0]] if len(parts) == 1 else ""


def from_text(field: Field, text: str) -> Any:
    """What a text of the environment or the command line means for that setting. Never fails.

    Lists are JSON or separated by commas.
    """
    kind = shape(field.annotation).kind
    if get_origin(kind) is tuple:
        return _list(text)
    if kind in {int, float}:
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def _list(text: str) -> Any:
    import json

    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return [item.strip() for item in text.split(",") if item.strip()]


def _keys(section: type[Section], prefix: str) -> Iterator[Key]:
    for name, field in fields_of(section).items():
        kind = shape(field.annotation).kind
        if is_section(kind):
            yield from _keys(kind, f"{prefix}{name}.")
        elif get_origin(kind) is dict and not _is_texts(kind):
            yield from _keys(get_args(kind)[1], f"{prefix}{name}.NAME.")
        else:
            yield Key(prefix + name, field)
    row = row_of(section)
    if row is not None:
        yield from _keys(row, f"{prefix}NAME.")


def _is_texts(kind: Any) -> bool:
    """Names and texts (or numbers, or any values) that the operator chooses, both."""
    return get_origin(kind) is dict and shape(get_args(kind)[1]).kind in (str, int, Any)

"""The settings by their dotted keys: what there is, what is near, what a text means there."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from agent_cli.config.settings import Settings

Path: TypeAlias = tuple[str, ...]
"""A dotted key in its parts. Names of providers and models are one part, dots included."""

NAMED = ("providers", "models")
"""Sections whose second part is a name that the operator chooses."""
HEADERS = "headers"
"""Of a provider: what stands in it are names and texts of the operator's."""


class Key(NamedTuple):
    """`name` is dotted; NAME stands for what the operator chooses."""

    name: str
    field: FieldInfo

    @property
    def named(self) -> bool:
        """Whether it belongs to something that the operator names."""
        return ".NAME." in self.name

    @property
    def description(self) -> str:
        return self.field.description or ""

    @property
    def default(self) -> Any:
        return self.field.get_default(call_default_factory=True)


def all_keys() -> tuple[Key, ...]:
    """Every setting, in the order of the schema."""
    return tuple(_keys(Settings, ""))


def path_of(dotted: str) -> Path:
    parts = dotted.split(".")
    if parts[0] == "providers" and HEADERS in parts[2:-1]:
        at = parts.index(HEADERS, 2)
        return parts[0], ".".join(parts[1:at]), HEADERS, ".".join(parts[at + 1 :])
    if parts[0] in NAMED and len(parts) > 3:
        return parts[0], ".".join(parts[1:-1]), parts[-1]
    return tuple(parts)


def field_at(path: Path) -> FieldInfo | None:
    """The setting at that place; None for sections and for what does not exist."""
    kind: Any = Settings
    for index, part in enumerate(path):
        if _is_model(kind):
            field = kind.model_fields.get(part)
            if field is None:
                return None
            kind = field.annotation
            if _is_texts(kind):
                return field if len(path) - index <= 2 else None
            if index == len(path) - 1:
                return None if _is_model(kind) or get_origin(kind) is dict else field
        elif get_origin(kind) is dict:
            kind = get_args(kind)[1]
        else:
            return None
    return None


def siblings(path: Path) -> list[str]:
    """The keys that stand where the last part of the path stands."""
    kind: Any = Settings
    for part in path[:-1]:
        if _is_model(kind) and part in kind.model_fields:
            kind = kind.model_fields[part].annotation
        elif get_origin(kind) in {dict, tuple}:
            kind = _atoms(next(inner for inner in reversed(get_args(kind)) if inner is not ...))[0]
        else:
            return []
    return list(kind.model_fields) if _is_model(kind) else []


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


def from_text(field: FieldInfo, text: str) -> Any:
    """What a text of the environment or the command line means for that setting. Never fails.

    Lists are JSON or separated by commas.
    """
    kinds = _atoms(field.annotation)
    if any(get_origin(kind) is tuple for kind in kinds):
        return _list(text)
    if str in kinds or any(get_origin(kind) is Literal for kind in kinds):
        return text
    for kind in (int, float):
        if kind in kinds:
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


def _atoms(kind: Any) -> list[Any]:
    """The types in a union, without None and without what stands beside them in `Annotated`."""
    if get_origin(kind) is Annotated:
        return _atoms(get_args(kind)[0])
    if get_origin(kind) in {Union, UnionType}:
        return [atom for inner in get_args(kind) for atom in _atoms(inner)]
    return [] if kind is NoneType else [kind]


def _keys(kind: type[BaseModel], prefix: str) -> Iterator[Key]:
    for name, field in kind.model_fields.items():
        inner: Any = field.annotation
        if _is_model(inner):
            yield from _keys(inner, f"{prefix}{name}.")
        elif get_origin(inner) is dict and not _is_texts(inner):
            yield from _keys(get_args(inner)[1], f"{prefix}{name}.NAME.")
        else:
            yield Key(prefix + name, field)


def _is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _is_texts(kind: Any) -> bool:
    """Names and texts that the operator chooses, both."""
    return get_origin(kind) is dict and get_args(kind)[1] is str

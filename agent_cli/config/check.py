"""Plain values by the schema: a section of settings, or everything that does not fit."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard, TypeVar, get_args, get_origin

import msgspec

from agent_cli.config.fields import Shape, fields_of, is_section, names_of, rest_of, shape
from agent_cli.config.kinds import READ, Section
from agent_cli.kernel.wire import is_object

S = TypeVar("S", bound=Section)

TYPES: dict[Any, str] = {
    int: "must be a whole number",
    float: "must be a number",
    str: "must be a text",
    bool: "must be true or false",
}
BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "gt": (operator.gt, "must be more than"),
    "ge": (operator.ge, "must be at least"),
    "lt": (operator.lt, "must be less than"),
    "le": (operator.le, "must be at most"),
}


class Mistake(NamedTuple):
    """`path` leads to what is wrong. `wanted` says what would fit; it is "" for a key that does not exist.
    `choices` are the texts that could have been meant.
    """

    path: tuple[str | int, ...]
    wanted: str = ""
    choices: tuple[str, ...] = ()


class Refused(Exception):
    """Values that do not fit the schema: all the mistakes, in the order they stand in."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__("; ".join(f"{mistake.path}: {mistake.wanted or 'unknown'}" for mistake in mistakes))
        self.mistakes = mistakes


def read(section: type[S], tree: dict[str, Any]) -> S:
    """Nothing is converted but what the schema reads: "4h" for seconds, PATH:ACCESS, whole numbers for any.

    Raises Refused.
    """
    reader = _Reader()
    values = reader.keyed(section, tree, ())
    if reader.mistakes:
        raise Refused(reader.mistakes)
    return section(**values)


class _Reader:
    """What it returns of a value that does not fit is never used: there is a mistake then."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def keyed(
        self, section: type[Section], tree: dict[str, Any], path: tuple[str | int, ...]
    ) -> dict[str, Any]:
        fields, rest = fields_of(section), rest_of(section)
        found: dict[str, Any] = {}
        named: dict[str, Any] = {}
        for name, value in tree.items():
            if name in fields:
                found[name] = self._value(fields[name].annotation, value, (*path, name))
            elif rest and is_object(value):
                named[name] = value
            else:
                self.mistakes.append(Mistake((*path, name)))
        if rest:
            found[rest[0]] = self._value(rest[1].annotation, named, path)
        for name, field in fields.items():
            if field.default is msgspec.NODEFAULT and name not in tree:
                self.mistakes.append(Mistake((*path, name), "is missing"))
        return found

    def _value(self, annotation: Any, value: Any, path: tuple[str | int, ...]) -> Any:
        wanted = shape(annotation)
        if value is None and wanted.optional:
            return None
        try:
            return self._fitting(wanted, _written(wanted, value), path)
        except ValueError as problem:
            choices = get_args(wanted.kind) if get_origin(wanted.kind) is Literal else ()
            self.mistakes.append(Mistake(path, str(problem), choices))
            return None

    def _fitting(self, wanted: Shape, value: Any, path: tuple[str | int, ...]) -> Any:
        kind = wanted.kind
        if is_section(kind):
            before = len(self.mistakes)
            found = self.keyed(kind, _object(value), path)
            return kind(**found) if len(self.mistakes) == before else None
        if get_origin(kind) is dict:
            return {
                self._name(name, path, names_of(kind)): self._value(get_args(kind)[1], held, (*path, name))
                for name, held in _object(value).items()
            }
        if get_origin(kind) is tuple:
            inner = get_args(kind)[0]
            return tuple(self._value(inner, held, (*path, place)) for place, held in enumerate(_items(value)))
        return _single(wanted, value)

    def _name(self, name: str, path: tuple[str | int, ...], known: tuple[str, ...]) -> str:
        if not name:
            self.mistakes.append(Mistake(path, "must not hold an empty name"))
        elif known and name not in known:
            self.mistakes.append(Mistake((*path, name)))
        return name


def _written(wanted: Shape, value: Any) -> Any:
    """What a value as it is written means. Raises ValueError."""
    for meta in wanted.metas:
        if meta.extra and READ in meta.extra:
            value = meta.extra[READ](value)
    return value


def _object(value: Any) -> dict[str, Any]:
    if not is_object(value):
        raise ValueError("must hold keys and values")
    return value


def _items(value: Any) -> Sequence[Any]:
    if not _is_items(value):
        raise ValueError("must be a list")
    return value


def _is_items(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _single(wanted: Shape, value: Any) -> Any:
    """A text, a number, a switch or one of several texts. Raises ValueError that says what would fit."""
    if get_origin(wanted.kind) is Literal:
        return _chosen(get_args(wanted.kind), value)
    try:
        found = msgspec.convert(value, wanted.kind)
    except (msgspec.ValidationError, UnicodeEncodeError):
        raise ValueError(TYPES[wanted.kind]) from None
    if wanted.kind is float and not math.isfinite(found):
        raise ValueError("must be a finite number")
    if wanted.kind is str and not _is_unicode(found):
        raise ValueError("must be a text without broken characters")
    for meta in wanted.metas:
        if meta.min_length and len(found) < meta.min_length:
            raise ValueError("must not be empty")
        for name, (holds, words) in BOUNDS.items():
            bound = getattr(meta, name)
            if bound is not None and not holds(found, bound):
                raise ValueError(f"{words} {bound}")
    return found


def _is_unicode(text: str) -> bool:
    """Half of a surrogate pair can neither be sent nor kept."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _chosen(choices: tuple[str, ...], value: Any) -> Any:
    if value not in choices:
        *most, last = [f"'{choice}'" for choice in choices]
        raise ValueError(f"must be {', '.join(most)} or {last}")
    return value

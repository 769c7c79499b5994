"""The types of settings: ranges, how a value is read, and what a section is."""

import re
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from agent_cli.config.durations import seconds

READ = "read"
"""In `Meta.extra`: what makes of a value as it is written the one that the type means, or raises ValueError."""


REST = "rest"
"""In `Meta.extra`: names that the operator chooses, beside the keys of the section itself."""


LEAST_WINDOW = 1000
"""Tokens."""


def read(reader: Callable[[Any], Any]) -> Meta:
    return Meta(extra={READ: reader})


def says(description: str) -> Meta:
    return Meta(description=description)


def _endpoint(value: object) -> object:
    if isinstance(value, str) and not re.match(r"https?://[^/\s]+", value):
        raise ValueError("must be an address that begins with http:// or https://")
    return value


def _variable(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError(
            "must be the name of an environment variable; the key itself never stands in a config file"
        )
    return value


def allowed_path(value: Any) -> Any:
    """An item of `path_scope.allow_paths`, also as `--allow-path` takes it: PATH or PATH:ACCESS."""
    if not isinstance(value, str):
        return value
    path, _, access = value.rpartition(":")
    return {"path": path, "access": access} if path and access in {"r", "w", "rw"} else {"path": value}


def _file(value: object) -> object:
    if isinstance(value, str) and ("\0" in value or "://" in value):
        raise ValueError("must be the path of a file")
    return value


def _switch(value: object) -> object:
    """Also in words, as the environment has them."""
    known = {
        "true": True,
        "on": True,
        "yes": True,
        "1": True,
        "false": False,
        "off": False,
        "no": False,
        "0": False,
    }
    return known.get(str(value).strip().lower(), value)


def _limit(value: object) -> object:
    if isinstance(value, int) and 0 < value < LEAST_WINDOW:
        raise ValueError(f"must be at least {LEAST_WINDOW}, or 0 for never")
    return value


beside_the_keys = Meta(extra={REST: True})

Count = Annotated[int, Meta(ge=1)]
Window = Annotated[int, Meta(ge=LEAST_WINDOW)]
Limit = Annotated[int, Meta(ge=0), read(_limit)]
Ceiling = Annotated[int, Meta(ge=0)]
Number = Annotated[float, Meta(ge=0)]
Money = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Duration = Annotated[float, read(seconds)]
Switch = Annotated[bool, read(_switch)]
Name = Annotated[str, Meta(min_length=1)]
File = Annotated[str, Meta(min_length=1), read(_file)]
Endpoint = Annotated[str, Meta(min_length=1), read(_endpoint)]
Variable = Annotated[str, Meta(min_length=1), read(_variable)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Keys that belong together. Texts are not empty, numbers are finite."""

    def given(self) -> dict[str, Any]:
        """What is not None, by key."""
        values = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: value for name, value in values if value is not None}

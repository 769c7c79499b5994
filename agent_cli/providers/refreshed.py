"""What services said of their own models when `agent-cli models refresh` asked: a file of the user over the table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain

FILE = "models.json"
"""In the state directory."""


class Listed(Plain, frozen=True):
    """One model as its service lists it; None where it does not say."""

    id: str
    window: int | None = None
    max_output: int | None = None


class Service(Plain, frozen=True):
    """The list of one provider. `date` is the ISO date of the day it was asked, `url` who was."""

    provider: str
    date: str
    url: str
    models: tuple[Listed, ...]


def read(path: Path) -> tuple[Service, ...]:
    """Nothing where there is no file. Raises ConfigError where it is not readable."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Service, ...])
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise ConfigError(
            f"{path} cannot be read ({problem}). It holds what services say of their models: remove it, or write it anew"
            " with `agent-cli models refresh`."
        ) from None


def write(path: Path, fresh: tuple[Service, ...]) -> tuple[Service, ...]:
    """Puts these lists in the place of older ones of the same providers. Returns all. Raises ConfigError."""
    import tempfile

    try:
        kept = read(path)
    except ConfigError:
        kept = ()
    asked = {service.provider for service in fresh}
    whole = (*(service for service in kept if service.provider not in asked), *fresh)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(whole), indent=1))
        Path(name).replace(path)
    except OSError as problem:
        raise ConfigError(f"{path} cannot be written: {problem.strerror}.") from None
    return whole


def over(
    services: tuple[Service, ...], overrides: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Fields of cards by model name: the services' own figures, and what config says over them."""
    known: dict[str, dict[str, Any]] = {}
    for service in services:
        for model in service.models:
            figures = {"window": model.window, "max_output": model.max_output}
            known[model.id] = {name: value for name, value in figures.items() if value is not None}
    for name, fields in overrides.items():
        known[name] = {**known.get(name, {}), **fields}
    return known

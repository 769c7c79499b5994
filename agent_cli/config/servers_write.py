"""Adds and removes servers in `mcp.json`, and leaves everything else in the file as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_cli.config import files
from agent_cli.config.servers import FILE, SERVERS
from agent_cli.config.write import alone, blank, into_object, members_of, replace
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.wire import is_object


def add_server(directory: Path, name: str, entry: dict[str, Any]) -> Path:
    """Into the `mcp.json` of that directory, which is made where it is missing. Returns the file. Raises ConfigError."""
    file = directory / FILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with alone(directory):
            text = files.text_of(file, exact=True) if file.exists() else "{}\n"
            held = _held(file, text)
            if name in held:
                raise ConfigError(
                    f"{file} has a server '{name}' already. Remove it first: agent-cli mcp remove {name}"
                )
            replace(file, _checked(file, _with(text, name, entry), {**held, name: entry}))
    except OSError as problem:
        raise ConfigError(f"{file} could not be written: {problem}.") from problem
    return file


def remove_server(file: Path, name: str) -> None:
    """Raises ConfigError where it is not in it."""
    try:
        with alone(file.parent):
            text = files.text_of(file, exact=True)
            held = _held(file, text)
            if name not in held:
                raise ConfigError(f"{file} has no server '{name}'.")
            replace(
                file,
                _checked(file, _without(text, name), {key: one for key, one in held.items() if key != name}),
            )
    except OSError as problem:
        raise ConfigError(f"{file} could not be written: {problem}.") from problem


def _held(file: Path, text: str) -> dict[str, Any]:
    held: Any = files.parse(file, text).get(SERVERS, {})
    if not is_object(held):
        raise ConfigError(f"{file}: {SERVERS} is no object. Mend the file first.")
    return held


def _with(text: str, name: str, entry: dict[str, Any]) -> str:
    new = f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(entry, ensure_ascii=False, indent=2)}"
    top = blank(text, 1 if text.startswith("\ufeff") else 0)
    outer = members_of(text, top)
    if SERVERS not in outer:
        inner = _indented(f"{{\n  {_indented(new, 2)}\n}}", 2)
        return into_object(text, top, outer, f'"{SERVERS}": {inner}')
    start = outer[SERVERS].start
    return into_object(text, start, members_of(text, start), _indented(new, 4))


def _without(text: str, name: str) -> str:
    """Its comma goes with it: the one behind it, or, of the last one, the one before."""
    start = members_of(text, blank(text, 1 if text.startswith("\ufeff") else 0))[SERVERS].start
    held = members_of(text, start)
    one = held[name]
    behind = blank(text, one.end)
    if text[behind] == ",":
        return text[: one.key] + text[blank(text, behind + 1) :]
    before = text[: one.key].rstrip()
    return before.removesuffix(",") + text[one.end :]


def _indented(text: str, by: int) -> str:
    return text.replace("\n", "\n" + " " * by)


def _checked(file: Path, text: str, wanted: dict[str, Any]) -> str:
    """Only a text that means exactly what was meant is written."""
    try:
        found = files.parse(file, text.removeprefix("\ufeff")).get(SERVERS)
    except ConfigError:
        found = None
    if found != wanted:
        raise ConfigError(f"{file} cannot be changed without disturbing it. Change it by hand.")
    return text

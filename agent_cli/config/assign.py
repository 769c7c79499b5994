"""Sets one key in a config file; everything else in it stays: order, unknown keys, comments of TOML."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from agent_cli.config import check, fields, files, problems
from agent_cli.config.settings import Settings
from agent_cli.config.write import alone, replace
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.wire import is_object


def assign(directory: Path, key: str, text: str) -> Path:
    """Writes `key` (dotted) with the value that `text` means there. The directory and the file are made if missing.

    Returns the file. Raises ConfigError for an unknown key (with the nearest), a value out of range, a file that
    is broken or cannot be written.
    """
    path = fields.path_of(key)
    field = fields.field_at(path)
    if field is None:
        raise ConfigError(problems.unknown(path, "config set"))
    value = fields.from_text(field, text)
    tree = _put({}, path, value)
    try:
        check.read(Settings, tree)
    except check.Refused as refused:
        told = "\n".join(problems.told(mistake, "config set", tree) for mistake in refused.mistakes)
        raise ConfigError(told) from None
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone(directory):
            file = files.in_directory(directory) or directory / files.NAMES[0]
            before = files.text_of(file, exact=True) if file.exists() else "{}\n"
            files.parse(file, before)
            replace(
                file, _toml(before, path, value) if file.suffix == ".toml" else _json(before, path, value)
            )
    except OSError as problem:
        raise ConfigError(f"{key} could not be written to {directory}: {problem}.") from problem
    return file


def _json(text: str, path: fields.Path, value: Any) -> str:
    """With the indentation that the file has."""
    found = re.search(r"\n([ \t]+)\S", text)
    indent: int | str = found.group(1) if found else 2
    tree: dict[str, Any] = json.loads(text.removeprefix("\ufeff"))
    return json.dumps(_put(tree, path, value), indent=indent, ensure_ascii=False) + "\n"


def _toml(text: str, path: fields.Path, value: Any) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    _put(document, path, value)
    return tomlkit.dumps(document)


def _put(tree: Any, path: fields.Path, value: Any) -> Any:
    """The tree with the value at that place; what stands in the way is replaced."""
    held = tree
    for part in path[:-1]:
        if not is_object(held.get(part)):
            held[part] = {}
        held = held[part]
    held[path[-1]] = value
    return tree

"""Config files as plain values, or a ConfigError that says where the file is wrong."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.wire import is_list, is_object, is_too_deep

NAMES = ("config.json", "config.toml")

LARGEST = 4_000_000
"""Bytes of a file that the operator wrote."""

HANDED_OVER = "/dev/fd/"
"""What a shell makes of `<(command)`: a pipe that somebody does write to."""

PLACEHOLDER = re.compile(r"\$\{env:([^}]*)\}")


def in_directory(directory: Path) -> Path | None:
    """The config file of that directory. Raises ConfigError where there are two."""
    found = [path for path in (directory / name for name in NAMES) if path.exists() or path.is_symlink()]
    if len(found) == 2:
        raise ConfigError(
            f"{directory} holds both config.json and config.toml, and neither counts for more. "
            "Merge them into one and remove the other."
        )
    return found[0] if found else None


def stands(file: Path) -> bool:
    """Whether something is there, were it a link to nothing. What cannot be looked at is, so that reading it tells why."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def read(file: Path) -> dict[str, Any]:
    """The content of a config file: TOML by its suffix, else JSON. Raises ConfigError."""
    return parse(file, text_of(file))


def text_of(file: Path, *, exact: bool = False) -> str:
    """With `exact`, byte order mark and line ends as they are. Raises ConfigError."""
    try:
        text = _bytes_of(file).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise ConfigError(
            f"{file} is not UTF-8 (byte {problem.start}), so it cannot be read. Save it as UTF-8."
        ) from None
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise ConfigError(f"{file} cannot be read: {why}. Mend or remove it.") from None
    return text if exact else text.removeprefix("\ufeff")


def _bytes_of(file: Path) -> bytes:
    """Of a file that has an end: neither waits for a writer nor fills the memory. Raises OSError, ValueError."""
    mode = file.stat().st_mode
    handed_over = stat.S_ISFIFO(mode) and str(file).startswith(HANDED_OVER)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or handed_over):
        raise ValueError("it is no regular file")
    with file.open("rb") as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"it holds more than {LARGEST:,} bytes")
    return data


def parse(file: Path, text: str) -> dict[str, Any]:
    """Raises ConfigError with line and column."""
    tree = _toml(file, text) if file.suffix == ".toml" else _json(file, text)
    if is_too_deep(tree):
        raise ConfigError(f"{file} is nested deeper than anything that it could say. Mend it.")
    return tree


def fill(
    tree: dict[str, Any], environ: Mapping[str, str], missing: dict[str, str], origin: str
) -> dict[str, Any]:
    """The tree with every `${env:NAME}` filled in. Names without a value are put into `missing`."""

    def filled(value: Any, key: str) -> Any:
        if isinstance(value, str):
            for name in PLACEHOLDER.findall(value):
                if name not in environ:
                    missing.setdefault(name, f"{key} in {origin}")
            return PLACEHOLDER.sub(lambda found: environ.get(found[1], ""), value)
        if is_object(value):
            return {name: filled(held, f"{key}.{name}" if key else name) for name, held in value.items()}
        if is_list(value):
            return [filled(held, key) for held in value]
        return value

    return {name: filled(value, name) for name, value in tree.items()}


def _json(file: Path, text: str) -> dict[str, Any]:
    try:
        tree = json.loads(text, object_pairs_hook=_once, parse_constant=_finite)
    except json.JSONDecodeError as problem:
        raise ConfigError(
            f"{file}:{problem.lineno}:{problem.colno}: this is not JSON: {problem.msg}. Mend it, or remove the file."
        ) from None
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{file}: {problem}. Mend it.") from None
    if not is_object(tree):
        raise ConfigError(f'{file} must hold one object: {{"model": {{…}}, …}}.')
    return tree


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{twice}' stands twice in one object, and only one of them could count")
    return tree


def _finite(constant: str) -> None:
    raise ValueError(f"{constant} is not a number that JSON knows")


def _toml(file: Path, text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(problem))
        where = f":{place[1]}:{place[2]}" if place else ""
        what = str(problem).split(" (at ", maxsplit=1)[0]
        raise ConfigError(f"{file}{where}: this is not TOML: {what}. Mend it, or remove the file.") from None

"""Calls compared canonically: keys sorted, values under path-shaped keys cleaned, nothing else touched."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from typing import Any, NamedTuple, TypeGuard

from agent_cli.kernel.messages import ToolCall

PATH_WORDS = frozenset({
    "path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "root", "cwd",
    "target", "source", "destination", "src", "dst", "dest",
})  # fmt: skip
"""A key whose last word is one of these holds a path: `file_path`, `filePath`, `target_directory`."""
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")


class Spelled(NamedTuple):
    """`key` is equal for all spellings of one call; `rest` is it without the paths, which `paths` holds in order."""

    key: str
    rest: str
    paths: tuple[str, ...]


def spelled(call: ToolCall) -> Spelled:
    """Costs what the arguments are long; what it returns is short."""
    if call.arguments is None:
        rest = _short(call.name, call.raw)
        return Spelled(rest, rest, ())
    paths: list[str] = []
    others = {key: _without(key, value, paths) for key, value in sorted(call.arguments.items())}
    rest = _short(call.name, json.dumps(others, sort_keys=True))
    return Spelled(_short(call.name, "\0".join((rest, *paths))) if paths else rest, rest, tuple(paths))


def same_call(one: Spelled, other: Spelled) -> bool:
    """Equal, or equal but for paths of which one spelling is the end of the other on a component boundary."""
    if one.key == other.key:
        return True
    return (
        one.rest == other.rest
        and len(one.paths) == len(other.paths)
        and all(same_path(first, second) for first, second in zip(one.paths, other.paths, strict=True))
    )


def same_path(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long == short or long.endswith("/" + short.lstrip("/"))


def _without(key: str, value: Any, paths: list[str]) -> Any:
    """The value with its paths, cleaned, taken out of it."""
    if not _is_path(key):
        return value
    if isinstance(value, str):
        paths.append(_clean(value))
        return None
    if _is_texts(value):
        paths += [_clean(path) for path in value]
        return len(value)
    return value


def _is_path(key: str) -> bool:
    words = _WORDS.findall(key)
    return bool(words) and words[-1].lower() in PATH_WORDS


def _is_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)  # pyright: ignore[reportUnknownVariableType]  any list


def _clean(path: str) -> str:
    return posixpath.normpath(path) if path else path


def _short(name: str, text: str) -> str:
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=12)
    return f"{name} {digest.hexdigest()}"

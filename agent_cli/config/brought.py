"""What a project brings that waits for trust, in a line each: rules, commands of hooks and servers, names of files."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_cli.config import files
from agent_cli.config.trust import FOREIGN, Waiting
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.wire import is_list, is_object

LONGEST = 110
"""Characters that are told of one; the rest is counted."""


def brought(project: Path, found: Waiting) -> tuple[str, ...]:
    """The names of `found`, each with what stands behind it as far as it is short, on one line. What cannot be read is only named."""
    tree: dict[str, Any] = {}
    with contextlib.suppress(ConfigError):
        file = files.in_directory(project)
        tree = files.read(file) if file else {}
    lines = [(key, _values(_at(tree, key))) for key in found.keys]
    for name in found.names:
        base = project.parent if name in FOREIGN else project
        lines.append((name, list(_inside(base / name))))
    return tuple(" ".join(f"{name}{_shortly(told)}".split()) for name, told in lines)


def _shortly(told: list[str]) -> str:
    shown: list[str] = []
    for each in told:
        if shown and sum(map(len, shown)) + len(each) > LONGEST:
            return f": {', '.join(shown)}, and {len(told) - len(shown)} more"
        shown.append(each if len(each) <= LONGEST else f"{each[: LONGEST - 1]}…")
    return f": {', '.join(shown)}" if shown else ""


def _at(tree: dict[str, Any], key: str) -> Any:
    found: Any = tree
    for part in key.split("."):
        found = found.get(part) if is_object(found) else None
    return found


def _values(value: Any) -> list[str]:
    if is_list(value):
        return [text for each in value for text in _values(each)]
    if is_object(value):
        said = value.get("command") or value.get("url") or value.get("base_url")
        named = [f"{name} = {' '.join(_values(inner))}" for name, inner in value.items()]
        return [said] if isinstance(said, str) else named
    return [value if isinstance(value, str) else json.dumps(value, default=str)]


def _inside(path: Path) -> Iterator[str]:
    """Names of what a directory holds, or of the servers in a file, each with what it runs or where it is."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        if path.is_dir():
            yield from sorted(each.stem for each in path.iterdir() if not each.name.startswith("."))
        elif path.suffix == ".json":
            tree: Any = json.loads(path.read_bytes())
            servers = tree.get("mcpServers") if is_object(tree) else None
            for name, server in servers.items() if is_object(servers) else ():
                yield f"{name} ({' '.join(_run_by(server))})"


def _run_by(server: Any) -> list[str]:
    given = server.get("args") if is_object(server) else None
    return [*_values(server)[:1], *(str(each) for each in (given if is_list(given) else ()))]

"""`mcp.json`: servers of tools, the user's and the project's; and `.mcp.json`, where other agents have them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from agent_cli.config import check, files
from agent_cli.config.check import Mistake
from agent_cli.config.fields import SCHEMA, fields_of
from agent_cli.config.sections.servers import ServerEntry, ServersFile, ToolNames
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain
from agent_cli.kernel.wire import is_object

FILE, FOREIGN = "mcp.json", ".mcp.json"
SERVERS = "mcpServers"
EITHER = "{where}: the server '{name}' has {what}. It takes either `command`, for a program, or `url`, for an address."
SSE = "{where}: the server '{name}' speaks the old SSE protocol, which is not supported. Give its address for streamable HTTP with type \"http\"."
_OF_OTHERS = re.compile(r"\$\{(?!env:)([A-Za-z_]\w*)(?::-([^}]*))?\}")


class Named(Plain, frozen=True):
    """One server. `origin` is its file; `missing` are variables that its entry asks for and that are not set."""

    name: str
    entry: ServerEntry
    origin: Path
    missing: tuple[str, ...] = ()


def read_servers(found: tuple[Path, ...], environ: Mapping[str, str]) -> tuple[Named, ...]:
    """Of these files, the weakest first: a later entry of the same name takes the place of an earlier one.

    Raises ConfigError that lists all that is wrong.
    """
    servers: dict[str, Named] = {}
    wrong: list[str] = []
    for file in found:
        for named in _of_file(file, environ, wrong):
            servers[named.name] = named
    if wrong:
        heading = ["The servers are described wrongly in several places:"] if len(wrong) > 1 else []
        raise ConfigError("\n".join([*heading, *wrong]))
    return tuple(servers[name] for name in sorted(servers))


def _of_file(file: Path, environ: Mapping[str, str], wrong: list[str]) -> list[Named]:
    written = files.read(file)
    written.pop(SCHEMA, None)
    if file.name == FOREIGN:
        written = _translated(written, environ)
    held: Any = written.get(SERVERS, {})
    entries = held if is_object(held) else {}
    missing: dict[str, dict[str, str]] = {name: {} for name in entries}
    filled = {
        name: files.fill(entry, environ, missing[name], str(file)) if is_object(entry) else entry
        for name, entry in entries.items()
    }
    tree = {**written, SERVERS: filled if is_object(held) else held}
    try:
        read = check.read(ServersFile, tree)
    except check.Refused as refused:
        wrong += [_told(mistake, file, written) for mistake in refused.mistakes]
        return []
    named = [Named(name, entry, file, tuple(missing[name])) for name, entry in read.mcpServers.items()]
    wrong += [problem for each in named if (problem := _contradiction(each))]
    return named


def _contradiction(named: Named) -> str:
    entry, where = named.entry, _located(named.origin, (SERVERS, named.name))
    if entry.command and entry.url:
        return EITHER.format(where=where, name=named.name, what="both a command and an address")
    if not entry.command and not entry.url:
        return EITHER.format(where=where, name=named.name, what="neither a command nor an address")
    wanted = "command" if entry.type == "stdio" else "url" if entry.type else ""
    if wanted and not getattr(entry, wanted):
        return EITHER.format(where=where, name=named.name, what=f"the type {entry.type} and no `{wanted}`")
    return ""


def _told(mistake: Mistake, file: Path, written: dict[str, Any]) -> str:
    """FILE:LINE, what is wrong there, and what was probably meant."""
    where, path = _located(file, mistake.path), mistake.path
    if mistake.wanted:
        dotted = ".".join(map(str, path))
        if path[0] == SERVERS and path[2:] == ("type",):
            entry: Any = written[SERVERS][path[1]]
            if entry.get("type") == "sse":
                return SSE.format(where=where, name=path[1])
        near = difflib.get_close_matches(_value(written, path), mistake.choices, n=1)
        return f"{where}: {dotted} {mistake.wanted}" + (f"; did you mean '{near[0]}'?" if near else "")
    known = fields_of(ServersFile if len(path) == 1 else ToolNames if "tools" in path[2:3] else ServerEntry)
    near = difflib.get_close_matches(str(path[-1]), list(known), n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
    return f"{where}: there is no key '{path[-1]}' here; {hint}"


def _value(written: Any, path: tuple[str | int, ...]) -> str:
    for part in path:
        if is_object(written):
            written = written.get(str(part))
    return written if isinstance(written, str) else ""


def _located(file: Path, path: tuple[str | int, ...]) -> str:
    from agent_cli.config.lines import located

    return located(str(file), path)


def _translated(written: dict[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """What other agents say, as we say it: `${NAME}`, `${NAME:-else}` and `disabled`. Keys that only they know are passed over."""
    held: Any = written.get(SERVERS, {})
    known = fields_of(ServerEntry)
    found: dict[str, Any] = {}
    for name, entry in held.items() if is_object(held) else ():
        if not is_object(entry):
            continue
        kept = {key: _ours(value, environ) for key, value in entry.items() if key in known}
        if isinstance(kept.get("timeout"), int) and kept["timeout"] >= 1000:
            kept["timeout"] /= 1000  # they count milliseconds
        if entry.get("disabled") is True:
            kept["enabled"] = False
        found[name] = kept
    return {SERVERS: found}


def _ours(value: Any, environ: Mapping[str, str]) -> Any:
    def name(found: re.Match[str]) -> str:
        if found[2] is not None and not environ.get(found[1]):
            return str(found[2])
        return f"${{env:{found[1]}}}"

    if isinstance(value, str):
        return _OF_OTHERS.sub(name, value)
    if isinstance(value, list):
        return [_ours(item, environ) for item in msgspec.to_builtins(value)]
    return {key: _ours(item, environ) for key, item in value.items()} if is_object(value) else value

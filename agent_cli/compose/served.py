"""Looks at the servers of `mcp.json`, without a session: for `agent-cli mcp` and the doctor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_cli.compose.options import RunOptions
from agent_cli.compose.servers import hub as hub_with
from agent_cli.compose.servers import named, server
from agent_cli.config import places, trust
from agent_cli.config.sources import Loaded
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.serving import Standing
from agent_cli.talk.health import Condition

if TYPE_CHECKING:
    from agent_cli.config.servers import Named
    from agent_cli.mcp.servers import Server

DOCTOR_SECONDS, LOGIN_SECONDS = 15.0, 320.0


class Described(NamedTuple):
    """A server as its entry says it, without being started."""

    name: str
    where: str
    origin: str
    state: str


def described(options: RunOptions, loaded: Loaded) -> tuple[Described, ...]:
    """Raises ConfigError."""
    found: list[Described] = []
    for each in named(options, loaded):
        made = server(options, loaded, each)
        state = "" if each.entry.enabled else "off"
        found.append(Described(each.name, made.where, str(each.origin), made.refused or state))
    return tuple(found)


def probe(options: RunOptions, loaded: Loaded, wanted: Iterable[str], most: float) -> tuple[Standing, ...]:
    """Starts those servers side by side, and ends them again; `most` seconds for all. Raises ConfigError."""
    names = set(wanted)
    found = [each for each in named(options, loaded) if each.name in names]
    return asyncio.run(_probed(options, loaded, found, most)) if found else ()


def log_in(options: RunOptions, loaded: Loaded, name: str, show: Callable[[str], None]) -> Standing | None:
    """Has the operator log in to that server, at the address that `show` gets. None where there is no such server.

    Raises ConfigError, AgentError.
    """
    from agent_cli.mcp.login import log_in as prepared

    patient = {"start_timeout": LOGIN_SECONDS, "enabled": True}  # a person needs longer than a server
    found = [
        replace(each, entry=replace(each.entry, **patient))
        for each in named(options, loaded)
        if each.name == name
    ]
    if not found:
        return None
    login = prepared(server(options, loaded, found[0]), show)
    return asyncio.run(_probed(options, loaded, found, LOGIN_SECONDS, login))[0]


async def _probed(
    options: RunOptions,
    loaded: Loaded,
    found: list[Named],
    most: float,
    login: Callable[[Server], Any] | None = None,
) -> tuple[Standing, ...]:
    hub = hub_with(options, loaded, found, wait=most, login=login)
    hub.start()
    try:
        await hub.settle()
        return hub.standings()
    finally:
        await hub.close()


def conditions(options: RunOptions, loaded: Loaded) -> Iterator[Condition]:
    """Each server, started for it."""
    try:
        found = named(options, loaded)
    except AgentError as problem:
        yield Condition("MCP servers", "wrong", str(problem), "Mend the file that it names.")
        return
    if not found:
        return
    if not loaded.settings.mcp.enabled:
        yield Condition(
            "MCP servers", "note", "turned off by mcp.enabled", "Set mcp.enabled to true to have them."
        )
        return
    on = [each.name for each in found if each.entry.enabled]
    for each in probe(options, loaded, on, DOCTOR_SECONDS):
        name = f"MCP {each.name}"
        if each.state == "ready":
            count = len(each.tools)
            yield Condition(name, "ok", f"{count} tool{'s' * (count != 1)} ({each.where})")
        else:
            why = each.problem or f"it was not there within {DOCTOR_SECONDS:g} s"
            yield Condition(
                name,
                "note",
                why,
                f"`agent-cli mcp test {each.name}` tries it; its entry is in {each.origin}.",
            )


def directory(options: RunOptions, scope: str) -> Path:
    """Where `mcp.json` of "user" or "project" is, or is made."""
    if scope == "user":
        return places.user_dir(options.environ)
    return places.project_dir(options.cwd, options.environ) or options.cwd / places.AGENTS


def changed(options: RunOptions, place: Path, change: Callable[[], object]) -> None:
    """What the operator changes through this program leaves a trusted project trusted."""
    if place == places.user_dir(options.environ):
        change()
        return
    with trust.kept_by(place, options.environ):
        change()

"""`mcp.json` → the servers of a session."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_cli.compose.options import RunOptions
from agent_cli.compose.scope import root_of
from agent_cli.config import places
from agent_cli.config.sources import Loaded
from agent_cli.config.trust import SERVERS
from agent_cli.permissions import hosts

if TYPE_CHECKING:
    from agent_cli.config.servers import Named
    from agent_cli.mcp.hub import Hub
    from agent_cli.mcp.pipe import Ward
    from agent_cli.mcp.servers import Server

UNSET = "its entry asks for variables that are not set: {names}. Set them, or take them out of {file}"
DENIED = "the rule '{rule}' of url_scope.deny closes its host"


def files_of(loaded: Loaded) -> tuple[Path, ...]:
    """Those that there are and that count, the weakest first. Of one place what other agents have only where we have none."""
    mine, theirs = loaded.foreign(SERVERS)
    ours = {file.parent: file for file in loaded.scopes("mcp.json") if file.is_file()}
    user = ours.pop(loaded.user, mine)
    project = ours.pop(loaded.project, theirs) if loaded.project is not None else theirs
    return tuple(file for file in (user, project, *ours.values()) if file is not None and file.is_file())


def named(options: RunOptions, loaded: Loaded) -> tuple[Named, ...]:
    """All that are described, also those that are turned off. Raises ConfigError."""
    found = files_of(loaded)
    if not found:
        return ()
    from agent_cli.config.servers import read_servers

    return read_servers(found, options.environ)


def hub_of(options: RunOptions, loaded: Loaded, withheld: frozenset[str]) -> Hub | None:
    """The servers of a session, already starting; None where there are none, which costs nothing. Raises ConfigError."""
    settings = loaded.settings.mcp
    found = [each for each in named(options, loaded) if each.entry.enabled] if settings.enabled else []
    if not found:
        return None
    made = hub(options, loaded, found, wait=settings.wait, withheld=withheld)
    made.start()
    return made


def hub(
    options: RunOptions,
    loaded: Loaded,
    found: Iterable[Named],
    *,
    wait: float,
    withheld: frozenset[str] = frozenset(),
    login: Callable[[Server], Any] | None = None,
) -> Hub:
    """Those servers, not started yet. `login` signs requests in the place of what an earlier login gave."""
    from agent_cli.mcp.connection import Around
    from agent_cli.mcp.hub import Hub
    from agent_cli.mcp.login import signer

    return Hub(
        [server(options, loaded, each) for each in found],
        wait=wait,
        share=loaded.settings.mcp.share,
        withheld=withheld,
        around=Around(_ward(), str(root_of(options, loaded)), login or signer),
    )


def told(options: RunOptions, loaded: Loaded) -> tuple[str, ...]:
    """Everything that is missing, in one line: a server that lacks something does not keep a session from beginning."""
    lacking = [each for each in named(options, loaded) if each.missing and each.entry.enabled]
    if not lacking or not loaded.settings.mcp.enabled:
        return ()
    names = "; ".join(f"{', '.join(each.missing)} (of {each.name}, in {each.origin})" for each in lacking)
    return (f"Variables that MCP servers ask for are not set, so these were not started: {names}.",)


def server(options: RunOptions, loaded: Loaded, each: Named) -> Server:
    """With all that its entry leaves open."""
    from agent_cli.mcp.servers import Http, Server, Stdio

    entry, environ = each.entry, options.environ
    root = root_of(options, loaded)
    if entry.url:
        reached = Http(entry.url, entry.headers)
    else:
        cwd = places.expanded(entry.cwd, root, environ) if entry.cwd else str(root)
        reached = Stdio(entry.command or "", entry.args, _environment(environ, entry.env), cwd)
    made = Server(
        each.name,
        reached,
        str(each.origin),
        entry.tools.allow,
        entry.tools.deny,
        entry.timeout,
        entry.start_timeout,
        entry.trust_hints,
        UNSET.format(names=", ".join(each.missing), file=each.origin) if each.missing else "",
        "" if options.ephemeral else str(log_of(environ, each.name)),
        str(tokens_of(environ, each.name, entry.url)) if entry.url else "",
    )
    rule = hosts.denied(made.host, loaded.settings.url_scope.deny) if made.host else ""
    if rule and not made.refused:
        from msgspec.structs import replace

        return replace(made, refused=DENIED.format(rule=rule))
    return made


def host_of(options: RunOptions, loaded: Loaded, tool: str) -> str:
    """The host that a tool of that full name would reach, "" for a program and for what is not described."""
    from agent_cli.mcp.names import PREFIX, server_part

    for each in named(options, loaded):
        if tool.startswith(f"{PREFIX}{server_part(each.name)}__"):
            return server(options, loaded, each).host
    return ""


def log_of(environ: Mapping[str, str], name: str) -> Path:
    return places.logs_dir(environ) / "mcp" / f"{_file(name)}.log"


def tokens_of(environ: Mapping[str, str], name: str, url: str) -> Path:
    """What a login gave is for that address alone: another project may call another server so."""
    digest = hashlib.blake2b(url.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return places.state_dir(environ) / "mcp" / f"{_file(name)}-{digest}.json"


def logins_of(environ: Mapping[str, str], name: str) -> tuple[Path, ...]:
    """The files of all logins to servers of that name."""
    found = (places.state_dir(environ) / "mcp").glob(f"{_file(name)}-*.json")
    return tuple(file for file in found if re.fullmatch(r"[0-9a-f]{16}", file.stem.rpartition("-")[2]))


def _file(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip(".") or "_"


def _environment(environ: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The few that every server gets, and what its entry names: no key gets to it unasked."""
    from agent_cli.mcp.servers import INHERITED

    few = {
        name: environ[name] for name in INHERITED if name in environ and not environ[name].startswith("()")
    }
    return {**few, **own}


def _ward() -> Ward | None:
    """On Windows the end of its input has to do."""
    if os.name == "nt":
        return None
    from agent_cli.tools.reaper import Reaper

    return Reaper()

"""The sandbox that shell commands of this run are started in."""

from __future__ import annotations

import os

from agent_cli.config.settings import Settings
from agent_cli.ports import Facts
from agent_cli.tools.sandbox.confines import UNCONFINED, Confines, Sandbox

TOLD = "Shell commands run in a sandbox ({name}): {writes}; {network}."


def sandbox_of(settings: Settings, given: Facts) -> Sandbox:
    """Raises ConfigError where one was asked for that the machine does not offer."""
    found = confines(settings, given)
    if found is None:
        return UNCONFINED
    from agent_cli.tools.sandbox.choose import open_sandbox

    return open_sandbox(found)


def confines(settings: Settings, given: Facts) -> Confines | None:
    """None without a sandbox. Commands may write where the gate lets tools write, except over control files."""
    mode, network = settings.sandbox.mode, settings.sandbox.network
    if mode == "off":
        return None
    if mode == "read-only":
        return Confines(mode, network=network)
    import tempfile

    writable = [path for path, access in given.roots if "w" in access]
    inside = (path for path, access in given.roots if access == "r")
    closed = [path for path in (*given.control, *inside) if any(_holds(root, path) for root in writable)]
    temporary = os.path.realpath(tempfile.gettempdir())
    return Confines(mode, tuple(dict.fromkeys((*writable, temporary))), tuple(closed), network)


def told(sandbox: Sandbox, settings: Settings) -> tuple[str, ...]:
    """The line for the beginning of a session."""
    if not sandbox.name:
        return ()
    writes = "they write nowhere"
    if settings.sandbox.mode == "workspace-write":
        writes = "they write only in the project, TMPDIR and what path_scope adds"
    network = "the network is on" if settings.sandbox.network else "the network is off"
    return (TOLD.format(name=sandbox.name, writes=writes, network=network),)


def _holds(root: str, path: str) -> bool:
    return path != root and path.startswith(root.rstrip("/") + "/")

"""Where the work is done, and by which model."""

from __future__ import annotations

from agent_cli.kernel.usage import ModelCard
from agent_cli.talk.commands.command import Host


def cwd_of(host: Host) -> str:
    return (host.session.state.cwd if host.session is not None else "") or host.welcome.cwd


def halt_of(host: Host) -> str:
    """Why every turn is refused, "" if none is; as it is now, since a kill switch is turned elsewhere."""
    return host.session.halted if host.session is not None else ""


def card_of(host: Host) -> ModelCard | None:
    """None before a session is open."""
    return host.session.state.card if host.session is not None else None

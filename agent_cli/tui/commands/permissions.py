"""What is allowed."""

from __future__ import annotations

from agent_cli.tui import views
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.commands.command import Command, Host, not_yet


def _permissions(host: Host, _rest: str) -> Item:
    if host.session is None:
        return not_yet()
    rules = host.sources.rules() if host.sources.rules is not None else None
    return views.permissions(host.session.state, rules)


COMMANDS: tuple[Command, ...] = (Command("permissions", "mode, rules and what was granted", _permissions),)

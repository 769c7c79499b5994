"""Tokens and money."""

from __future__ import annotations

from agent_cli.tui import views
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.commands.command import Command, Host, not_yet


def _stats(host: Host, _rest: str) -> Item:
    return views.stats(host.session.state, host.ledger) if host.session else not_yet()


COMMANDS: tuple[Command, ...] = (Command("stats", "tokens and cost of each model", _stats, ("usage",)),)

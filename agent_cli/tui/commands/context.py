"""What fills the window, and making it less."""

from __future__ import annotations

from agent_cli.kernel.commands import Compact
from agent_cli.tui import views
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Notice
from agent_cli.tui.commands.command import Command, Host, not_yet, ordered


def _context(host: Host, _rest: str) -> Item:
    return views.context(host.session.state, host.ledger) if host.session else not_yet()


def _compact(host: Host, rest: str) -> Item | None:
    if host.compacting:
        return Notice("It is being compacted already; Esc stops that.", "warning")
    return ordered(host, Compact(rest))


COMMANDS: tuple[Command, ...] = (
    Command("context", "what fills the window", _context),
    Command("compact", "reduce the conversation now", _compact, ("summarize",), arguments="[focus]"),
)

"""What the agent has set itself to do."""

from __future__ import annotations

from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Notice
from agent_cli.tui.blocks.todo import Todos
from agent_cli.tui.commands.command import Command, Host, not_yet


def _todo(host: Host, _rest: str) -> Item:
    if host.session is None:
        return not_yet()
    items = host.session.state.todo
    return Todos(items) if items else Notice("There is no list of things to do.")


COMMANDS: tuple[Command, ...] = (Command("todo", "what the agent has set itself to do", _todo),)

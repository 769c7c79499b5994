"""What the agent has set itself to do."""

from __future__ import annotations

from agent_cli.talk.answers import Answer, Note, Todos
from agent_cli.talk.commands.command import Command, Host, not_yet


def _todo(host: Host, _rest: str) -> Answer:
    if host.session is None:
        return not_yet()
    items = host.session.state.todo
    return Todos(items) if items else Note("There is no list of things to do.")


COMMANDS: tuple[Command, ...] = (Command("todo", "what the agent has set itself to do", _todo),)

"""What the model may call."""

from __future__ import annotations

from agent_cli.talk.answers import Answer, Table
from agent_cli.talk.commands.command import Command, Host, not_yet

SAYS = {
    "model": "the model marks the ends of tasks with mark_task_done; /done does it too",
    "operator": "/done marks the end of a task; the model cannot",
    "off": "off (checkpoint.mode)",
}


def _tools(host: Host, _rest: str) -> Answer:
    """In the order in which the model sees them."""
    if host.session is None:
        return not_yet()
    found = host.session.tools()
    rows = [(tool.name, tool.brief or tool.description.partition("\n")[0]) for tool in found]
    rows += [("", ""), ("checkpoints", SAYS[host.session.state.checkpoint])]
    return Table(f"{len(found)} tool{'s' * (len(found) != 1)}", rows)


COMMANDS: tuple[Command, ...] = (Command("tools", "what the model may call", _tools),)

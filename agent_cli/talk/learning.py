"""What a front end learns about the project once a session is open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent_cli.kernel.errors import AgentError
from agent_cli.talk.commands import book, own, skills
from agent_cli.talk.commands.command import Command
from agent_cli.talk.desk import Desk


async def learn_commands(desk: Desk) -> str:
    """The operator's own commands, for that desk; returns why they are not known, "" where they are."""
    try:
        _known(desk, await _own(desk))
    except AgentError as problem:
        _known(desk, ())
        return f"your own commands are not known: {problem}"
    return ""


async def _own(desk: Desk) -> Sequence[Command]:
    workplace = desk.sources.workplace
    if workplace is None:
        return ()
    prompts = own.commands(await asyncio.to_thread(workplace.prompts), book.NAMES)
    taken = book.NAMES | {command.name for command in prompts}
    return (*prompts, *skills.commands(await asyncio.to_thread(workplace.skills), taken))


def _known(desk: Desk, commands: Sequence[Command]) -> None:
    """Those that were typed before are run now; what nobody knows goes back to where it was typed."""
    desk.own, early, desk.early = tuple(commands), desk.early or [], None
    for line in early:
        if not desk.take(line):
            desk.stage.write(line)

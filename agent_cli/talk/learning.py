"""What a front end learns about the project once a session is open."""

from __future__ import annotations

import asyncio

from agent_cli.kernel.errors import AgentError
from agent_cli.talk.commands import book, own, skills
from agent_cli.talk.desk import Desk


async def learn_commands(desk: Desk) -> str:
    """The operator's own commands, for that desk; returns why they are not known, "" where they are."""
    workplace = desk.sources.workplace
    if workplace is None:
        return ""
    try:
        prompts = own.commands(await asyncio.to_thread(workplace.prompts), book.NAMES)
        taken = book.NAMES | {command.name for command in prompts}
        desk.own = (*prompts, *skills.commands(await asyncio.to_thread(workplace.skills), taken))
    except AgentError as problem:
        return f"your own commands are not known: {problem}"
    return ""

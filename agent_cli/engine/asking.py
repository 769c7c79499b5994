"""A question to the operator from within a running call: it waits where approvals wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from itertools import count

from agent_cli.engine.core import Core
from agent_cli.engine.tree import stopping
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer

WHY = "the tool that runs wants to know it"
RULE = "question"


def asks(core: Core, call_id: str, tool: str) -> Callable[[str, tuple[str, ...]], Awaitable[str | None]]:
    """How the tool of that call asks; None is the answer where nobody is there, or does not answer."""
    numbers = count(1)

    async def ask(question: str, options: tuple[str, ...]) -> str | None:
        facts = core.parts.facts
        if not (facts.attended or facts.questions):
            return None
        asked = f"{call_id}-asks-{next(numbers)}"
        numbered = (f"{number}  {option}" for number, option in enumerate(options, 1))
        preview = ev.Shown("\n".join((question, *numbered)))
        core.record(
            ev.ApprovalRequested(
                asked, tool, question, WHY, RULE, preview, "", True, core.name, True, options
            )
        )
        answer = await _answer(core, asked, tool)
        if answer is None:
            return None
        core.record(
            ev.ApprovalDecided(
                asked, tool, answer.allowed, "operator", "once", "", answer.message, bool(answer.edit)
            )
        )
        return answer.edit if answer.allowed else None

    return ask


async def _answer(core: Core, asked: str, tool: str) -> Answer | None:
    """None where the turn is cut first."""
    future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    core.waiting[asked] = future
    stop = asyncio.create_task(core.stopping.wait())
    try:
        with core.deadline.paused() if core.deadline is not None else nullcontext():
            await asyncio.wait({future, stop}, return_when=asyncio.FIRST_COMPLETED)
        return future.result() if future.done() and stopping(core) is None else None
    finally:
        stop.cancel()
        del core.waiting[asked]
        if asked in core.state.pending and not (future.done() and stopping(core) is None):
            core.record(ev.ApprovalDecided(asked, tool, False, "interrupt"))

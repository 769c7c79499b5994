"""Back to an earlier message: what the conversation was, and what the files held."""

from __future__ import annotations

import asyncio
import logging

from agent_cli.engine.core import Core
from agent_cli.engine.refold import again
from agent_cli.engine.size import size_of
from agent_cli.engine.state import State
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Rewind
from agent_cli.kernel.errors import AgentError
from agent_cli.ports import Restored, Touches

log = logging.getLogger("agent_cli.engine")

REWOUND = "the message that it was started for was taken back"
CHANGES = frozenset({"write", "execute"})


async def rewind(core: Core, order: Rewind) -> None:
    """Restores files, and records what is true from then on. Raises AgentError where it cannot be."""
    if not any(spoken.seq == order.to for spoken in core.state.spoken):
        raise AgentError(
            f"entry {order.to} is no message of yours that can be gone back to; /rewind lists them"
        )
    restored = Restored((), ())
    if order.what != "conversation":
        if core.parts.snapshots is None:
            raise AgentError(
                "nothing is kept of the files in a session in memory; rewind the conversation alone"
            )
        restored = await asyncio.to_thread(core.parts.snapshots.restore, order.to)
    conversation = order.what != "files"
    for row in core.state.subtasks.values():
        if conversation and row.background and not row.outcome and row.seq > order.to:
            core.crew.stop(row.label, REWOUND)
    size = size_before(core, order.to) if conversation else 0
    core.record(ev.Rewound(order.to, conversation, restored.paths, restored.failed, size))


def size_before(core: Core, to: int) -> int:
    """Tokens of the next prompt without that message and what came after it; what was reduced since is back."""
    state = core.state
    then = State(state.session, state.card, state.limits)
    view = again(then, core.parts.log, [*core.undone, range(to, state.seq + 1)])
    return size_of(core, view.items())


async def keep(core: Core, touches: Touches) -> None:
    """Before a call that may change files."""
    snapshots, spoken = core.parts.snapshots, core.root.state.spoken
    if snapshots is None or not spoken or touches.effect not in CHANGES:
        return
    if not snapshots.wants(spoken[-1].seq, touches):
        return  # a thread for nothing would cost every call of a shell a millisecond
    try:
        await asyncio.to_thread(snapshots.before, spoken[-1].seq, touches)
    except OSError as problem:
        log.warning("what files held could not be kept: %s", problem)
        if "snapshots" not in core.root.told:
            core.root.told.add("snapshots")
            core.record(
                ev.OperatorNote(
                    f"what files hold before they are changed cannot be kept ({problem}): /rewind will not restore "
                    "them. Make room in the state directory, or give the permission.",
                    "warning",
                )
            )


async def note(core: Core, output: ev.Output) -> None:
    """After a call that changed files."""
    snapshots, spoken = core.parts.snapshots, core.root.state.spoken
    if snapshots is None or not spoken or not output.changed:
        return
    try:
        await asyncio.to_thread(snapshots.after, spoken[-1].seq, output.changed)
    except OSError as problem:
        log.warning("what files held could not be kept: %s", problem)


def cut_short(core: Core, touches: Touches) -> None:
    """A call was cancelled: what it changed until then is not known."""
    snapshots, spoken = core.parts.snapshots, core.root.state.spoken
    if snapshots is None or not spoken or touches.effect not in CHANGES:
        return
    try:
        snapshots.after(spoken[-1].seq, None)
    except OSError as problem:
        log.warning("what files held could not be kept: %s", problem)

"""Calls that the operator's own command makes before its message is sent: judged and asked about like the model's."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.engine import endings
from agent_cli.engine.batch import Batch
from agent_cli.engine.core import Core
from agent_cli.engine.deadline import Deadline
from agent_cli.engine.subtasks import SubtaskSpec, child_of
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Wanted
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import ToolCall
from agent_cli.kernel.usage import Usage


async def gather(
    core: Core, name: str, wanted: Sequence[Wanted], allow: tuple[str, ...]
) -> tuple[ev.Output, ...]:
    """What each of them gives, also where it is refused. `allow` are rules that count for these calls.

    They stand in a branch of their own, so that the conversation has only what becomes of them. Raises ConfigError for a tool
    that the session does not have, AgentError where nothing is left to spend, StoreError.
    """
    if core.root.slice is not None:
        raise AgentError("nothing was run before the message: the pool had room for part of this run only")
    tools = tuple(dict.fromkeys(each.tool for each in wanted))
    told = "\n".join(" ".join((each.tool, *map(str, each.arguments.values()))) for each in wanted)
    child, _ = child_of(core, SubtaskSpec(name, "", told, tools, core.model.card.id), allow=allow)
    branch, begun = child.state.branch, core.trunk.seq
    calls = tuple(
        ToolCall(f"{branch}:{at}", each.tool, dict(each.arguments)) for at, each in enumerate(wanted)
    )
    core.record(ev.SubtaskStarted(name, child.model.card.id, told, branch))
    child.record(ev.TurnStarted(child.model.card.id))
    deadline = Deadline(core.parts.clock, None, _never)
    ending: endings.Ending = endings.interrupted()
    try:
        await Batch(child, calls, deadline, frozenset(), {}).run()
        ending = endings.answered("stop")
    finally:
        child.record(ending)
        count = f"{len(calls)} call{'s' * (len(calls) != 1)} before the message"
        core.record(
            ev.SubtaskCompleted(name, ending.outcome, count, Usage(), 0.0, child.model.card.id, branch)
        )
    found = {
        entry.event.call_id: entry.event.output
        for entry in core.trunk.past(begun, core.trunk.seq)
        if entry.branch == branch and isinstance(entry.event, ev.ToolReturned)
    }
    return tuple(found[call.call_id] for call in calls)


def _never() -> None:
    """There is no deadline."""

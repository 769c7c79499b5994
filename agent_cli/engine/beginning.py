"""How a turn begins: what is in force is a fact, and what is no longer as the last turn had it is told."""

from __future__ import annotations

from agent_cli.context.prefix import other
from agent_cli.engine.core import Core
from agent_cli.kernel import events as ev


def begin(core: Core, *, refused: bool) -> None:
    """Records the turn's start. A turn that is refused sends nothing: what the one before it sent stays the measure.

    Within a process each request is compared with the one before it, and says more; this is for the first one.
    """
    parts, model = core.parts, core.model.card.id
    before = core.state.prefixes.get(model, "")
    now = before if refused else core.prefix().digests
    core.record(ev.TurnStarted(model, parts.task_class, parts.guards, parts.limits, now))
    if core.last_prompt is None and (changed := other(before, now)):
        core.record(
            ev.OperatorNote(f"{changed} since the last turn: the prompt cache is written anew from here on")
        )

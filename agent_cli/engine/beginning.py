"""How a turn begins: what is in force is a fact, and what is no longer as the last turn had it is told.

What a message wanted for its own turn ends with it.
"""

from __future__ import annotations

from agent_cli.context.prefix import other
from agent_cli.engine.core import Core
from agent_cli.guardrails import telling
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Say
from agent_cli.kernel.errors import ConfigError


def begin(core: Core, say: Say, *, refused: bool) -> None:
    """Records the turn's start, with what its message wants to count in it. A turn that is refused sends nothing: what the one before it sent stays the measure.

    Within a process each request is compared with the one before it, and says more; this is for the first one.
    """
    if not refused:
        _choose(core, say)
    parts, model = core.parts, core.model.card.id
    before = core.state.prefixes.get(model, "")
    joins = parts.joining is not None and core.last_prompt is None  # only the first seam knows all tools
    now = before if refused or joins else core.prefix().digests
    core.record(ev.TurnStarted(model, parts.task_class, parts.guards, parts.limits, now))
    if core.last_prompt is None:
        compare(core, before, now)


def compare(core: Core, before: str, now: str) -> None:
    """Says so where the first request of a process does not begin as the last one before it did."""
    if changed := other(before, now):
        core.record(
            ev.OperatorNote(f"{changed} since the last turn: the prompt cache is written anew from here on")
        )


def _choose(core: Core, say: Say) -> None:
    """A model that cannot be had, or that no ceiling could be held with, leaves the turn with the present one, and says so."""
    core.turn_allow = say.allow
    if not say.model:
        return
    try:
        opened = core.parts.models.open(say.model)
    except ConfigError as problem:
        core.record(ev.OperatorNote(str(problem), "error"))
        return
    if opened.card.id == core.model.card.id:
        return
    problem = telling.unpriced(opened.card, core.limits)
    if problem:
        core.record(ev.OperatorNote(problem, "error" if core.limits.reserve else "warning"))
    if not (problem and core.limits.reserve):
        core.back_to = core.model
        core.switch(opened, "for this turn")


def over(core: Core) -> None:
    """What counted for one turn counts no more."""
    before, core.back_to, core.turn_allow = core.back_to, None, ()
    if before is not None and core.trunk.failure is None:
        core.switch(before, "the turn is over")

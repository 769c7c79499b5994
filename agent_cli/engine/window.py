"""What the window of the session's model means for the conversation: the budget in force, and when it is crossed."""

from __future__ import annotations

from agent_cli.context.budget import Budget, budget_of
from agent_cli.context.reduce import BYTES_PER_TOKEN, Carried
from agent_cli.engine.core import Core
from agent_cli.engine.size import context_size
from agent_cli.kernel import events as ev
from agent_cli.kernel.usage import ModelCard

DIGEST_SHARE = 0.20
"""Of the threshold."""


def budget_for(core: Core, card: ModelCard | None = None) -> Budget:
    """The budget in force, for the session's model if none is given."""
    counted = not core.state.boundaries.uncounted
    return budget_of(card or core.model.card, core.parts.compaction, counted=counted)


def carried(core: Core) -> Carried:
    """What every reduction carries over as it is."""
    return Carried(core.state.plan, core.state.todo)


def mark_pending(core: Core) -> None:
    """A reduction is due from the moment on at which the conversation outgrows its limit; told once a crossing.

    It is drained at the next seam, in this turn or at the start of the next one.
    """
    limit, known = core.state.context_limit, core.state.boundaries
    if limit is None or known.crossed:
        return
    size = context_size(core)
    if size >= limit:
        core.record(ev.ContextReductionPending(core.model.card.id, size, limit, known.unmeasured_bytes))


def makes_things_up(core: Core) -> bool:
    """The only model that could be asked for a summary is too small for it: it answers the request instead."""
    return core.model.card.profile == "compact" and not core.parts.compaction.model


def digest_room(budget: Budget) -> int:
    """Bytes that a text which is made without a model may take."""
    return int(budget.limit * DIGEST_SHARE) * BYTES_PER_TOKEN

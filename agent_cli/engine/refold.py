"""The folds of a log of which a part was undone."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.context.view import View
from agent_cli.engine.state import State
from agent_cli.ports import Log


def again(state: State, log: Log, undone: Sequence[range]) -> View:
    """The view without what was undone; the state gets the plan and the list of things to do of then. Costs what the log holds: rewinding is rare."""
    end = undone[-1].stop
    then = State(state.session, state.card, state.limits)
    view = View()
    for entry in log.read():
        if entry.seq >= end:
            break
        if not any(entry.seq in some for some in undone):
            view.feed(entry)
            then.feed(entry)
    state.plan, state.plan_path, state.plan_revoked = then.plan, then.plan_path, then.plan_revoked
    state.todo, state.answer, state.spoken = then.todo, then.answer, then.spoken
    return view

"""The guardrails of a recorded session: where they stand, and how a halt is cleared from outside."""

from __future__ import annotations

import time

import msgspec

from agent_cli.compose.budgets import limits
from agent_cli.compose.log import session_db
from agent_cli.compose.options import RunOptions
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.engine.standing import Standing, standing
from agent_cli.engine.state import State
from agent_cli.guardrails import telling
from agent_cli.guardrails.budgets import TURN_COST
from agent_cli.guardrails.halts import Halt, Halts
from agent_cli.guardrails.kill_switch import NAME, Place, killed
from agent_cli.kernel.commands import Reset
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.events import Entry
from agent_cli.kernel.guarded import GuardrailReset
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import Log


class NotReset(AgentError):
    """The session would be halted again at once."""

    kind = "not-reset"


def show(options: RunOptions, loaded: Loaded, wanted: str) -> Standing:
    """Of the session of that id, beginning or name; it may be open elsewhere. Raises StoreError."""
    from agent_cli.store.sqlite import open_store

    store = open_store(session_db(options, loaded.settings))
    try:
        found = store.find(wanted)
        state = fold(found.id, list(store.entries(found.id)), loaded.settings)
        stopped = killed(store.switches.on, Place(found.id, state.task_class, (state.cwd,), state.mode))
    finally:
        store.close()
    halt = Halt(NAME, stopped.reason, how=stopped.how) if stopped is not None else None
    return standing(state, _watchdog(state.halts, loaded.settings), halt)


def reset(options: RunOptions, loaded: Loaded, wanted: str, order: Reset) -> Standing:
    """Records the reset. Raises NotReset with the least amount to add, SessionLocked where it is open elsewhere."""
    from agent_cli.store.sqlite import open_store

    store = open_store(session_db(options, loaded.settings))
    try:
        log = store.open(store.find(wanted).id)
        return _reset(log, loaded.settings, order)
    finally:
        store.close()


def _reset(log: Log, settings: Settings, order: Reset) -> Standing:
    state = fold(log.session, list(log.read()), settings)
    watchdog = _watchdog(state.halts, settings)
    halts = state.halts.standing(state.total.cost, state.limits, enforced=watchdog == "enforce")
    if problem := telling.why_not(halts, order.guardrail, order.added_usd, log.session):
        raise NotReset(problem)
    entry = Entry(
        log.session,
        state.seq + 1,
        time.time(),
        state.turn,
        0,
        GuardrailReset(order.guardrail, order.added_usd),
    )
    log.append(entry)
    state.feed(entry)
    return standing(state, watchdog)


def fold(session: str, entries: list[Entry], settings: Settings) -> State:
    """What the session's own runs were told on their command lines is in no config: its turns and trips know it."""
    state = State(session, ModelCard("", ""), Limits())
    for entry in entries:
        state.feed(entry)
    state.limits = _limits(state.halts, settings)
    return state


def _limits(halts: Halts, settings: Settings) -> Limits:
    """What no config says is what the latest turn had, and what the trips know of ceilings on money."""
    budgets, agent, had = settings.budgets, settings.agent, halts.ceilings or Limits()
    dear = halts.cost.limit if halts.cost is not None and halts.cost.signal == TURN_COST else None
    known = (
        ("max_steps", budgets.max_steps, had.max_steps),
        ("max_tool_calls", budgets.max_tool_calls, had.max_tool_calls),
        ("max_tokens", budgets.max_tokens, had.max_tokens),
        ("max_duration", budgets.max_duration, had.max_duration),
        ("max_turn_cost", agent.max_turn_cost_usd, had.max_turn_cost or dear),
        ("max_session_cost", agent.max_session_cost_usd, had.max_session_cost or halts.ceiling),
    )
    unsaid = {name: value for name, said, value in known if said is None}
    return msgspec.structs.replace(limits(settings, attended=True), **unsaid)


def _watchdog(halts: Halts, settings: Settings) -> str:
    """What no config says is what the session's runs had, as far as a trip or the latest turn shows it."""
    stopped = any(trip.guardrail == "watchdog" for trip in halts.trips)
    return settings.safety.watchdog or ("enforce" if stopped else halts.mode or "warn")

"""Agents: subtasks by a definition, inline or beside the turn, whose reports nobody loses."""

from __future__ import annotations

import asyncio
import difflib
import logging
from functools import partial
from typing import NamedTuple

import msgspec

from agent_cli.engine import calls, stopping
from agent_cli.engine.branches import SubtaskRow
from agent_cli.engine.core import Core
from agent_cli.engine.staff import Staff, Station
from agent_cli.engine.subtasks import Begun, SubtaskResult, SubtaskSpec, Terms, begin, finish, label, opened
from agent_cli.guardrails.ledger import Allowance
from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import SPAWN, AgentDefinition
from agent_cli.kernel.errors import AgentError, StoreError, ToolError
from agent_cli.kernel.messages import Text, ToolCall, text_of

log = logging.getLogger("agent_cli.engine")

OPERATORS = frozenset(("record_plan", "mark_task_done", "ask_user", "check_agent", "stop_agent"))
"""Tools that belong to the conversation with the operator."""
LOST = "[{name} was cut short: the process stopped while it ran. {had}]"
HAD, HAD_NOTHING = "What it had said until then follows", "It had said nothing until then"
YET_UNTOLD = "the agent {name} {ended}; the model gets its report with your next message"
ENDED = {True: "has finished", False: "was cut short"}
REPORT = (
    "Report of the agent {name}, which you started{how}. These are its words, not the operator's.\n\n{text}"
)
PLACE = "It worked in {place}; what it may have changed is still there."
NO_SLOT = "{most} agents work already ({names}). Wait for one with check_agent, or stop one with stop_agent."
ONLY_INLINE = "an agent that was started by another one cannot run in the background: leave `background` out."
UNKNOWN = "There is no agent '{name}'. {hint}The agents are {names}."
NOT_RUNNING = "No agent '{name}' runs in the background. {listed}"


class Order(NamedTuple):
    """One task for one agent. `max_cost` (USD) asks for more than a tenth of what is left; `call_id` is its call."""

    agent: AgentDefinition
    task: str
    call_id: str = ""
    background: bool = False
    max_cost: float | None = None


def chosen(core: Core, name: str) -> AgentDefinition:
    """Raises ToolError with the nearest name."""
    staff = core.parts.staff or _nobody()
    found = staff.find(name.strip())
    if found is not None:
        return found
    names = [each.name for each in staff.offered]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean '{near[0]}'? " if near else ""
    raise ToolError(UNKNOWN.format(name=name, hint=hint, names=", ".join(names)))


async def inline(core: Core, order: Order) -> SubtaskResult:
    """Runs one to its end. Raises AgentError where it cannot start, StoreError."""
    begun = await _begun(core, order)
    with core.crew.at_work(begun):
        return await finish(begun)


async def beside(core: Core, order: Order) -> str:
    """Starts one that goes on by itself, and says what it is called. Raises what `inline` raises."""
    begun = await _begun(core, order)
    core.crew.start(begun, asyncio.create_task(_work(core, begun)))
    return begun.label


async def _work(core: Core, begun: Begun) -> None:
    try:
        await finish(begun)
    except StoreError:
        log.exception("the session's log cannot be written")  # who listens was told by the hub
    except asyncio.CancelledError:
        pass  # its end is recorded
    except Exception:
        log.exception("the agent %s broke", begun.label)
    if not core.state.running and core.trunk.failure is None:
        stopping.between_turns(core)


async def _begun(core: Core, order: Order) -> Begun:
    staff, crew, agent = core.parts.staff or _nobody(), core.crew, order.agent
    if order.background and core.above is not None:
        raise AgentError(ONLY_INLINE)
    if len(crew.running) + crew.starting >= staff.most and core.above is None:
        raise AgentError(NO_SLOT.format(most=staff.most, names=", ".join(crew.running) or "just started"))
    card = opened(core, agent.model or core.model.card.id).card
    with crew.about_to_start():
        name = label(agent.name, crew.number(len(core.root.state.subtasks)))
        station = await staff.station(agent, name)
        try:
            here = msgspec.structs.replace(core.started, cwd=station.cwd or core.parts.started.cwd)
            spec = _spec(core, order, staff.system(agent, here, card))
            return begin(core, spec, _terms(core, order, name, station, staff))
        except BaseException:
            await station.leave()
            raise


def _spec(core: Core, order: Order, system: str) -> SubtaskSpec:
    agent = order.agent
    return SubtaskSpec(
        name=agent.name,
        system=system,
        task=order.task,
        tools=agent.tools or (),
        model=agent.model or core.model.card.id,
        max_steps=agent.max_steps,
        max_seconds=agent.max_duration,
        max_cost=order.max_cost,
        call_id=order.call_id,
    )


def _terms(core: Core, order: Order, name: str, station: Station, staff: Staff) -> Terms:
    agent = order.agent
    too_deep = frozenset[str]() if core.depth + 1 < staff.depth else frozenset((SPAWN,))
    own = core.parts.own_tools - OPERATORS - too_deep
    return Terms(
        agent=agent.name,
        label=name,
        station=station,
        background=order.background,
        mode=agent.mode,
        deny=agent.deny,
        own=own if agent.tools is None else own & frozenset(agent.tools),
        own_budget=Allowance(agent.max_cost_usd, agent.max_tokens, agent.max_tool_calls),
        seen=partial(_seen, core) if order.background else None,
    )


async def _seen(core: Core, digest: str, cancelled: bool) -> str:
    """A report on its way into the conversation passes what a result passes."""
    call = ToolCall(f"{SPAWN}-report", SPAWN, {})
    within = partial(calls.bounded_report, core)
    output = ev.Output((Text(digest),))
    if cancelled:
        return text_of(core.guards.cut_short(call, "none", output, within).for_model)
    return text_of((await core.guards.enters(call, "none", output, within)).for_model)


def _nobody() -> Staff:
    raise AgentError("there are no agents in this session")


# ── reports ──


def deliver(core: Core) -> int:
    """Records what agents in the background came to, where the model reads it; returns how many."""
    waiting = list(core.state.reports.items())
    for branch, digest in waiting:
        row = core.state.subtasks.get(branch)
        how = " in the background" if row and row.background else ""
        told = REPORT.format(name=row.label if row else branch, how=how, text=digest)
        core.record(ev.OperatorMessage((Text(told),), by="product", subtask=branch))
    return len(waiting)


def recover(core: Core) -> tuple[str, ...]:
    """Agents that ran when the process died get their end; nothing of them runs again. Gives lines for the operator about
    what the model is yet to be told.
    """
    for row in [row for row in core.state.subtasks.values() if row.lost and row.agent]:
        had = HAD if row.said else HAD_NOTHING
        parts = (LOST.format(name=row.label, had=had), row.said, _where(core, row))
        core.record(
            ev.SubtaskCompleted(
                row.name,
                "interrupted",
                "\n".join(part for part in parts if part),
                row.usage,
                None if row.unpriced else row.cost,
                row.model,
                row.branch,
                report=True,
                agent=row.agent,
            )
        )
    rows = [core.state.subtasks[branch] for branch in core.state.reports if branch in core.state.subtasks]
    return tuple(YET_UNTOLD.format(name=row.label, ended=ENDED[row.outcome == "completed"]) for row in rows)


def _where(core: Core, row: SubtaskRow) -> str:
    if not row.place:
        return ""
    told = core.parts.staff.after(row.label) if core.parts.staff else ""
    return told or PLACE.format(place=row.place)


# ── looking and stopping ──


def listed(core: Core) -> str:
    """The agents of the session, the running ones first."""
    rows = [row for row in core.state.subtasks.values() if row.agent]
    rows.sort(key=lambda row: bool(row.outcome))
    return "\n".join(standing(core, row) for row in rows) or "No agent was started."


def standing(core: Core, row: SubtaskRow) -> str:
    """One line."""
    now = row.ended if row.outcome else core.parts.clock.now()
    spent = "unpriced" if row.unpriced else f"${row.cost:.4f}"
    took = f"{row.steps} steps, {row.calls} calls, {spent}, {max(now - row.started, 0):.0f} s"
    doing = f"; now: {row.doing[:100]}" if row.doing else ""
    return f"{row.label}: {row.outcome or 'running'}, {took}{doing}"


def found(core: Core, name: str) -> SubtaskRow:
    """Raises ToolError that lists what there is."""
    wanted = name.strip()
    for row in core.state.subtasks.values():
        if row.agent and row.label == wanted:
            return row
    raise ToolError(f"There is no agent '{wanted}' here. {listed(core)}")


async def wait(core: Core, row: SubtaskRow, seconds: float) -> None:
    """Until it has ended, or the time is up."""
    task = core.crew.task(row.label)
    if task is None or seconds <= 0:
        return
    asleep = asyncio.ensure_future(core.parts.clock.sleep(seconds))
    try:
        await asyncio.wait({task, asleep}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asleep.cancel()


async def stop(core: Core, row: SubtaskRow, why: str) -> None:
    """Ends one that runs in the background, and waits until it has said what it had. Raises ToolError for another."""
    task = core.crew.stop(row.label, why)
    if task is None:
        raise ToolError(NOT_RUNNING.format(name=row.label, listed=listed(core)))
    await asyncio.wait({task})

"""A subtask: one question to a fresh context of its own, of which only a digest comes back.

It runs the same turn as the session, on a core of its own that stands under the session's: same log, gate, bounds,
ceilings and stop.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from agent_cli.context.system import Instructions
from agent_cli.engine.core import Core
from agent_cli.engine.course import Course
from agent_cli.engine.endings import Ending
from agent_cli.engine.parts import Parts
from agent_cli.engine.reduction import Reducer
from agent_cli.engine.staff import Station, Tools
from agent_cli.engine.turn import EMPTY
from agent_cli.guardrails import ledger
from agent_cli.guardrails.ledger import Allowance
from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import SMALL, narrower
from agent_cli.kernel.commands import Mode
from agent_cli.kernel.errors import AgentError, ConfigError, StoreError
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.values import Plain
from agent_cli.ports import OpenModel, Tool

N = TypeVar("N", int, float)
How: TypeAlias = Literal["finished", "cut-short", "silent"]

ODD = re.compile(r"[^A-Za-z0-9_.-]+")
LONGEST_NAME = 32
CUT_SHORT = "[{name} was cut short: {reason}. {had}]"
FINISHED = "[{name} finished.]"
SILENT = "[{name} stopped talking: {reason}. {had}]"
HAD, HAD_NOTHING = "What it had until then follows", "It had nothing to say until then"


class SubtaskSpec(Plain, frozen=True):
    """`system` and `task` are all that the subtask sees; `tools` are names of tools that the session has.

    `model` is a name as `--model` takes it, "" for the small model of the session's provider. `max_steps` and
    `max_seconds` are at most what the operator allows a subtask. `max_cost` (USD) asks for more than a tenth of what
    the ceilings leave. `call_id` is the call that it works for.
    """

    name: str
    system: str
    task: str
    tools: tuple[str, ...] = ()
    model: str = ""
    max_steps: int | None = None
    max_seconds: float | None = None
    max_cost: float | None = None
    call_id: str = ""


class SubtaskResult(Plain, frozen=True):
    """`digest` is what the subtask said, opened by a line in brackets where it did not finish.

    `cost` is USD, None where a request had no price. `branch` is where its facts stand in the log.
    """

    how: How
    outcome: ev.Outcome
    digest: str
    steps: int
    calls: int
    usage: Usage
    cost: float | None
    model: str
    branch: str


class Terms(NamedTuple):
    """What holds for an agent beside what holds for every subtask.

    `agent` names its definition, `label` is what this run is called. In the `background` it outlives its call. `mode` is the widest that it works in,
    `deny` are rules against it, `own` the tools of the engine's own that it gets. `own_budget` is what it sets itself.
    `seen` gives what may be told of what it came to.
    """

    agent: str
    label: str
    station: Station
    background: bool = False
    mode: Mode = "yolo"
    deny: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    own_budget: Allowance = Allowance()
    seen: Callable[[str, bool], Awaitable[str]] | None = None


@dataclass(slots=True)
class Begun:
    """One that is in the log and runs from now on. `why` says why it is stopped, where that is not the operator."""

    above: Core
    core: Core
    course: Course
    spec: SubtaskSpec
    terms: Terms | None
    why: str = ""

    @property
    def label(self) -> str:
        return self.core.name


async def run_subtask(core: Core, spec: SubtaskSpec, terms: Terms | None = None) -> SubtaskResult:
    """Runs it to its end. Cancelled, it stops what it started and says in the error's argument what it had.

    Raises ConfigError for a model or a tool that is not there, AgentError where nothing is left to spend, StoreError.
    """
    return await finish(begin(core, spec, terms))


def begin(core: Core, spec: SubtaskSpec, terms: Terms | None = None) -> Begun:
    """Records that it starts, and reserves what it may spend. Raises what `run_subtask` raises."""
    if core.root.slice is not None:
        raise AgentError("the subtask was not started: the pool had room for part of this run only")
    child, limits = child_of(core, spec, terms)
    branch = child.state.branch
    agent, background, place = (
        (terms.agent, terms.background, terms.station.cwd) if terms else ("", False, "")
    )
    core.record(
        ev.SubtaskStarted(
            spec.name, child.model.card.id, spec.task, branch, spec.call_id, agent, background, place
        )
    )
    allowance = Allowance(limits.max_turn_cost, limits.max_tokens, limits.max_tool_calls)
    core.ledger = core.ledger.reserve(branch, allowance, beside=background)
    return Begun(core, child, Course(child, Reducer(child), _nobody), spec, terms)


async def finish(begun: Begun) -> SubtaskResult:
    """Runs what was begun to its end. Raises what `run_subtask` raises, but for what keeps one from starting."""
    core, child, spec, terms = begun.above, begun.core, begun.spec, begun.terms
    branch = child.state.branch
    try:
        child.record(ev.TurnStarted(child.model.card.id))
        child.record(ev.OperatorMessage((Text(spec.task),), by="product"))
        ending = await begun.course.ending()
        if ending is None:
            raise core.trunk.failure or StoreError("the session's log cannot be written")
        child.record(ending)
    finally:
        core.ledger = core.ledger.release(branch)
        core.root.left[id(child.model.provider)] = child.model
        left = await terms.station.leave() if terms else ""
    result = _result(begun, ending)
    if terms is not None:
        digest = "\n\n".join(part for part in (result.digest, left) if part)
        digest = await terms.seen(digest, begun.course.cancelled) if terms.seen else digest
        result = msgspec.structs.replace(result, digest=digest)
    report = terms is not None and terms.background
    core.record(
        ev.SubtaskCompleted(
            spec.name,
            result.outcome,
            result.digest,
            result.usage,
            result.cost,
            result.model,
            branch,
            report,
            terms.agent if terms else "",
        )
    )
    if begun.course.cancelled:
        raise asyncio.CancelledError(result.digest)
    return result


def _nobody() -> int:
    """Nobody steers a subtask."""
    return 0


# ── its core ──


def child_of(
    core: Core, spec: SubtaskSpec, terms: Terms | None = None, allow: tuple[str, ...] = ()
) -> tuple[Core, Limits]:
    """A core under that one, with its own branch. `allow` are rules that count there beside those of the session."""
    model = opened(core, spec.model)
    limits = _limits(core, spec, terms.own_budget if terms else Allowance())
    branch = _branch(
        core, terms.label if terms else label(spec.name, core.crew.number(len(core.root.state.subtasks)))
    )
    tools = _offered(core, spec, model, terms.station) if terms else _tools(core, spec.tools, model)
    parts = _parts(core, spec, model, limits, tools)
    if allow:
        facts = msgspec.structs.replace(parts.facts, allow=(*parts.facts.allow, *allow))
        parts = msgspec.structs.replace(parts, facts=facts)
    child = Core(
        parts if terms is None else _narrowed(core, parts, terms), core, branch.rpartition(":")[2], branch
    )
    if terms is not None:
        child.own_tools, child.depth = core.own_tools, core.depth + 1
        child.beside = terms.background
    return child, limits


def _parts(core: Core, spec: SubtaskSpec, model: OpenModel, limits: Limits, tools: Tools) -> Parts:

    def system(started: ev.SessionStarted, card: ModelCard) -> tuple[str, ...]:
        return (spec.system,)

    def inner(card: ModelCard) -> Mapping[str, Tool]:
        return tools

    return msgspec.structs.replace(
        core.parts,
        model=model,
        started=core.started,
        system=system,
        tools=inner,
        limits=limits,
        signals=core.parts.fresh_signals(),
        settings=msgspec.structs.replace(core.parts.settings, effort=None, temperature=None),
        own_tools=frozenset(),
        joining=None,
        notices=(),
        heuristic=None,  # what runs inside says nothing about the session's own task
    )


def _narrowed(core: Core, parts: Parts, terms: Terms) -> Parts:
    """An agent never has more than who started it: what it may do is cut down here, and only that."""
    facts, station = parts.facts, terms.station
    same_model = parts.model.card.id == core.model.card.id
    effort = core.state.effort or None if same_model else None
    parts = msgspec.structs.replace(
        parts,
        facts=msgspec.structs.replace(facts, deny=(*facts.deny, *terms.deny)),
        widest=narrower(parts.widest, terms.mode),
        own_tools=terms.own,
        settings=msgspec.structs.replace(parts.settings, effort=effort),
    )
    if not station.root:
        return parts
    elsewhere = tuple((path, "r") for path, access in facts.roots if "r" in access)
    return msgspec.structs.replace(
        parts,
        started=msgspec.structs.replace(parts.started, cwd=station.cwd),
        facts=msgspec.structs.replace(
            parts.facts, roots=((station.root, "rw"), *elsewhere), workplaces=(station.root,)
        ),
        snapshots=None,  # what is done there is no change of the project
        nested=nothing_joins,
    )


def nothing_joins(path: str) -> tuple[Instructions, ...]:
    """Instructions of the project are found by where it is."""
    return ()


def _branch(core: Core, label: str) -> str:
    """`<parent>:sub:<name>-<number>`; no two of a session are the same."""
    return f"{core.key}:sub:{label}"


def label(name: str, number: int) -> str:
    """What one is called by people and models."""
    return f"{ODD.sub('-', name)[:LONGEST_NAME] or 'subtask'}-{number}"


def _offered(core: Core, spec: SubtaskSpec, model: OpenModel, station: Station) -> Tools:
    """What the one that starts it has for that model, as far as the agent may use it."""
    own = core.parts.own_tools
    there = {**core.parts.tools(model.card), **core.joined}
    return {
        name: tool
        for name, tool in station.tools(model.card, there).items()
        if name not in own and (not spec.tools or name in spec.tools)
    }


def _tools(core: Core, names: tuple[str, ...], model: OpenModel) -> Mapping[str, Tool]:
    """Its own ones where they keep what was read, else the session's. Raises ConfigError."""
    registered = core.tools()
    missing = [name for name in names if name not in registered]
    if missing:
        raise ConfigError(f"the session has no tool {', '.join(missing)}, which the subtask asks for")
    own = core.parts.inner_tools(model.card, frozenset(names))
    return {name: own.get(name) or registered[name] for name in names}


def opened(core: Core, named: str) -> OpenModel:
    """The one that was named, else the small one; the session's own where that cannot be opened."""
    if named and named != SMALL:
        return core.model if named == core.model.card.id else core.parts.models.open(named)
    small = core.parts.small(core.model.card)
    if not small or small == core.model.card.id:
        return core.model
    try:
        return core.parts.models.open(small)
    except ConfigError as problem:
        told = f"subtasks run on {core.model.card.id}: {problem}"
        if told not in core.root.told:
            core.root.told.add(told)
            core.record(ev.OperatorNote(told, "warning"))
        return core.model


def _limits(core: Core, spec: SubtaskSpec, own: Allowance) -> Limits:
    """Its slice of the run. Raises AgentError where nothing is left."""
    children, limits, spent = core.parts.children, core.limits, core.spent()
    free = Allowance() if children.budget == "additive" else ledger.free(limits, spent)
    slice_ = core.ledger.slice(free, children.own.within(own), spec.max_cost)
    if slice_.is_empty:
        raise AgentError("the subtask was not started: nothing is left of what this run may spend")
    return Limits(
        max_steps=_least(children.max_steps, spec.max_steps),
        max_tool_calls=slice_.calls,
        max_tokens=slice_.tokens,
        max_duration=_least(children.max_duration, spec.max_seconds),
        max_turn_cost=slice_.usd,
        on_exhaustion=limits.on_exhaustion,
    )


def _least(one: N | None, other: N | None) -> N | None:
    known = [value for value in (one, other) if value]
    return min(known) if known else None


# ── what came of it ──


class _Told(NamedTuple):
    how: How
    reason: str


def _result(begun: Begun, ending: Ending) -> SubtaskResult:
    child, state = begun.core, begun.core.state
    told = _told(ending)
    said = state.answer.strip()
    opening = CUT_SHORT if told.how == "cut-short" else SILENT
    digest = f"{FINISHED.format(name=begun.label)}\n{said}" if begun.terms else said
    if told.how != "finished":
        above = (
            child.root.cut_off if ending.outcome == "interrupted" else ""
        )  # what stopped the turn stopped it, too
        reason = begun.why or above or told.reason
        name = begun.label if begun.terms else begun.spec.name
        note = opening.format(name=name, reason=reason.rstrip("."), had=HAD if said else HAD_NOTHING)
        digest = f"{note}\n{said}".rstrip()
    return SubtaskResult(
        how=told.how,
        outcome=ending.outcome,
        digest=digest,
        steps=state.turn_steps,
        calls=state.turn_calls,
        usage=state.total.usage,
        cost=None if state.total.unpriced else state.total.cost,
        model=child.model.card.id,
        branch=state.branch,
    )


def _told(ending: Ending) -> _Told:
    match ending:
        case ev.TurnCompleted(exhausted=None):
            return _Told("finished", "")
        case ev.TurnCompleted(exhausted=what):
            return _Told("cut-short", f"its budget of {what} was used up")
        case ev.TurnError(message=message):
            return _Told("silent" if message.startswith(EMPTY) else "cut-short", message)

"""What the parts of a running turn share: recording, showing, and what is known so far."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import msgspec

from agent_cli.context.breakdown import Overhead, overhead_of
from agent_cli.context.budget import budget_of
from agent_cli.context.prefix import digests
from agent_cli.context.view import View
from agent_cli.engine.cleaning import SECRETS, Cleaner, finding
from agent_cli.engine.crew import Crew
from agent_cli.engine.deadline import Deadline
from agent_cli.engine.fold import Keeper
from agent_cli.engine.guards import Guards
from agent_cli.engine.hooked import Hooked
from agent_cli.engine.hub import Branch, Hub
from agent_cli.engine.outside import Outside
from agent_cli.engine.parts import Parts
from agent_cli.engine.refold import again
from agent_cli.engine.state import ModelRow, State
from agent_cli.engine.tuning import Tally, tuned
from agent_cli.engine.watchdog import Watchdog
from agent_cli.guardrails import budgets
from agent_cli.guardrails.checks.stops import Down, Held
from agent_cli.guardrails.gate import NAME as POOL
from agent_cli.guardrails.gate import Slice
from agent_cli.guardrails.halts import Halt
from agent_cli.guardrails.kill_switch import NAME as KILL_SWITCH
from agent_cli.guardrails.kill_switch import Killed
from agent_cli.guardrails.ledger import Ledger
from agent_cli.guardrails.refusals import Refusals, Storm
from agent_cli.guardrails.reserve import Reserve
from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import narrower
from agent_cli.kernel.commands import Answer
from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Prompt, calls_of
from agent_cli.ports import Alert, Facts, OpenModel, TaskHeuristic, Tool

log = logging.getLogger("agent_cli.engine")

Stop: TypeAlias = Alert | budgets.Breach | Storm | Killed | Held | Down
"""What cuts a turn: the watchdog, a ceiling, refusals without end, a kill switch, or a check of contents and actions."""


class Prefix(NamedTuple):
    """What stands before the messages of every prompt, with its size."""

    model: str
    joined: Mapping[str, Tool]
    tools: Mapping[str, Tool]
    system: tuple[str, ...]
    overhead: Overhead
    digests: str


class Core:
    """One session's facts and folds.

    `stop` is the first thing that cuts the turn, until somebody takes it; `stopping` is set as long as it is there.
    `cut_off` is what the results of calls that it stops are told, "" where the operator stops them.

    `touched` are paths of the calls that ran since somebody looked for instructions there.

    A subtask has a core of its own over that of its session (`above`), with which it shares the log, the answers
    of the operator and every ceiling. `name` is what people call it; its facts stand in the branch `branch`.
    `root` is the session's own core, `key` names this run of an agent.
    """

    deadline: Deadline | None = None
    learned: str = ""
    """The model whose window is known from what it refused."""

    cut_off: str = ""
    last_prompt: Prompt | None = None
    _for_model: Prefix | None = None
    slice: Slice | None = None
    paced: float = -1.0
    """When the turn began that was told last that its calls wait for room in the pool."""
    latest: float = 0.0
    cut_times: tuple[float, float] | None = None
    """When the condition of the stop became true, and when nothing more could begin; seconds since the epoch."""
    turn_allow: tuple[str, ...] = ()
    back_to: OpenModel | None = None
    """What a message wanted for its own turn: rules, and the model to go back to behind it."""
    task_ended: str | None = None
    """What a heuristic said of the task that it thinks is done, until its record is written."""

    touched: frozenset[str] = frozenset()
    joined: Mapping[str, Tool] = MappingProxyType({})
    """Tools of servers, as they were at the last seam; they stand behind all others."""
    depth: int = 0
    """How many agents it stands under."""
    beside: bool = False
    """Whether those above go on while it runs."""

    def __init__(self, parts: Parts, above: Core | None = None, name: str = "", branch: str = "") -> None:
        self.parts = parts
        self.above = above
        self.name = name
        self.root: Core = above.root if above else self
        self.key, self.model = branch or parts.log.session, parts.model
        self.state, self.view = _state_of(parts, branch), View(branch)
        self.guards: Guards = Guards(self, above.guards if above else None)
        self.ledger = Ledger()
        self.left: dict[int, OpenModel] = {}
        self._stop: Stop | None = None
        self.stopping = asyncio.Event()
        self.refusals = Refusals()
        self.reserve = Reserve()
        self.waiting: dict[str, asyncio.Future[Answer]] = above.waiting if above else {}
        self.outside: Outside = above.outside if above else Outside(parts, lambda: self.state.mode)
        self.started, self.last_model = parts.started, ("", "")
        self.call_ids: set[str] = above.call_ids if above else set()
        self._live = False
        self.told: set[str] = set()
        self.watchdog = Watchdog(parts.signals, parts.watchdog, self.tools)
        self.own_tools: Callable[[Core, Mapping[str, Tool]], Mapping[str, Tool]] = _none
        self.crew: Crew = above.crew if above else Crew()
        self.undone: list[range] = []
        self.cleaner: Cleaner = above.cleaner if above else Cleaner(on=parts.armed.redact)
        self.trunk: Hub = above.trunk if above else Hub(parts.log, parts.clock, self._apply, self.cleaner)
        self.hub: Hub | Branch = Branch(above.hub, branch, self._apply) if above else self.trunk
        keeps = above is None and parts.heuristic is None  # a heuristic has to be fed all of it
        self._keeper = Keeper(self, parts.log, parts.folds if keeps else None)
        if above is None:
            self.trunk.replay(self._keeper.restored())
            self._keeper.settle()
            self.state.settle()
        self._live = True
        self._know_budget()
        self.watchdog.restore(self.state.halts.watchdog, self.state.halts.mode)
        self.tally = Tally()
        self.hooked = Hooked()

    # ── facts ──

    def record(self, event: ev.Recorded) -> ev.Entry:
        """Writes a fact and lets the signals see it. What they find is recorded too."""
        entry = self.hub.record(event)
        self.root.latest = entry.time
        if self.cleaner.broken:
            self.root.cut(Down(SECRETS, "output", self.cleaner.taken()))
        kinds = self.cleaner.found()
        if kinds and (told := finding(event, kinds)) is not None:
            self.record(told)
        self._post(event)
        if self.parts.hooks is not None and self.root.hooked.began:
            self._notify(event)
        if isinstance(event, ev.UsageReported) and event.purpose != "step":
            self.cut(budgets.cost_breach(self.spent(), self.limits))
        for alert in self.watchdog.found():
            self.record(ev.GuardrailFinding(alert.signal, "behaviour", alert.severity, alert.reason))
            if self.watchdog.stops(alert):
                self.cut(alert)
        return entry

    def _post(self, event: ev.Recorded) -> None:
        """What it spends, to the pool; one that cannot be written to pays for nothing more."""
        gate = self.parts.gate
        if gate is None:
            return
        try:
            gate.saw(event, self.parts.clock.now())
        except StoreError as problem:
            self.root.cut(Down(POOL, "action", str(problem)))

    def _notify(self, event: ev.Recorded) -> None:
        from agent_cli.hooks.notices import about  # only who has hooks pays for them

        facts = about(event, inner=self.above is not None)
        if facts is not None and self.parts.hooks is not None:
            self.parts.hooks.later({"turn": self.hub.turn, "agent": self.name, **facts})

    def _apply(self, entry: ev.Entry) -> None:
        self._keeper.see(entry, live=self._live)
        self.state.feed(entry)
        if entry.branch != self.state.branch:
            self._apply_below(entry)
            return
        self.view.feed(entry)
        match entry.event:
            case ev.SessionStarted(provider=provider, model=model):
                self.started, self.last_model = entry.event, (provider, model)
            case ev.ModelSwitched(provider, model):
                self.last_model = provider, model
            case ev.Rewound(conversation=True):
                self._rewind(entry)
            case ev.CompactionPerformed() | ev.CheckpointPerformed():
                self.last_prompt = None  # the next one is meant to begin otherwise
                if isinstance(entry.event, ev.CheckpointPerformed):
                    self.task_ended = None
            case ev.AssistantMessage(parts):
                self.call_ids.update(call.call_id for call in calls_of(parts))
                self._know_budget()  # an answer without usage says that this service counts nothing
            case ev.UsageReported():
                self._know_budget()
            case _:
                pass
        if (note := _ended(self.parts.heuristic, entry.event)) is not None:
            self.task_ended = note
        (self.watchdog.see if self._live else self.watchdog.remember)(entry.event)

    def _rewind(self, entry: ev.Entry) -> None:
        """The view, the plan and the list of things to do are again what they were before that message."""
        if isinstance(entry.event, ev.Rewound):
            self.undone.append(range(entry.event.to, entry.seq + 1))
            self.view = again(self.state, self.parts.log, self.undone)
            self.last_prompt = None

    def _apply_below(self, entry: ev.Entry) -> None:
        """A fact of a subtask: what the session itself has to know of it."""
        match entry.event:
            case ev.AssistantMessage(parts):
                self.call_ids.update(call.call_id for call in calls_of(parts))
            case ev.ToolCallProposed():
                self.ledger = self.ledger.spend(self._child(entry), calls=1)
            case ev.UsageReported(_, usage, cost):
                self.ledger = self.ledger.spend(self._child(entry), cost or 0.0, usage.total)
                if self._live:
                    self.cut(budgets.cost_breach(self.spent(), self.limits))
            case _:
                pass

    def _child(self, entry: ev.Entry) -> str:
        """The subtask of this core that it is a fact of, or of one below it."""
        child = entry.branch.removeprefix(f"{self.key}:sub:").partition(":sub:")[0]
        return f"{self.key}:sub:{child}"

    @property
    def stop(self) -> Stop | None:
        return self._stop

    @stop.setter
    def stop(self, stop: Stop | None) -> None:
        self._stop = stop
        if stop is None:
            self.stopping.clear()
        else:
            self.cut_off = stop.reason
            self.stopping.set()

    def cut(self, stop: Stop | None) -> None:
        """Nothing more is dispatched from here on; the first reason is the one that counts."""
        if self._stop is None and stop is not None:
            self.stop = stop
            now = self.parts.clock.now()
            since = stop.since if isinstance(stop, Killed) and stop.since else self.root.latest or now
            self.cut_times = since, now

    # ── what rules and requests are made from ──

    @property
    def limits(self) -> Limits:
        """The ceilings in force: granted budget raises the session's cost ceiling, if there still is one."""
        limits = self.state.halts.limits(self.parts.limits)
        if self.slice is None:
            return limits
        most = min(limits.max_turn_cost or self.slice.usd, self.slice.usd)
        return msgspec.structs.replace(limits, max_turn_cost=most)

    def facts(self) -> Facts:
        facts, state = self.parts.facts, self.root.state
        needs_plan = "" if state.plan or not facts.needs_plan else state.plan_revoked or facts.needs_plan
        return msgspec.structs.replace(
            facts,
            mode=narrower(state.mode, self.parts.widest),
            deny=(*facts.deny, *state.denials),
            grants=(*state.grants, *self.root.turn_allow),
            needs_plan=needs_plan,
            tools=frozenset(self.tools()),
            killed=self.outside.closed(),
        )

    def spent(self) -> budgets.Spent:
        """What counts against the ceilings: of subtasks, too, unless their budgets come on top."""
        state = self.state
        turn, below = (state.turn_row, state.turn_below) if state.running else (ModelRow(""), ModelRow(""))
        additive = self.parts.children.budget == "additive"
        return budgets.Spent(
            steps=state.turn_steps,
            calls=state.turn_calls + (0 if additive else state.turn_calls_below) if state.running else 0,
            tokens=turn.usage.total - (below.usage.total if additive else 0),
            seconds=max(0.0, self.parts.clock.now() - state.turn_started),
            turn_cost=turn.cost - (below.cost if additive else 0.0),
            session_cost=state.total.cost - (state.below.cost if additive else 0.0),
        )

    def switch(self, opened: OpenModel, reason: str) -> None:
        """The next request goes to that model. Its text so far, if a request failed, is withdrawn."""
        self.root.left[id(self.model.provider)] = self.model
        self.model = opened
        self.state.card = opened.card
        self._know_budget()
        self.record(ev.ModelSwitched(opened.provider.name, opened.card.id, reason))

    def learn_window(self, window: int) -> None:
        """The service said how large the window is, or it could be seen. That keeps nothing from being sent."""
        self.learned = self.model.card.id
        self.model = self.model._replace(card=msgspec.structs.replace(self.model.card, window=window))
        self.state.card = self.model.card
        self._know_budget()

    def _know_budget(self) -> None:
        """Where the state of this model says that reduction begins. Not for each fact of a log that is read again."""
        if not self._live:
            return
        compaction, uncounted = self.parts.compaction, self.state.boundaries.uncounted
        limit = budget_of(self.model.card, compaction, counted=not uncounted).limit
        delegated = self.model.card.delegated
        self.state.context_limit = limit if compaction.enabled and not delegated else None

    def halts(self) -> tuple[Halt, ...]:
        """Everything that refuses turns now. Live config wins over what the log restored."""
        stopped = self.outside.killed()
        found = self.state.halts.standing(
            self.spent().session_cost, self.parts.limits, enforced=self.parts.watchdog == "enforce"
        )
        return found if stopped is None else (Halt(KILL_SWITCH, stopped.reason, how=stopped.how), *found)

    def tools(self) -> Mapping[str, Tool]:
        return self.prefix().tools

    def prefix(self) -> Prefix:
        """Of the current model; the same objects until the model changes, or the tools of servers do."""
        card, known = self.model.card, self._for_model
        if known is None or known.model != card.id or known.joined is not self.joined:
            world = self.parts.tools(card)
            own = {**world, **self.own_tools(self, world)}
            joined = {name: tool for name, tool in self.joined.items() if name not in own}
            tools = tuned({**own, **joined}, self.parts.settings.tunings)
            here = msgspec.structs.replace(self.started, cwd=self.parts.started.cwd)
            system = self.parts.system(here, card)
            specs = tuple(tool.spec for tool in tools.values())
            overhead = overhead_of(system, specs)
            known = Prefix(card.id, self.joined, tools, system, overhead, digests(system, specs))
            self._for_model = known
        return known


def _state_of(parts: Parts, branch: str) -> State:
    """Before anything is in it."""
    state = State(parts.log.session, parts.model.card, parts.limits, parts.facts.mode, parts.started.cwd)
    state.effort, state.checkpoint = parts.settings.effort or "", parts.checkpoint
    state.task_class = parts.task_class
    state.branch = branch
    return state


def _none(core: Core, world: Mapping[str, Tool]) -> Mapping[str, Tool]:
    return {}


def _ended(heuristic: TaskHeuristic | None, event: ev.Recorded) -> str | None:
    """What a heuristic says of the task that it thinks is done. One that breaks is passed over."""
    try:
        return heuristic.feed(event) if heuristic is not None else None
    except Exception:
        log.exception("the heuristic for the ends of tasks broke")
        return None

"""The one door: commands in, events out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

from agent_cli.context.breakdown import Share, shares
from agent_cli.engine import agents, endings, rewinding, stopping
from agent_cli.engine.adding import add_rule
from agent_cli.engine.admission import admitted
from agent_cli.engine.asides import Asides
from agent_cli.engine.beginning import begin, over
from agent_cli.engine.choosing import set_effort, set_model
from agent_cli.engine.core import Core
from agent_cli.engine.course import Course
from agent_cli.engine.endings import Cut
from agent_cli.engine.killing import KillWatch
from agent_cli.engine.own_tools.book import own_tools
from agent_cli.engine.own_tools.record_plan import revoked_block
from agent_cli.engine.parts import Parts
from agent_cli.engine.reduction import Reducer
from agent_cli.engine.size import context_size
from agent_cli.engine.state import State
from agent_cli.guardrails import telling
from agent_cli.guardrails.refusals import Refusals
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import (
    AddRule,
    Answer,
    Checkpoint,
    Command,
    Compact,
    Interrupt,
    Mode,
    Replan,
    Reset,
    Rewind,
    Say,
    SetEffort,
    SetMode,
    SetModel,
    StopAgent,
    Withdraw,
)
from agent_cli.kernel.errors import AgentError, StoreError
from agent_cli.kernel.messages import Text, ToolSpec
from agent_cli.kernel.wire import encodable

STOPPED = "the turn that started it was stopped"

log = logging.getLogger("agent_cli.engine")
noted = logging.getLogger("agent_cli.engine.notes")


class Session:
    """A durable conversation and the turn that runs on it. Belongs to one event loop.

    Opening one replays its log. Raises StoreError where the log cannot be read or written.
    """

    def __init__(self, parts: Parts) -> None:
        self._core = Core(parts)
        self._core.own_tools = own_tools
        self._reducer = Reducer(self._core)
        self._task: asyncio.Task[None] | None = None
        self._course: Course | None = None
        self._kill = KillWatch(self._core, self._halt, self._next, self._busy)
        self.subtasks = Asides(self._core, self._ensure_started, self._kill.begin)
        self.halts = self._core.halts
        self.writes = _writes(parts)
        self.servers = parts.joining
        self._idle = asyncio.Event()
        self._idle.set()
        self._revoked = ""  # what the model is yet to be told
        self._paused = bool(self.state.waiting)  # what waits goes out with the operator's next word
        self._closed = False
        if self.state.running:
            self._core.record(endings.abandoned())
        lost = agents.recover(self._core)
        self._notices = parts.told((*telling.unread(self.state.halts.unread, self.id), *lost))
        self._resumed = self.state.started
        self.since = self.state.seq if self._resumed else 0
        for rule in self.state.denials:
            parts.close(rule)

    @property
    def id(self) -> str:
        return self._core.state.session

    @property
    def state(self) -> State:
        """Where the session stands. Read it; never write it."""
        return self._core.state

    @property
    def halted(self) -> str:
        """Why every turn is refused, "" if none is."""
        return "; ".join(
            f"{halt.guardrail}: {halt.reason}{f' ({halt.how})' if halt.how else ''}" for halt in self.halts()
        )

    def tools(self) -> tuple[ToolSpec, ...]:
        """What the model may call, as it sees them."""
        return tuple(tool.spec for tool in self._core.tools().values())

    def shares(self) -> tuple[Share, ...]:
        """What fills the window now, by what it is; all of it is estimated where no service has counted anything."""
        counted = self.state.context_tokens if self.state.boundaries.measured else 0
        return shares(self._core.view.items(), counted, self._core.prefix().overhead)

    def context_used(self) -> tuple[int, bool]:
        """Tokens of the next prompt, and whether a part of the figure is an estimate."""
        return context_size(self._core), self.state.context_estimated or not self.state.boundaries.measured

    def events(self, since: int = 0) -> AsyncIterator[ev.Event]:
        """Joins at once: facts with seq > since from the log, then facts and previews as they come.

        Ends when the session is closed; raises StoreError when its log cannot be written any more.
        """
        return self._core.trunk.listen(since)

    def past(self, since: int, until: int) -> list[ev.Entry]:
        """Facts with since < seq <= until, from the log. Raises StoreError."""
        return self._core.trunk.past(since, until)

    def send(self, command: Command) -> None:
        """Takes effect at once; what came of it is an event. Raises StoreError."""
        self._kill.look()
        match command:
            case Say():
                self._say(command)
            case Withdraw(queued):
                if queued in self.state.waiting:
                    self._core.record(ev.MessageWithdrawn(queued))
            case Answer(call_id):
                waiting = self._core.waiting.get(call_id)
                if waiting is not None and not waiting.done():
                    waiting.set_result(command)
            case Interrupt():
                self._paused = self._task is not None
                self._stop()
                self._core.crew.stop_all()
            case StopAgent(label):
                self._core.crew.stop(label)
            case SetMode(mode):
                self._set_mode(mode)
            case SetModel(name):
                self._ensure_started()
                set_model(self._core, name)
            case SetEffort(effort):
                self._ensure_started()
                set_effort(self._core, effort)
            case Compact(focus):
                self._aside("not compacted", partial(self._reducer.now, focus))
            case AddRule():
                self._ensure_started()
                add_rule(self._core, command)
            case Replan(reason):
                self._replan(reason)
            case Checkpoint(note):
                self._aside("no checkpoint", partial(self._reducer.checkpoint, note))
            case Reset():
                self._reset(command)
            case Rewind():
                self._aside("not rewound", partial(rewinding.rewind, self._core, command))

    async def idle(self) -> None:
        """Returns when no turn runs and none is queued. Raises StoreError when the log broke."""
        await self._idle.wait()
        if self._core.trunk.failure is not None:
            raise self._core.trunk.failure

    async def close(self, reason: str = "") -> None:
        """Stops a running turn, lets go of the log and of the model. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._kill.end()
        self._stop()
        await self.subtasks.close()
        await self._core.crew.close()
        await self._idle.wait()
        if self._core.parts.hooks is not None:
            from agent_cli.engine.hooking import close  # only who has hooks pays for them

            await close(self._core, reason)
        try:
            if self.state.started and self._core.trunk.failure is None:
                self._core.record(ev.SessionEnded(reason))
        finally:
            await stopping.let_go(self._core)
            current = self._core.model
            for opened in {**self._core.left, id(current.provider): current}.values():
                await opened.provider.close()

    # ── commands ──

    def _say(self, say: Say) -> None:
        """At once where it can be; else it waits in the log, so that it is not lost with this process."""
        say = encodable(Say, say)
        self._paused = False
        idle = self._task is None
        free = not (self.state.waiting or self.halted)
        if idle and (free or say.when == "now"):
            self._begin(say)
        else:
            self._ensure_started()
            behind = any(held.when == "after" for held in self.state.waiting.values())
            after = behind if idle else say.when == "after"
            self._core.record(ev.MessageQueued(say.content, "after" if after else "steer"))
        if idle:
            self._next()

    def _reset(self, reset: Reset) -> None:
        """What waits drives the first turn after it."""
        core = self._core
        self._ensure_started()
        if problem := telling.why_not(core.halts(), reset.guardrail, reset.added_usd, self.id):
            core.record(ev.OperatorNote(problem, "error"))
            return
        core.record(ev.GuardrailReset(reset.guardrail, reset.added_usd))
        self._paused = False
        if self._task is None:
            self._next()

    def _stop(self) -> None:
        """Cancels the running turn. A task that was cancelled before its first step would never end its turn."""
        if self._task is not None:
            asyncio.get_running_loop().call_soon(self._task.cancel)

    def _halt(self) -> None:
        """Ends at once whatever runs, for a reason that the core knows."""
        self.subtasks.stop()
        self._core.crew.stop_all(self.halted)
        if self._course is not None:
            self._course.halt()
        else:
            self._stop()

    def _busy(self) -> bool:
        return self._task is not None or self.subtasks.busy or bool(self._core.crew.running)

    def _set_mode(self, mode: Mode) -> None:
        self._ensure_started()
        if mode != self.state.mode:
            self._core.record(ev.ModeSwitched(mode))

    def _replan(self, reason: str) -> None:
        """Takes the plan out of force; the model learns of it with the next request."""
        core = self._core
        self._ensure_started()
        if not self.state.plan or core.parts.plans is None:
            core.record(ev.OperatorNote("there is no plan in force, so none was revoked", "warning"))
            return
        try:
            path = core.parts.plans.revoke(self.state.plan_path)
        except AgentError as problem:
            core.record(ev.OperatorNote(f"the plan stays in force: {problem}", "error"))
            return
        core.record(ev.PlanRevoked(path, reason))
        self._revoked = revoked_block(reason)

    def _tell_model(self) -> int:
        """What came up beside the conversation; returns how many reports of agents there were."""
        if self._revoked:
            self._core.record(ev.OperatorMessage((Text(self._revoked),), by="product"))
            self._revoked = ""
        return agents.deliver(self._core)

    def _aside(self, refused: str, work: Callable[[], Awaitable[None]]) -> None:
        """What the operator wants done between turns; a message that comes meanwhile waits for it."""
        if self._task is not None or not self.state.started:
            why = "a turn is running; interrupt it or wait" if self._task else "nothing was said yet"
            self._ensure_started()
            self._core.record(ev.OperatorNote(f"{refused}: {why}", "warning"))
            return
        self._idle.clear()
        self._task = asyncio.create_task(self._work_aside(refused, work))

    async def _work_aside(self, refused: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except asyncio.CancelledError:
            self._core.record(ev.OperatorNote(f"{refused}: interrupted", "warning"))
        except StoreError:
            log.exception("the session's log cannot be written")
        except Cut:
            self._core.record(ev.OperatorNote(f"not compacted: {self._core.cut_off}", "error"))
        except AgentError as problem:
            self._core.record(ev.OperatorNote(f"{refused}: {problem}", "error"))
        finally:
            stopping.between_turns(self._core)
            self._task = None
            self._next()

    def _ensure_started(self) -> None:
        """The first fact of a new session; of a resumed one, that it goes on with another model."""
        core = self._core
        if not self.state.started:
            core.record(core.parts.started)
        elif self._resumed and core.last_model != (core.model.provider.name, core.model.card.id):
            core.record(ev.ModelSwitched(core.model.provider.name, core.model.card.id, "chosen on resume"))
        for note in self._notices:
            core.record(note)
            level = logging.INFO if note.level in ("detail", "info") else logging.WARNING
            noted.log(level, "%s: %s", self.id, note.text)
        self._notices = []
        self._resumed = False

    # ── turns ──

    def _begin(self, say: Say, queued: int = 0) -> None:
        """The operator's message is in the log before this returns. `queued` is its seq where it waited.

        A message that must not wait takes those along that do; to a halted session it is refused.
        """
        core = self._core
        self._ensure_started()
        core.trunk.turn += 1
        core.hub.step = 0
        core.stop = core.cut_times = None
        core.cut_off = ""
        core.refusals = Refusals()
        halts = core.halts()
        begin(core, say, refused=bool(halts))
        if halts:
            core.record(endings.refused(telling.halted(halts, self.id)))
            return
        if say.when == "now":
            self._take(list(self.state.waiting.items()))
        core.record(ev.OperatorMessage(say.content, queued=queued))
        self._tell_model()
        if observed := core.watchdog.block():
            core.record(ev.OperatorMessage((Text(observed),), by="product"))
        self._idle.clear()
        self._kill.again()
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        try:
            self._course = Course(self._core, self._reducer, self._take_steered)
            ending = await admitted(self._core, self._course.ending)
            if ending is not None:
                self._core.guards.report()
                self._core.record(ending)
                if ending.outcome not in ("completed", "error"):
                    self._core.crew.stop_all("" if ending.outcome == "interrupted" else STOPPED)
        except StoreError:
            log.exception("the session's log cannot be written")  # listeners and idle() were told by the hub
        finally:
            self._core.hub.step = 0
            over(self._core)
            self._task = self._course = None
            self._next()

    def _take_steered(self) -> int:
        """Records the messages that were typed while the turn ran; returns how many."""
        taken = self._take([(seq, say) for seq, say in self.state.waiting.items() if say.when == "steer"])
        return taken + self._tell_model()

    def _take(self, waiting: list[tuple[int, Say]]) -> int:
        for seq, say in waiting:
            self._core.record(ev.OperatorMessage(say.content, queued=seq))
        return len(waiting)

    def _next(self) -> None:
        """The next turn, from what waits. After an interrupt that goes on waiting, for the operator's next word."""
        waiting = sorted(self.state.waiting.items(), key=lambda item: item[1].when != "steer")
        held = self._paused or self._closed or self.halted or self._core.trunk.failure is not None
        if waiting and self._task is None and not held:
            seq, say = waiting[0]
            self._begin(say, seq)
        if self._task is None:
            self._idle.set()


def _writes(parts: Parts) -> frozenset[str]:
    """Of "summary" and "record" (of a task that is done), what can be written in the session."""
    record = parts.checkpoint != "off" and (parts.checkpointer or parts.record_prompt)
    summary = parts.compactor or parts.summary_prompt
    return frozenset(name for name, there in (("summary", summary), ("record", record)) if there)

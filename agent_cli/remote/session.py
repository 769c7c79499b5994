"""The door to a session of an attach server: the same facts, folded the same way; commands go there.

A command is sent, and what came of it is fetched, before `send` returns: front ends count on that.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from agent_cli.context.breakdown import Share
from agent_cli.engine.hub import Queue, follow
from agent_cli.engine.standing import standing
from agent_cli.engine.state import State
from agent_cli.guardrails.kill_switch import NAME as KILL_SWITCH
from agent_cli.kernel import commands as do
from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.errors import AgentError, StoreError
from agent_cli.kernel.events import (
    ArgumentsDelta,
    AssistantMessage,
    Entry,
    Event,
    Live,
    Output,
    ReasoningDelta,
    TextDelta,
    ToolCallStarted,
    ToolProgress,
    ToolReturned,
    Waiting,
)
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text, ToolSpec, text_of
from agent_cli.kernel.orders import written
from agent_cli.kernel.serving import Served
from agent_cli.kernel.usage import ModelCard
from agent_cli.remote.wire import Declined, Placed, Unreachable, Wire

SOONEST, LATEST = 0.2, 5.0
"""Seconds until a lost connection is tried again: at first, and at most."""
FOR_GOOD = (401, 403, 404)
"""Statuses after which asking again is of no use."""

MARK = "mark_task_done"
PLAIN = re.compile(r"[\w.-]+", re.ASCII)
"""Names of calls that a path can hold as they are; models choose them."""


class Aside:
    agents: tuple[AgentDefinition, ...] = ()
    """Who there is on that machine does not go over HTTP; what they do is in the log."""

    async def ask(self, question: str, /) -> str:
        raise AgentError("Side questions do not go over HTTP: ask in a terminal on that machine.")

    async def gather(
        self, name: str, wanted: Sequence[do.Wanted], allow: tuple[str, ...] = (), /
    ) -> tuple[Output, ...]:
        raise AgentError(f"What /{name} runs does not go over HTTP: use it in a terminal on that machine.")


class RemoteSession:
    """Made by `attach`."""

    def __init__(self, wire: Wire, state: State, watchdog: str, tools: tuple[ToolSpec, ...]) -> None:
        self.state = state
        self.watchdog = watchdog
        self.subtasks = Aside()
        self._wire = wire
        self._tools = tools
        self._killed = ""
        self._entries: list[Entry] = []
        self._queues: set[Queue] = set()
        self._reading: asyncio.Task[None] | None = None
        self._closed = False
        self._lost = False
        self._answered = (0, 0)  # turn and step of the last answer
        self._running: set[str] = set()  # calls that have begun and not returned
        self.since = 0

    @property
    def id(self) -> str:
        return self.state.session

    @property
    def servers(self) -> Served | None:
        """Decided: those are seen to where the session is open."""
        return None

    @property
    def halted(self) -> str:
        halts = standing(self.state, self.watchdog).halts
        told = [f"{halt.guardrail}: {halt.reason}" for halt in halts]
        return "; ".join(filter(None, (self._killed, *told)))

    def tools(self) -> tuple[ToolSpec, ...]:
        return self._tools

    def shares(self) -> tuple[Share, ...]:
        """Decided: what fills the window is known where the session is open."""
        return ()

    def past(self, since: int, until: int) -> list[Entry]:
        return [entry for entry in self._entries if since < entry.seq <= until]

    def events(self, since: int = 0) -> AsyncIterator[Event]:
        past = [entry for entry in self._entries if entry.seq > since]
        queue: Queue = asyncio.Queue()
        self._queues.add(queue)
        if self._closed:
            queue.put_nowait(None)
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        return follow(past, queue, self._queues)

    def send(self, command: do.Command) -> None:
        """Raises Declined with the server's words, Unreachable, AgentError for what does not go over HTTP."""
        place, body = request_of(command)
        answer = self._wire.post(f"/sessions/{self.id}{place}", body)
        if isinstance(command, do.Say):
            halt: dict[str, Any] = answer["halt"] or {}
            killed = halt.get("guardrail") == KILL_SWITCH
            self._killed = f"{KILL_SWITCH}: {halt['reason']}" if killed else ""
        self.catch_up()

    def catch_up(self) -> None:
        for entry in self._wire.facts(self.id, self.state.seq):
            self._take(entry)

    async def idle(self) -> None:
        """Returns when no turn runs. Raises StoreError."""
        events = self.events(self.state.seq)
        while self.state.running:
            await anext(events)

    async def close(self, reason: str = "") -> None:
        """The session goes on where it is; nobody listens from here any more."""
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})
        for queue in self._queues:
            queue.put_nowait(None)
        self._wire.close()

    async def _read(self) -> None:
        """The stream, again and again where it is lost, until there is no use in it or the operator leaves."""
        delay = SOONEST
        while True:
            before = self.state.seq
            why = await self._streamed()
            if why is None:
                return
            delay = SOONEST if self.state.seq > before else min(delay * 2, LATEST)
            self._lost = True
            self._show(Waiting(delay, why))
            await asyncio.sleep(delay)

    async def _streamed(self) -> str | None:
        """Why the stream ended, None where it has for good."""
        try:
            async with aclosing(self._wire.stream(self.id, self.state.seq, self._opened)) as events:
                async for placed in events:
                    self._heed(placed)
        except Declined as problem:
            if problem.status in FOR_GOOD:
                self._fail(StoreError(str(problem)))
                return None
            return str(problem)
        except Unreachable as problem:
            return str(problem)
        return "the server ended the stream"

    def _opened(self) -> None:
        """Whoever was told that the stream was lost is told that nothing is waited for any more."""
        if self._lost:
            self._lost = False
            self._show(Waiting(0.0, ""))

    def _heed(self, placed: Placed) -> None:
        event, place = placed
        if isinstance(event, Entry) or not self._is_stale(event, place):
            self._take(event)

    def _is_stale(self, preview: Live, place: tuple[int, int]) -> bool:
        """What it shows a piece of was fetched whole meanwhile."""
        match preview:
            case TextDelta() | ReasoningDelta() | ArgumentsDelta():
                return place <= self._answered
            case ToolProgress(call_id):
                return call_id not in self._running
            case Waiting():
                return not self.state.running

    def _take(self, event: Event) -> None:
        """A fact may come twice, by the stream and by `catch_up`."""
        if isinstance(event, Entry):
            if event.seq <= self.state.seq:
                return
            self._entries.append(event)
            self.state.feed(event)
            self._note(event)
        self._show(event)

    def _note(self, entry: Entry) -> None:
        match entry.event:
            case AssistantMessage() if not entry.branch:
                self._answered = (entry.turn, entry.step)
            case ToolCallStarted(call_id):
                self._running.add(call_id)
            case ToolReturned(call_id):
                self._running.discard(call_id)
            case _:
                pass  # previews are of answers and of running tools

    def _show(self, event: Event) -> None:
        for queue in self._queues:
            queue.put_nowait(event)

    def _fail(self, problem: StoreError) -> None:
        for queue in self._queues:
            queue.put_nowait(problem)


async def attach(wire: Wire, session: str, card_of: Callable[[str], ModelCard]) -> RemoteSession:
    """The session as it stands there. `card_of` knows the model of a name PROVIDER/MODEL.

    Raises Declined and Unreachable.
    """
    known = await asyncio.to_thread(wire.get, f"/sessions/{session}")
    stands = await asyncio.to_thread(wire.get, f"/sessions/{session}/guardrails")
    tools = await asyncio.to_thread(_tools, wire, session)
    state = State(known["id"], card_of(str(known["model"])), limits_of(stands), cwd=str(known["cwd"]))
    marks = any(tool.name == MARK for tool in tools)
    state.checkpoint = "model" if marks else "operator"
    found = RemoteSession(wire, state, str(stands["watchdog"]), tools)
    await asyncio.to_thread(found.catch_up)
    found.since = state.seq
    return found


def _tools(wire: Wire, session: str) -> tuple[ToolSpec, ...]:
    """None where another process has the session: only that one knows."""
    try:
        found = wire.get(f"/sessions/{session}/tools")["tools"]
    except Declined:
        return ()
    return tuple(ToolSpec(each["name"], each["description"], each["schema"]) for each in found)


def limits_of(stands: dict[str, Any]) -> Limits:
    """The ceilings as they were set, without what was granted: the log says that."""
    known = {(row["guardrail"], row["per"]): row["limit"] for row in stands["ceilings"]}
    session = known.get(("cost_ceiling", "session"))
    return Limits(
        max_steps=known.get(("step_ceiling", "turn")),
        max_tool_calls=known.get(("tool_call_ceiling", "turn")),
        max_tokens=known.get(("token_ceiling", "turn")),
        max_duration=known.get(("duration_ceiling", "turn")),
        max_turn_cost=known.get(("cost_ceiling", "turn")),
        max_session_cost=session - stands["added_usd"] if session else None,
    )


def request_of(command: do.Command) -> tuple[str, dict[str, Any] | None]:
    """Where it goes, and the body. Raises AgentError."""
    match command:
        case do.Say(content, when):
            if not all(isinstance(block, Text) for block in content):
                raise AgentError("Pictures and files do not go over HTTP: say it in words.")
            return "/inject", {"message": text_of(content), "when": "after" if when == "after" else "steer"}
        case do.Answer(call_id, allowed, scope, message, edit) if PLAIN.fullmatch(call_id):
            decision = "approve" if allowed else "deny"
            return f"/approvals/{call_id}", {
                "decision": decision,
                "scope": scope,
                "message": message,
                "edit": edit,
            }
        case do.Interrupt():
            return "/interrupt", None
        case do.Reset(guardrail, added):
            return "/guardrails/reset", {"guardrail": guardrail, "additional_budget_usd": added}
        case do.Compact(focus):
            return "/compact", {"focus": focus}
        case do.Checkpoint(note):
            return "/checkpoint", {"note": note}
        case other:
            return "/orders", written(other)

"""A session that plays given events, for front ends: no engine, no provider, no store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

from agent_cli.engine.hub import Hub
from agent_cli.engine.state import State
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Command, Interrupt, Say
from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.usage import ModelCard, Usage

INTERRUPTED = ev.TurnError("canceled", "interrupted", 130, "interrupted by the operator")


class Stopwatch:
    """A clock that stands still."""

    def now(self) -> float:
        return 1_700_000_000.0

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(0)


class ListLog:
    """`full` makes appending fail, as a full disk does."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.entries: list[ev.Entry] = []
        self.full = False
        self.closed = False

    def append(self, entry: ev.Entry, /) -> None:
        if self.full:
            raise StoreError("the session database is full")
        self.entries.append(entry)

    def read(self, since: int = 0) -> Iterator[ev.Entry]:
        return iter([entry for entry in self.entries if entry.seq > since])

    def close(self) -> None:
        self.closed = True


class Feed:
    """Plays `script` as the turn of a `Say`. An asyncio.Event in it holds the turn until it is set.

    Each StepStarted begins a new step. An Interrupt ends the turn as the engine does. `commands` are all that
    were sent; `begun` is set with the first step, `closed` when it is closed.
    """

    def __init__(self, *script: ev.Recorded | ev.Live | asyncio.Event, obeys: bool = True) -> None:
        self.script = script
        self.commands: list[Command] = []
        self.begun = asyncio.Event()
        self.closed = asyncio.Event()
        self.log = ListLog("S1")
        self.state = State("S1", ModelCard("scripted-1", "scripted"), Limits())
        self._obeys = obeys
        self._hub = Hub(self.log, Stopwatch(), self.state.feed)
        self._task: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        return "S1"

    @property
    def since(self) -> int:
        return self.state.seq

    def events(self, since: int = 0) -> AsyncIterator[ev.Event]:
        return self._hub.listen(since)

    def send(self, command: Command) -> None:
        self.commands.append(command)
        if isinstance(command, Say):
            self._hub.record(
                ev.SessionStarted("/w", "0", "linux", "2026-01-01", "scripted", "scripted-1", "ask")
            )
            self._hub.turn += 1
            self._hub.record(ev.TurnStarted("scripted-1"))
            self._hub.record(ev.OperatorMessage(command.content))
            self._task = asyncio.create_task(self._play())
        elif isinstance(command, Interrupt) and self._task is not None and self._obeys:
            self._task.cancel()

    async def idle(self) -> None:
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self, reason: str = "") -> None:
        if not self.closed.is_set() and self._hub.failure is None:
            self._hub.record(ev.SessionEnded(reason))
        self._hub.close()
        self.closed.set()

    async def _play(self) -> None:
        try:
            for item in self.script:
                if isinstance(item, asyncio.Event):
                    await item.wait()
                elif isinstance(item, ev.Live):
                    self._hub.show(item)
                else:
                    self._hub.step += isinstance(item, ev.StepStarted)
                    self._hub.record(item)
                    self.begun.set()
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self._hub.record(INTERRUPTED)
        except StoreError:
            pass


def step(text: str = "", *calls: ToolCall, cost: float | None = 0.25) -> tuple[ev.Recorded | ev.Live, ...]:
    """One model request: its text as deltas of a word, the message, what it cost."""
    words = [ev.TextDelta(word) for word in text.split("|")] if text else []
    said = (Text(text.replace("|", "")),) if text else ()
    return (
        ev.StepStarted("scripted-1"),
        *words,
        ev.AssistantMessage((*said, *calls), "scripted", "scripted-1"),
        ev.UsageReported("scripted-1", Usage(100, 20, 3, 40, 5), cost),
    )


def ran(call: ToolCall, output: str, *, ok: bool = True) -> tuple[ev.Recorded, ...]:
    """A call that was proposed, ran and returned."""
    return (
        ev.ToolCallProposed(call),
        ev.ToolCallStarted(
            call.call_id, call.name, " ".join(map(str, (call.arguments or {}).values())), "mode"
        ),
        ev.ToolReturned(call.call_id, call.name, ev.Output((Text(output),), ok=ok), duration_s=0.5),
    )


DONE = ev.TurnCompleted("completed", "stop")

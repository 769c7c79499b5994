"""A session on a real store and a real clock, in which a drill stops something, and what came of it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, NamedTuple

from agent_cli.engine.clock import SystemClock
from agent_cli.engine.subtasks import SubtaskSpec
from agent_cli.guardrails.checks.check import Found, Subject
from agent_cli.guardrails.checks.past import Past
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Say
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Text
from agent_cli.kernel.usage import Usage
from agent_cli.ports import Say as Shown
from agent_cli.store.sqlite import open_store
from agent_cli.tools.writing import to_its_end
from tests.fakes.models import Playing, Reply
from tests.fakes.sessions import open_session
from tests.fakes.tools import FakeTool, PathArguments

DEAR = Usage(input=1_000, output=50_000)
"""$0.101 at the prices of the fake model."""
WRITES = 0.15
"""Seconds that a write takes."""


class Came(NamedTuple):
    """What a drill came to. `asked` counts requests to the model, `files` what was written; latencies are seconds."""

    outcome: str
    exit_code: int
    reason: str
    asked: int
    files: tuple[str, ...]
    partial: str
    pending: int
    dispatch: float
    full: float


class Stage:
    """`at_work` is set when a tool or the model is under way, so that the drill can stop it."""

    def __init__(
        self, directory: Path, *replies: Reply, tools: tuple[FakeTool, ...] = (), **changes: Any
    ) -> None:
        self.directory = directory
        self.at_work = asyncio.Event()
        self.provider = Playing(*replies)
        self._path = directory / "sessions.db"
        self._store, self._other = open_store(self._path), open_store(self._path)
        self.session = open_session(
            self.provider,
            *(tools or (self.reads(), self.writes())),
            log=self._store.create("drill", "/p"),
            clock=SystemClock(),
            switches=self._store.switches.on,
            **changes,
        )

    # ── what is under way ──

    def reads(self) -> FakeTool:
        """Reads that do not end."""
        return FakeTool("read", self._never)

    def writes(self) -> FakeTool:
        """Writes a file, which takes its time and is not cut short."""
        return FakeTool("write", self._write, read_only=False)

    async def stalls(self, _: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        yield ev.TextDelta("half an answer ")
        self.at_work.set()
        await asyncio.Event().wait()

    async def _never(self, path: str, say: Shown) -> str:
        self.at_work.set()
        await asyncio.Event().wait()
        return path

    async def _write(self, path: str, say: Shown) -> str:
        loop = asyncio.get_running_loop()

        def put() -> None:
            loop.call_soon_threadsafe(self.at_work.set)
            time.sleep(WRITES)  # what a large file takes
            (self.directory / path).write_text("whole", "utf-8")

        cut = await to_its_end(put)
        if cut is not None:
            cut.args = (f"wrote {path}",)
            raise cut
        return f"wrote {path}"

    # ── what stops it ──

    async def kill(self) -> None:
        self._other.switches.turn_on("all", "a drill", "ann", time.time())

    async def disconnect(self) -> None:
        """Takes the table of kill switches away, as a damaged disk would."""
        connection = sqlite3.connect(self._path, timeout=10)
        connection.execute("DROP TABLE kill_switch")
        connection.commit()
        connection.close()

    async def spend(self) -> None:
        """A subtask beside the turn costs more than the session may."""
        spec = SubtaskSpec("spend", "You spend.", "spend", model="fake-1")
        try:
            await self.session.subtasks.run(spec)
        except AgentError:
            return  # it was stopped by what it spent

    # ── the course ──

    async def say(self, text: str = "go") -> None:
        """A turn to its end."""
        self.session.send(Say((Text(text),), "now"))
        await self.session.idle()

    async def begin(self) -> None:
        """A turn, until something is under way."""
        self.session.send(Say((Text("go"),), "now"))
        await self.at_work.wait()

    async def asks(self) -> str:
        """A turn, until it waits for an answer; gives the id of the call."""
        events = self.session.events()
        self.session.send(Say((Text("go"),), "now"))
        async for event in events:
            if isinstance(event, ev.Entry) and isinstance(event.event, ev.ApprovalRequested):
                return event.event.call_id
        raise AssertionError("nothing was asked")

    async def allows_all(self) -> int:
        """A turn in which every question is answered; how many there were."""
        asked, events = 0, self.session.events()
        self.session.send(Say((Text("go"),), "now"))
        async for event in events:
            if not isinstance(event, ev.Entry):
                continue
            if isinstance(event.event, ev.ApprovalRequested):
                asked += 1
                self.session.send(Answer(event.event.call_id, allowed=True))
            if isinstance(event.event, ev.TERMINAL):
                break
        await self.session.idle()
        return asked

    async def came(self) -> Came:
        await self.session.idle()
        entries = [entry for entry in self._store.entries("drill") if not entry.branch]
        last = next(entry for entry in reversed(entries) if isinstance(entry.event, ev.TERMINAL))
        turn = [entry for entry in entries if entry.turn == last.turn]
        trip = next(
            (e.event for e in turn if isinstance(e.event, ev.GuardrailTrip) and e.event.halted_turn), None
        )
        since = trip.since if trip else turn[0].time
        assert isinstance(last.event, ev.TERMINAL)
        found = Came(
            outcome=last.event.outcome,
            exit_code=last.event.exit_code,
            reason=trip.reason if trip else getattr(last.event, "message", ""),
            asked=len(self.provider.asked),
            files=tuple(sorted(path.name for path in self.directory.glob("*.txt"))),
            partial="".join(
                part.text
                for entry in turn
                if isinstance(entry.event, ev.AssistantMessage) and entry.event.partial
                for part in entry.event.parts
                if isinstance(part, Text)
            ),
            pending=len(self.session.state.pending),
            dispatch=trip.dispatch_s if trip else last.time - since,
            full=last.time - since,
        )
        ends = [e for e in turn if isinstance(e.event, ev.TERMINAL)]
        assert len(ends) == 1, "a turn ends once"
        calls = [e.event.call.call_id for e in turn if isinstance(e.event, ev.ToolCallProposed)]
        results = [e.event.call_id for e in turn if isinstance(e.event, ev.ToolReturned)]
        assert sorted(calls) == sorted(results), "each call has its one result"
        return found

    async def close(self) -> None:
        await self.session.close()
        for store in (self._store, self._other):
            store.close()


class DoesNothing(FakeTool):
    """Says of every call that nothing had to be done, but of one for "z"."""

    async def run(self, args: PathArguments, say: Shown, /) -> ev.Output:
        if args.path.startswith("z"):
            return await super().run(args, say)
        self.ran.append(args.path)
        return ev.Output((Text(f"{args.path} is so already"),), no_op=True)


class Remote:
    """A check of answers that asks a server on loopback."""

    name = "remote"
    version = "1"
    surface = "output"
    gates = True
    sample = 1.0
    keeps = 0.0
    fallback = None

    def __init__(self, port: int) -> None:
        self._port = port

    async def look(self, subject: Subject, past: Past, /) -> Found | None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.close()
        await reader.read()
        return None

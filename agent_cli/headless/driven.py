"""A whole session that another program drives: orders come in on stdin, events go out on stdout.

The session lasts until stdin ends and nothing is left to do. Approvals wait for the program's answer; once it can answer no
more they are refused.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from agent_cli.headless import summary
from agent_cli.headless.inbound import LONGEST, Lines
from agent_cli.headless.jsonl import StreamPrinter
from agent_cli.headless.run import REFUSAL, Door, Run, conclude
from agent_cli.headless.summary import Failure, Verdict
from agent_cli.kernel import events as ev
from agent_cli.kernel import orders
from agent_cli.kernel.commands import Answer, Interrupt
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Block

GONE = "the program that drives this session closed its input, so nobody can approve this ({rule})"


class Driveable(Door, Protocol):
    async def idle(self) -> None: ...


async def drive(
    session: Driveable,
    first: tuple[Block, ...],
    out: StreamPrinter,
    *,
    strict: bool = False,
    descriptor: int = 0,
) -> int:
    """`first` is what is said at once, () for nothing. Returns the exit code: that of the last turn."""
    return await conclude(Driven(session, first, out, strict=strict, descriptor=descriptor), out)


class Driven(Run):
    def __init__(
        self,
        session: Driveable,
        first: tuple[Block, ...],
        out: StreamPrinter,
        *,
        strict: bool,
        descriptor: int,
    ) -> None:
        super().__init__(session, first, out, strict=strict)
        self._driven = session
        self._stream = out
        self._lines = Lines(self._take, self._finish, descriptor)
        self._leaving: asyncio.Task[None] | None = None

    def _begin(self) -> None:
        state = self._session.state
        self._stream.ready(self._session.id, state.card.id, state.mode)
        if self._content:
            super()._begin()
        self._lines.start()

    def _interrupt(self) -> None:
        if self._broken is None:
            self._session.send(Interrupt())
            self._finish()

    async def _end(self, ending: ev.TurnCompleted | ev.TurnError) -> None:
        self._ending = ending

    def _judge(self) -> Verdict:
        if self._broken is None and self._stopping.is_set():
            return self._stopped()
        if self._broken is None and self._ending is None:
            said = "stdin ended before there was a message, so there was nothing to do"
            return summary.failed(Failure("usage", said), summary.EXIT_USAGE)
        return super()._judge()

    def _asked(self, asked: ev.ApprovalRequested) -> None:
        if self._leaving is not None:
            self._refuse(asked)

    def _refuse(self, asked: ev.ApprovalRequested) -> None:
        told = f"{GONE} — {REFUSAL}".format(rule=asked.rule)
        self._session.send(Answer(asked.call_id, allowed=False, message=told))

    def _take(self, number: int, line: bytes | None) -> None:
        """One line of the program; what is wrong with it is told, and changes nothing."""
        if self._leaving is not None:
            return
        try:
            if line is None:
                raise orders.Unreadable(f"the line is longer than {LONGEST:,} bytes")
            command = orders.read(line)
            if isinstance(command, Answer) and command.call_id not in self._session.state.pending:
                raise orders.Unreadable(f"no approval waits for an answer to '{command.call_id}'")
            if command is None:
                self._finish()
            else:
                self._session.send(command)
        except AgentError as problem:
            self._stream.input_error(number, str(problem))
            self._out.voice.note(f"line {number} of stdin: {problem}")

    def _finish(self) -> None:
        """Nothing more comes: what runs and what waits is done, then the session is let go."""
        if self._leaving is None:
            self._leaving = asyncio.get_running_loop().create_task(self._guarded(self._leave()))
            for asked in tuple(self._session.state.pending.values()):
                self._refuse(asked)

    async def _leave(self) -> None:
        await self._driven.idle()
        await self._session.close()

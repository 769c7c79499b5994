"""One turn on one session, printed, and its exit code. What an unattended run answers is decided here."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from agent_cli.engine.state import State
from agent_cli.headless import summary
from agent_cli.headless.jsonl import JsonPrinter, StreamPrinter
from agent_cli.headless.narration import Level
from agent_cli.headless.patience import Patience
from agent_cli.headless.printer import Printer, Voice
from agent_cli.headless.signals import Stops
from agent_cli.headless.streams import Stream
from agent_cli.headless.structured import AGAIN, Fitting, Misfit, Shape
from agent_cli.headless.summary import Failure, Result, Tally, Verdict
from agent_cli.headless.text import TextPrinter
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Command, Interrupt, Say
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Block, Text

if TYPE_CHECKING:  # few runs ask
    from agent_cli.headless.questions import Questions

log = logging.getLogger("agent_cli.headless")

PRINTERS: dict[str, type[Printer]] = {"text": TextPrinter, "json": JsonPrinter, "stream-json": StreamPrinter}
STOP_WITHIN = 10.0
"""Seconds that remain for the turn to end, or for a reader to take the result, once a stop was asked for."""
REFUSAL = "nobody is there to approve this ({rule}): it takes --permission-mode acceptEdits, --yolo or an allow rule"


class Door(Protocol):
    """What a front end needs of a session."""

    @property
    def id(self) -> str: ...
    @property
    def state(self) -> State: ...
    @property
    def since(self) -> int:
        """The last fact from before this run; 0 where the session began with it."""
        ...

    def events(self, since: int = 0) -> AsyncIterator[ev.Event]: ...
    def send(self, command: Command) -> None: ...
    async def close(self, reason: str = "") -> None: ...


def printer_of(output_format: str, level: Level, stdout: int = 1, stderr: int = 2) -> Printer:
    """The printer of one of PRINTERS, over two descriptors."""
    return PRINTERS[output_format](Stream(stdout), Voice(Stream(stderr), level))


async def run_once(
    session: Door,
    content: tuple[Block, ...],
    out: Printer,
    *,
    strict: bool = False,
    shape: Shape | None = None,
    asks: bool = False,
) -> int:
    """Says `content`, prints until the turn has ended, closes the session, prints the result.

    `shape` is what the answer has to be; where it is not, it is asked for once more. With `asks`, questions of the model
    are answered on stdin. Returns the exit code. SIGINT, SIGTERM and SIGHUP stop the turn cleanly, a second one kills. A reader that
    closes stdout ends the run: the turn is stopped, and that is no failure.
    """
    if shape is not None:
        out.hold()
        content = (*content, Text(shape.asked))
    run = Run(session, content, out, strict=strict, shape=shape)
    if asks:
        from agent_cli.headless.questions import Questions

        run.questions = Questions(session.send, out.voice.question)
    return await conclude(run, out)


async def conclude(run: Run, out: Printer) -> int:
    """The run to its end, printed; its exit code."""
    with Stops(run.stop) as stops:
        run.stops = stops
        result = await run.result()
        out.finish(result)
        delivered = await run.within(out.drained())
    if not delivered:
        return stops.exit_code
    lost = out.out.failure
    if lost is None or out.out.gone:
        return result.exit_code
    out.voice.reason(run.verdict(summary.unwritten(lost)))
    return result.exit_code or summary.EXIT_FAILED


class Run:
    """What one run keeps while its turn goes on."""

    stops: Stops
    questions: Questions | None = None

    def __init__(
        self,
        session: Door,
        content: tuple[Block, ...],
        out: Printer,
        *,
        strict: bool = False,
        shape: Shape | None = None,
    ) -> None:
        self._session = session
        self._content = content
        self._out = out
        self._strict = strict
        self._shape = shape
        self._fitting: Fitting | None = None
        self._misfit = ""  # why the last answer does not fit
        self._cut_off = False  # the last answer, by its output limit
        self._tally = Tally()
        self._begun = time.monotonic()
        self._stopping = asyncio.Event()
        self._ending: ev.TurnCompleted | ev.TurnError | None = None
        self._broken: Failure | None = None

    def stop(self) -> None:
        """Asked for by a signal, or because nobody reads any more.

        The interrupt comes a moment later: a turn that was begun in this very moment must run to be stopped.
        """
        self._stopping.set()
        asyncio.get_running_loop().call_soon(self._interrupt)

    async def within(self, work: Coroutine[Any, Any, None]) -> bool:
        """Waits for it; once a stop was asked for, not much longer. False if it was given up."""
        task = asyncio.create_task(work)
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        done, _ = await asyncio.wait({task}, timeout=STOP_WITHIN)
        if not done:
            task.cancel()
            return False
        await task
        return True

    async def result(self) -> Result:
        turn = await self.within(self._guarded(self._turn()))
        ended = turn and await self.within(self._guarded(self._session.close()))
        return self.verdict(self._judge() if ended else summary.stuck(self.stops.exit_code, STOP_WITHIN))

    def verdict(self, verdict: Verdict) -> Result:
        session, seconds = self._session, time.monotonic() - self._begun
        return self._tally.result(verdict, session.id, session.state.card.id, seconds)

    def _judge(self) -> Verdict:
        """From what ended the turn, and what asked for it, to how the run ended."""
        if self._broken is not None:
            return summary.failed(self._broken)
        match self._ending:
            case ev.TurnCompleted() if self._misfit:
                return summary.misfit(self._ending, self._misfit)
            case ev.TurnCompleted():
                text, value = self._fitting or (self._session.state.answer, None)
                lacks = summary.lacking(self._ending, cut_off=self._cut_off) if self._strict else None
                return summary.answered(self._ending, text, lacks, value)
            case ev.TurnError(outcome="interrupted") if self._stopping.is_set():
                return self._stopped()
            case ev.TurnError():
                return summary.cut(self._ending)
            case None if self._stopping.is_set():
                return self._stopped()
            case None:
                return summary.failed(Failure("error", "the session ended before the turn did"))

    def _stopped(self) -> Verdict:
        lost = self._out.out.failure
        if self.stops.received is not None:
            return summary.stopped(self.stops.exit_code, self.stops.received.name)
        return summary.left() if lost is None or self._out.out.gone else summary.unwritten(lost)

    def _interrupt(self) -> None:
        if self._ending is None and self._broken is None:
            self._session.send(Interrupt())

    # ── the turn ──

    async def _turn(self) -> None:
        """Until the session is closed, which it is as soon as the turn has its terminal event."""
        if self._stopping.is_set():
            return
        events = self._session.events(self._session.since)
        self._begin()
        patience = Patience(self._out.voice.note)
        async for event in events:
            patience.feed(event)
            self._out.event(event)
            if isinstance(event, ev.Entry):
                await self._react(event)
            if self._out.out.failure is not None and not self._stopping.is_set():
                self.stop()

    def _begin(self) -> None:
        self._session.send(Say(self._content, "now"))

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """What breaks the run itself becomes its result; the first of several tells why."""
        try:
            await work
        except AgentError as problem:
            failure = Failure(problem.kind, str(problem))
        except Exception as problem:
            log.exception("a one-shot run broke")
            failure = Failure("internal", f"internal error: {type(problem).__name__}: {problem}")
        else:
            return
        self._broken = self._broken or failure

    async def _react(self, entry: ev.Entry) -> None:
        self._tally.feed(entry)
        match entry.event:
            case ev.TurnCompleted() | ev.TurnError() if not entry.branch:
                await self._end(entry.event)
            case ev.AssistantMessage(finish_reason=reason) if not entry.branch:
                self._cut_off = reason == "length"
            case ev.ApprovalRequested():
                self._asked(entry.event)
            case _:
                pass

    def _asked(self, asked: ev.ApprovalRequested) -> None:
        if self.questions is not None and asked.options is not None:
            self.questions.put(asked)
            return
        refused = Answer(asked.call_id, allowed=False, message=REFUSAL.format(rule=asked.rule))
        self._session.send(refused)

    async def _end(self, ending: ev.TurnCompleted | ev.TurnError) -> None:
        if self._ending is not None:
            return
        if isinstance(ending, ev.TurnCompleted) and self._asks_again():
            return
        self._ending = ending
        await self._session.close()

    def _asks_again(self) -> bool:
        """Once, where the answer is not what it has to be."""
        if self._shape is None:
            return False
        first = not self._misfit
        try:
            self._fitting, self._misfit = self._shape.fit(self._session.state.answer), ""
        except Misfit as problem:
            self._misfit = str(problem)
            if first and not self._stopping.is_set():
                self._out.voice.note(
                    f"the answer does not fit the schema ({problem}): it is asked for once more"
                )
                self._session.send(Say((Text(AGAIN.format(problem=problem)),), "now"))
                return True
        return False

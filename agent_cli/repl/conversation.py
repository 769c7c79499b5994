"""The loop: a line in, what comes of it out, then the next line. While a turn runs nothing is asked but what it asks."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from msgspec import structs

from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import AgentError, ModelGone
from agent_cli.repl import approval
from agent_cli.repl.asker import Asker
from agent_cli.repl.guide import LineGuide, lacks
from agent_cli.repl.stage import LineStage
from agent_cli.repl.teller import Teller
from agent_cli.talk import outside
from agent_cli.talk.answers import Alarm, Answer, Note
from agent_cli.talk.commands.sessions import picking
from agent_cli.talk.desk import Desk
from agent_cli.talk.door import Door, Sessions, Sources, Welcome
from agent_cli.talk.learning import learn_commands
from agent_cli.talk.place import cwd_of
from agent_cli.talk.resumed import moved, restored, unsettled
from agent_cli.talk.stage import Picking, Row, Wish

PROMPT = "> "
MORE = ". "
TWICE = 1.0
"""Seconds in which a second interrupt means to leave."""
HALTED = "The session is halted: {count} for a reset. /guardrail says more and clears it."
STOPPED = 128
HEARD = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Conversation:
    """One person, one session at a time. `write` takes text as it is to be seen."""

    def __init__(
        self, welcome: Welcome, sources: Sources, asker: Asker, write: Callable[[str], None]
    ) -> None:
        self._asker = asker
        self._teller = Teller(write)
        self.stage = LineStage(asker, self._teller)
        self.desk = Desk(welcome, self, sources, self.leave, LineGuide(), lacks(screen=asker.clears))
        self._moved = asyncio.Event()
        self._seen = 0
        self._following: asyncio.Task[None] | None = None
        self._leaving = False
        self._interrupted = -TWICE
        self._begun = ""  # a line that was typed while a turn runs, and goes on in the next one
        self.exit_code = 0
        self.last = ""
        """The session that was open last, "" where nothing was said in it."""

    # ── what the desk asks of it ──

    def tell(self, answer: Answer) -> None:
        self._teller.tell(answer)

    def wipe(self) -> None:
        self._asker.clear()

    def refresh_facts(self) -> None:
        self._moved.set()

    def leave(self) -> None:
        self._leaving = True
        self._moved.set()

    # ── the loop ──

    async def run(self, session: Door, first: str) -> int:
        """Until the person leaves. Returns the exit code; the session is closed."""
        loop = asyncio.get_running_loop()
        for number in HEARD:
            with suppress(NotImplementedError):  # of Windows' event loop
                loop.add_signal_handler(number, self._signalled, number)
        await self._begin(session)
        if first:
            self.desk.say(first)
        try:
            while not self._leaving:
                await self._settle()
                if self.stage.wish is not None and not self._leaving:
                    await self._switch(self.stage.wish)
                elif not self._leaving:
                    await self._next()
        finally:
            await self._end("the operator left")
            for number in HEARD:
                with suppress(NotImplementedError):
                    loop.remove_signal_handler(number)
        return self.exit_code

    async def choose(self) -> Wish:
        """Asks which session to go on with; a new one where none was chosen."""
        source, here = self.desk.sources.sessions, self.desk.welcome.cwd
        return (
            Wish(resume=await self._picked(picking(source, "", _nobody, cwd=here)))
            if source is not None
            else Wish()
        )

    async def another_model(self, problem: ModelGone) -> str:
        """Asks which model to go on with. Raises the problem where none was chosen."""
        self.tell(Alarm("The model of that session is gone.", str(problem)))
        models = self.desk.sources.models

        def rows() -> list[Row]:
            return [Row(name, name) for name in models()]

        name = await self._picked(Picking("Go on with which model?", rows, _nobody, "no model is known here"))
        if not name:
            raise problem
        return name

    async def _picked(self, wanted: Picking) -> str:
        """The key of what was chosen, "" for nothing."""
        chosen: list[str] = []
        self.stage.pick(wanted._replace(chosen=chosen.append, left=None))
        await self.stage.questions.pop()()
        return chosen[0] if chosen else ""

    async def _begin(self, session: Door) -> None:
        state = session.state
        self._seen = state.seq
        welcome = self.desk.welcome
        self._teller.line(f"agent-cli {welcome.version}, {state.card.id}, {state.cwd or welcome.cwd}")
        self._teller.line("/help lists the commands; Ctrl+C interrupts, Ctrl+D leaves.")
        if state.started:
            self._teller.line(restored(state, session.halted))
            for told in filter(None, (moved(state), *unsettled(session))):
                self._teller.line(told)
            if state.answer:
                self._teller.line(f"the last answer was:\n{state.answer}")
        if session.halted:
            self.tell(
                Alarm("The session is halted.", f"{session.halted}\n/guardrail says more and clears it.")
            )
        self._following = asyncio.create_task(self._follow(session))
        self.desk.attach(session)
        await self._learn()

    async def _learn(self) -> None:
        if trouble := await learn_commands(self.desk):
            self.tell(Note(trouble, "warning"))

    async def _follow(self, session: Door) -> None:
        try:
            async for event in session.events(self._seen):
                self._teller.event(event)
                if isinstance(event, ev.Entry):
                    self.desk.heed(event)
                    self._seen = event.seq
                    self._moved.set()
        except AgentError as problem:
            self.tell(Alarm("The session cannot go on.", str(problem)))
            self.exit_code = 1
            self.leave()

    async def _settle(self) -> None:
        """Until there is nothing to do but to listen to the person."""
        while not self._leaving:
            session = self.desk.session
            if self.stage.jobs:
                await self._done(self.stage.jobs.popleft()())
            elif session is None:
                return
            elif session.state.pending and self._seen >= session.state.seq:
                await self._decide(session, next(iter(session.state.pending.values())))
            elif self.desk.running or self.desk.rewinding or self._seen < session.state.seq:
                await self._wait()
            elif self.stage.questions:
                await self._done(self.stage.questions.popleft()())
            else:
                return

    async def _wait(self) -> None:
        """For something to happen, or for a line that is typed meanwhile."""
        self._moved.clear()
        moving = asyncio.ensure_future(self._moved.wait())
        hearing = asyncio.ensure_future(self._asker.heard())
        await asyncio.wait({moving, hearing}, return_when=asyncio.FIRST_COMPLETED)
        moving.cancel()
        hearing.cancel()
        await asyncio.wait({hearing})
        if not hearing.cancelled():
            self._meanwhile(hearing.result())

    def _meanwhile(self, typed: str) -> None:
        """A line that the person did not wait with until the turn was over."""
        self._teller.typed()
        text, self._begun = self._begun + typed, ""
        if text.endswith("\\"):
            self._begun = f"{text[:-1]}\n"
            return
        running, before = self.desk.running, len(self.stage.questions)
        message = self._take(text)
        if len(self.stage.questions) > before:
            self._teller.line("(when the turn is over)")
        elif message and running:
            self._teller.line("(the model gets it before its next step)")

    async def _done(self, job: Awaitable[None]) -> None:
        """Ctrl+C lets go of it."""
        task = asyncio.ensure_future(job)
        while not task.done() and not self._leaving:
            session = self.desk.session
            if session is not None and session.state.pending and self._seen >= session.state.seq:
                await self._decide(session, next(iter(session.state.pending.values())))
                continue
            self._moved.clear()
            moving = asyncio.ensure_future(self._moved.wait())
            await asyncio.wait({task, moving}, return_when=asyncio.FIRST_COMPLETED)
            moving.cancel()
        if task.done():
            task.result()
        else:
            task.cancel()

    async def _decide(self, session: Door, asked: ev.ApprovalRequested) -> None:
        try:
            answer = await approval.decide(asked, self._asker, self._teller)
        except KeyboardInterrupt:
            self._interrupt()
        else:
            self.desk.order(answer)
        while asked.call_id in session.state.pending and not self._leaving:
            self._moved.clear()
            await self._moved.wait()

    async def _next(self) -> None:
        """A line of the person, and what it asks for."""
        draft, self.stage.draft = self.stage.draft, ""
        self._teller.end_line()
        text, self.stage.typed = self.stage.typed, ""
        try:
            text = text or await self._asker.ask(PROMPT, draft, keep=True)
            while text.endswith("\\"):
                text = f"{text[:-1]}\n{await self._asker.ask(MORE)}"
        except EOFError:
            self.leave()
        except KeyboardInterrupt:
            self._interrupt()
        else:
            self._take(text)

    def _take(self, text: str) -> bool:
        """Whether it is a message."""
        if text.startswith("!") and text[1:].strip() and "\n" not in text:
            self.stage.questions.append(lambda: self._shell(text[1:].strip()))
            return False
        if text.strip():
            before = self._queued()
            self.desk.take(text)
            if (waiting := self._queued()) > before:
                count = "1 message waits" if waiting == 1 else f"{waiting} messages wait"
                self.tell(Note(HALTED.format(count=count), "warning"))
                return False
        return bool(text.strip()) and text[0] not in "/#"

    def _queued(self) -> int:
        """Messages that wait for a reset of a halted session."""
        session = self.desk.session
        return len(session.state.queued) if session is not None and session.halted else 0

    async def _shell(self, command: str) -> None:
        said = await outside.shell(command, cwd_of(self.desk))
        self._teller.line(said.rstrip())
        try:
            question = await self._asker.ask("a message with this output, or nothing: ")
        except (EOFError, KeyboardInterrupt):
            return
        if question.strip():
            self.desk.say(f"{question}\n\n{said}", typed=question)

    async def _switch(self, wish: Wish) -> None:
        """The other one is opened first: where that fails, this one stays."""
        self.stage.wish = None
        source = self.desk.sources.sessions
        if source is None:
            return
        try:
            if wish.anew:
                await source.check()
                await self._end("it is opened anew")
            session = await self._opened(source, wish)
            if not wish.anew:
                await self._end("the operator went to another session")
        except AgentError as problem:
            self.tell(Alarm("The session could not be opened.", str(problem)))
            if self.desk.session is None:
                self.exit_code = 1
                self.leave()
            return
        await self._begin(session)

    async def _opened(self, source: Sessions, wish: Wish) -> Door:
        """With another model where its own is gone, if the person names one."""
        try:
            return await source.open(wish)
        except ModelGone as problem:
            return await source.open(structs.replace(wish, model=await self.another_model(problem)))

    async def _end(self, reason: str) -> None:
        session, self.desk.session = self.desk.session, None
        if session is None:
            return
        self.last = session.id if session.state.started else ""
        with suppress(AgentError):  # told by the one who follows it
            await session.close(reason)
        if self._following is not None:
            await self._following

    # ── being stopped ──

    def _signalled(self, number: signal.Signals) -> None:
        if number != signal.SIGINT:
            self.exit_code = STOPPED + number
            self.leave()
            self._asker.interrupt()
        elif not self._asker.interrupt():
            self._interrupt()

    def _interrupt(self) -> None:
        now = time.monotonic()
        if now - self._interrupted < TWICE:
            self.leave()
        elif self.desk.running:
            self.desk.interrupt()
        else:
            self._teller.line("(Ctrl+C again, Ctrl+D or /quit leaves)")
        self._interrupted = now
        self._moved.set()


def _nobody(key: str) -> None:
    """In the place of who is told what was chosen."""

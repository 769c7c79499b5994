"""Where a one-shot run writes: the answer to stdout and nothing else, everything else to stderr."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from agent_cli.headless.narration import Level, Narrator
from agent_cli.headless.plain import one_line
from agent_cli.headless.streams import Stream
from agent_cli.headless.summary import Result
from agent_cli.kernel import events as ev

ERASE = "\r\x1b[K"


class Voice:
    """The lines on stderr. `before_line` is called before each of them, `also` gets each, those that `--quiet` hides too.

    `speech_shown` says that what the model says is shown already, so that no line repeats it.
    """

    def __init__(self, stream: Stream, level: Level) -> None:
        self.level = level
        self.before_line: Callable[[], None] = _nothing
        self.speech_shown = False
        self.also: Callable[[str], None] = _unheard
        self._stream = stream
        self._narrator: Narrator | None = None
        self._counting = False
        self._counted = 0

    def note(self, text: str) -> None:
        """A notice that belongs to no event."""
        self._say(Level.NORMAL, f"agent: {one_line(text, 2_000)}")

    def question(self, text: str) -> None:
        """Somebody has to read it to go on, whatever the level."""
        self._say(Level.QUIET, one_line(text, 4_000))

    def entry(self, entry: ev.Entry) -> None:
        if self._narrator is None:
            self._narrator = Narrator(entry.session)
        told = self._narrator.tell(entry)
        if self.speech_shown and isinstance(entry.event, ev.AssistantMessage):
            return
        if told is not None:
            self._say(*told)

    def reason(self, result: Result) -> None:
        """Why a run did not end well: one line, whatever the level."""
        if result.error is not None:
            tag = f"[session {result.session}] " if result.session else ""
            message = one_line(result.error.message, 2_000)
            self._say(Level.QUIET, f"agent: {tag}{message} (exit {result.exit_code})")

    def waiting(self, seconds: float, reason: str = "") -> None:
        """Counts down: on a terminal in one line, which the next one replaces; else a line every ten seconds."""
        left = math.ceil(seconds)
        told = f"waits for room, {left} s" if reason.startswith("pool ") else f"asks again in {left} s"
        if self.level <= Level.QUIET or left < 1:
            return
        if self._stream.terminal:
            self.before_line()
            self._stream.write(f"{ERASE}agent: {told}; Ctrl+C stops")
            self._counting = True
        elif left % 10 == 0 and left != self._counted:
            self.note(told)
        self._counted = left

    def counted(self) -> None:
        """Takes the countdown away."""
        if self._counting:
            self._counting = False
            self._stream.write(ERASE)

    async def drained(self) -> None:
        await self._stream.drained()

    def _say(self, level: Level, line: str) -> None:
        if level <= max(self.level, Level.NORMAL):
            self.also(line)
        if level <= self.level:
            self.before_line()
            self.counted()
            self._stream.write(f"{line}\n")


class Printer:
    """Consumes the event stream of one run, then its result. Never raises, never decides.

    This one writes nothing to stdout; each output format adds what it writes there.
    """

    def __init__(self, out: Stream, voice: Voice) -> None:
        self.out = out
        self.voice = voice

    def hold(self) -> None:
        """What the model says is not shown before it is known to be the answer."""

    def event(self, event: ev.Event) -> None:
        if isinstance(event, ev.Waiting):
            self.voice.waiting(event.seconds, event.reason)
        elif isinstance(event, ev.Entry):
            self.voice.entry(event)

    def finish(self, result: Result) -> None:
        self.voice.reason(result)

    async def drained(self) -> None:
        """Returns when the readers took everything, or went away."""
        await asyncio.gather(self.out.drained(), self.voice.drained())


def _nothing() -> None:
    pass


def _unheard(line: str) -> None:
    pass

"""Between the keys and the session: what is typed goes somewhere, also while there is no session yet."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import Literal, Protocol

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import (
    MODES,
    Checkpoint,
    Command,
    Compact,
    Interrupt,
    Mode,
    Rewind,
    Say,
    SetMode,
)
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Block, Text
from agent_cli.talk.answers import Alarm, Answer, Note
from agent_cli.talk.attachments import mentioned
from agent_cli.talk.commands import book, served
from agent_cli.talk.commands.command import Command as Slash
from agent_cli.talk.commands.command import Guide
from agent_cli.talk.commands.project import remember
from agent_cli.talk.door import Door, Sources, Welcome
from agent_cli.talk.ledger import Ledger
from agent_cli.talk.place import card_of, cwd_of
from agent_cli.talk.stage import Stage

OUTCOMES = (ev.CompactionPerformed, ev.CheckpointPerformed, ev.ContextReductionFailed, ev.OperatorNote)
"""One of these says what came of a compaction that was ordered."""
BACK = (ev.Rewound, ev.OperatorNote)
"""One of these says what came of a rewind that was ordered."""


class Surface(Protocol):
    """The screen as the desk sees it."""

    @property
    def stage(self) -> Stage: ...

    def tell(self, answer: Answer, /) -> None:
        """Shows it at the end of what there is."""
        ...

    def wipe(self) -> None: ...

    def refresh_facts(self) -> None:
        """Queue and status may have changed."""
        ...


class Desk:
    """The host of the slash commands. `unsent` waits for a session to open, `early` are commands that wait until the
    operator's own are known; None when they are.

    `compacting` is the time since when an ordered compaction runs, in epoch seconds; 0 while none does. `rewinding` says that
    nobody knows yet what came of a rewind that was ordered, `broken` that the session cannot go on.
    """

    def __init__(
        self,
        welcome: Welcome,
        surface: Surface,
        sources: Sources,
        leave: Callable[[], None],
        guide: Guide,
        lacks: frozenset[str] = frozenset(),
    ) -> None:
        self.welcome = welcome
        self.session: Door | None = None
        self.unsent: list[Say] = []
        self.sources = sources
        self.leave = leave
        self.ledger = Ledger()
        self.guide = guide
        self.lacks = lacks | book.AWAY if sources.elsewhere else lacks
        self.compacting = 0.0
        self.rewinding = False
        self.broken = False
        self._since = 0  # the last fact before the compaction
        self._surface = surface
        self.stage = surface.stage
        self.own: tuple[Slash, ...] = ()
        self.early: list[str] | None = []
        self._mode: Mode = welcome.mode

    @property
    def running(self) -> bool:
        """Something goes on that can be interrupted."""
        return (
            self.session is not None
            and not self.broken
            and (self.session.state.running or self.compacting > 0)
        )

    @property
    def mode(self) -> Mode:
        return self.session.state.mode if self.session else self._mode

    @property
    def queued(self) -> tuple[Say, ...]:
        """What waits: for the session, or for the turn."""
        return self.session.state.queued if self.session is not None else tuple(self.unsent)

    def attach(self, session: Door, before: Desk | None = None) -> None:
        """The session is open: what was typed for it goes to it, here or at the desk `before` that never had one."""
        if before is not None and before.session is None:
            self.unsent, self.early, self._mode = before.unsent, before.early, before.mode
            before.unsent = []
        self.session, self.rewinding, self.broken = session, False, False
        if self._mode != self.welcome.mode:
            wanted, self._mode = self._mode, self.welcome.mode
            self.order(SetMode(wanted))
        waiting, self.unsent = self.unsent, []
        for say in waiting:
            self.order(say)

    def heed(self, entry: ev.Entry) -> None:
        """Takes note of what happened."""
        self.ledger.feed(entry)
        if entry.seq > self._since and not entry.branch and isinstance(entry.event, OUTCOMES):
            self.compacting = 0.0
        if entry.seq > self._since and not entry.branch and isinstance(entry.event, BACK):
            self.rewinding = False

    def take(
        self,
        text: str,
        when: Literal["steer", "after"] = "steer",
        files: tuple[Block, ...] = (),
        typed: str | None = None,
    ) -> bool:
        """A line or message of the operator; False where it is not taken and stays in the composer."""
        if text.startswith("/") and "/" not in text.split(maxsplit=1)[0][1:] and "\n" not in text:
            return self._command(text)
        if text.startswith("#") and "\n" not in text and text.strip("# "):
            shown = remember(self, text.lstrip("# ").strip())
            if shown is not None:
                self._surface.tell(shown)
            return True
        return self.say(text, when, files, typed)

    def _command(self, line: str) -> bool:
        """False where there is none of that name, so that it stays to be mended."""
        name = line[1:].split(maxsplit=1)[0] if line[1:].strip() else ""
        command = book.find(name, book.own_of(self))
        if command is None and name and self.early is not None and self.sources.workplace is not None:
            self.early.append(line)
            self._surface.tell(
                Note(f"/{name} waits: commands of your own and skills are known when the session is open.")
            )
            return True
        shown = book.run(self, line)
        if shown is not None:
            self._surface.tell(shown)
        return command is not None and command.name not in self.lacks

    def say(
        self,
        text: str,
        when: Literal["steer", "after"] = "steer",
        files: tuple[Block, ...] = (),
        typed: str | None = None,
    ) -> bool:
        """Pictures and PDF files that are named with `@` go along, too: in what was `typed` of it, None for all.

        False where the session does not take it.
        """
        named, troubles = mentioned(text if typed is None else typed, cwd_of(self), card_of(self))
        for trouble in troubles:
            self._surface.tell(Note(trouble, "warning"))
        say = Say((Text(text), *files, *named), when)
        reads = served.reading(text if typed is None else typed, self, say)
        if reads is not None:
            self.stage.meanwhile(*reads)
            return True
        taken = True
        if self.session is None:
            self.unsent.append(say)
        else:
            taken = self._sent(say)
        self._surface.refresh_facts()
        return taken

    def order(self, command: Command) -> None:
        """Sends it; an error is told in the transcript."""
        self._sent(command)

    def _sent(self, command: Command) -> bool:
        """Whether it was taken."""
        if self.session is None:
            return False
        if isinstance(command, Compact | Checkpoint):
            self.compacting, self._since = time(), self.session.state.seq
        if isinstance(command, Rewind):
            self.rewinding, self._since = True, self.session.state.seq
        try:
            self.session.send(command)
        except AgentError as problem:
            self.compacting, self.rewinding = 0.0, False
            self._surface.tell(Alarm("The session did not take that.", str(problem)))
            return False
        finally:
            self._surface.refresh_facts()
        return True

    def interrupt(self) -> None:
        self.order(Interrupt())

    def next_mode(self) -> None:
        """The mode behind the present one; the last, which asks nothing, is never reached by cycling."""
        cycle: list[Mode] = [mode for mode in MODES if mode != "yolo"]
        now = self.mode
        wanted = cycle[(cycle.index(now) + 1) % len(cycle)] if now in cycle else cycle[0]
        if self.session is None:
            self._mode = wanted
            self._surface.refresh_facts()
        else:
            self.order(SetMode(wanted))

    def wipe(self) -> None:
        self._surface.wipe()

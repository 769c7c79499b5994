"""The lines at the foot of the screen: the status bar, and under it the operator's own line where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic, time

from rich.segment import Segment
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer

from agent_cli.talk.desk import Desk
from agent_cli.talk.place import halt_of
from agent_cli.tui import repository, status
from agent_cli.tui.feed import Rate
from agent_cli.tui.ink import Ink
from agent_cli.tui.lines import Lines
from agent_cli.tui.own_line import OwnLine, facts_of
from agent_cli.tui.vi import Vi
from agent_cli.tui.wrap import Line, cut

HINT = 4.0
"""Seconds that a hint stays."""


ASKED_EVERY = 10.0
"""Seconds between two tellings of how long a question waits."""


class Footer(Vertical):
    """`draw` brings it up to date; it ticks once a second while something runs, every ten while a question waits.

    `tell` is for what the operator's command did wrong.
    """

    DEFAULT_CSS = """
    Footer { height: auto; margin-top: 1; }
    Footer StatusBar { margin: 0 1; }
    Footer Lines { margin: 0 1; }
    """

    def __init__(self, desk: Desk, ink: Ink, tell: Callable[[str], None], stops: Callable[[], str]) -> None:
        super().__init__()
        self.bar = status.StatusBar()
        self.own = OwnLine(self.set_timer, self.run_worker, self._show_own, tell)
        self.activity = status.Activity()
        self.ink = ink
        self._desk = desk
        self._stops = stops
        self._below = Lines(id="own")
        self._said = ""
        self._streamed = 0
        self._rate = Rate()
        self._ticker: Timer | None = None
        self._every = 0.0
        self._asked = 0.0  # when the question came that waits now; 0 for none
        self._hint: Timer | None = None
        self._hint_of_turn = False
        self._stale = True  # the branch is to be read again
        self._looking = False

    def compose(self) -> ComposeResult:
        yield self.bar
        yield self._below

    @property
    def ticks(self) -> bool:
        return self._ticker is not None

    def hint(self, text: str, *, of_turn: bool = False, within: float = HINT) -> None:
        """Shows a text in the status bar for that many seconds; at most until the turn ends where it is about that."""
        self.activity.hint = text
        self._hint_of_turn = of_turn
        if self._hint is not None:
            self._hint.stop()
        self._hint = self.set_timer(within, lambda: self.hint("")) if text else None
        self.draw()

    def end_hint(self, *, of_turn: bool = False) -> None:
        """Takes the hint away; with `of_turn` only one about the turn."""
        if not of_turn or self._hint_of_turn:
            self.hint("")

    def outdate(self) -> None:
        """What is known of the working tree may be wrong."""
        self._stale = True

    def follow(self, streamed: int, waiting: str, *, below: bool) -> None:
        """Where the transcript is: characters that were streamed, what is waited for, whether more stands below."""
        self._streamed = streamed
        self.activity.waiting, self.activity.below = waiting, below
        self.draw()
        self._look()

    def types(self, vi: Vi | None) -> None:
        """Says so while letters are commands."""
        self.activity.typing = "" if vi is None or vi.inserting else "NORMAL"
        self.draw()

    def draw(self) -> None:
        desk, activity = self._desk, self.activity
        state = desk.session.state if desk.session is not None else None
        moving = desk.running and state is not None and not state.pending
        pending = state.pending if state is not None else {}
        self._tick(1.0 if moving else ASKED_EVERY if pending else 0.0)
        self._asked = self._asked or monotonic() if pending else 0.0
        activity.held = (
            status.held_up(state, monotonic() - self._asked) if state is not None and pending else ""
        )
        activity.beat += desk.welcome.motion
        activity.rate = self._rate.mark(monotonic(), self._streamed) if moving else 0.0
        activity.broken, activity.halted = desk.broken, bool(halt_of(desk))
        activity.work = "compacting …" if desk.compacting else ""
        activity.elapsed = time() - (desk.compacting or (state.turn_started if state is not None else 0.0))
        activity.stops = self._stops()
        activity.queued = len(desk.queued)
        activity.watchdog, activity.alerts = (
            desk.sources.watchdog(),
            state.counts.alerts if state is not None else 0,
        )
        self.bar.put(status.pieces(state, activity, desk.welcome.model, desk.mode, self.ink))
        if self.own.command:
            cwd = (state.cwd if state is not None else "") or desk.welcome.cwd
            self.own.say(facts_of(state, activity, desk.welcome.model, desk.mode), cwd)

    def _tick(self, every: float) -> None:
        """Draws again so often; 0 for only when something happens."""
        every = every if self._desk.welcome.motion else 0.0
        if every == self._every:
            return
        self._every = every
        if self._ticker is not None:
            self._ticker.stop()
        self._ticker = self.set_interval(every, self.draw) if every else None

    def repaint(self, ink: Ink) -> None:
        self.ink = ink
        self._show_own(self._said)

    def _show_own(self, line: str) -> None:
        self._said = line
        self._below.put(self._own_lines)

    def _own_lines(self, width: int) -> list[Line]:
        return [[Segment(cut(self._said, width), self.ink.dim)]] if self._said else []

    def _look(self) -> None:
        """Reads branch and dirty mark in a thread, where something may have changed them."""
        session = self._desk.session
        idle = session is not None and bool(session.state.cwd) and not self._desk.running
        if session is not None and idle and self._stale and not self._looking:
            self._stale, self._looking = False, True
            self.run_worker(self._read(session.state.cwd))

    async def _read(self, directory: str) -> None:
        self.activity.repository = await asyncio.to_thread(repository.look, directory)
        self._looking = False
        self.draw()
        self._look()

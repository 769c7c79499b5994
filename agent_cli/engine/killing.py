"""The kill switch in a running process: asked before every dispatch, and looked at beside what runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from agent_cli.engine import tree
from agent_cli.engine.core import Core
from agent_cli.engine.endings import Cut
from agent_cli.guardrails import telling
from agent_cli.guardrails.kill_switch import NAME, Killed
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import StoreError

POLL = 0.05
"""Seconds between two looks while a turn runs."""
IDLE = 0.5
"""The same while anything else runs, or a message waits for a switch to be taken back."""


def look(core: Core) -> None:
    """Cuts the run where a switch stops it."""
    root = core.root
    if root.stop is None:
        root.cut(root.outside.killed())


def before_model(core: Core) -> None:
    """Raises Cut where no request may be sent any more; the core knows why."""
    look(core)
    if tree.stopping(core) is not None:
        raise Cut


class KillWatch:
    """Of one session. `stop` ends what runs now, `free` lets what waits go on, `busy` says whether anything runs.

    No timer runs while nothing does: whatever could begin something is preceded by a look.
    """

    def __init__(
        self, core: Core, stop: Callable[[], None], free: Callable[[], None], busy: Callable[[], bool]
    ) -> None:
        self._core = core
        self._stop = stop
        self._free = free
        self._busy = busy
        self._task: asyncio.Task[None] | None = None
        self._before: Killed | None = core.outside.killed()

    def look(self) -> None:
        """Now, before something may begin; from then on for as long as anything runs or waits for a switch."""
        if self._core.outside.is_watched:
            self._see(self._core.outside.killed())
            self.begin()

    def begin(self) -> None:
        """Idempotent. Does nothing where there are no switches, or no loop to look in."""
        if self._task is not None or not self._core.outside.is_watched:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._task = loop.create_task(self._run())

    def again(self) -> None:
        """A turn began: from now on it is looked more often."""
        self.end()
        self.begin()

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while self._core.trunk.failure is None:
            with suppress(StoreError):  # who listens to the session was told by the hub
                await self._look_once()
            if not self._busy() and (self._before is None or not self._core.state.waiting):
                break
        self._task = None

    async def _look_once(self) -> None:
        await self._core.parts.clock.sleep(POLL if self._core.state.running else IDLE)
        self._see(self._core.outside.killed())
        self._core.outside.stop_tools()

    def _see(self, now: Killed | None) -> None:
        """A turn that is cut says so itself; where none runs, the change is told here."""
        core, before = self._core, self._before
        self._before = now
        if now is not None and core.state.running:
            look(core)
            self._stop()
        elif now is not None and before is None:
            self._stop()
            self._tell(trip(now, core, halted_turn=False))
        elif now is None and before is not None:
            self._tell(ev.GuardrailReset(NAME))
            self._free()

    def _tell(self, event: ev.Recorded) -> None:
        """A session in which nothing was said yet has no log to say it in."""
        if self._core.state.started:
            self._core.record(event)


def trip(killed: Killed, core: Core, *, halted_turn: bool) -> ev.GuardrailTrip:
    then = telling.after_kill(killed)
    since, dispatch = tree.stopped_when(core) if halted_turn else (0.0, 0.0)
    return ev.GuardrailTrip(
        NAME,
        killed.scope,
        "halt",
        "session",
        killed.reason,
        halted_turn,
        then,
        since=since,
        dispatch_s=dispatch,
    )

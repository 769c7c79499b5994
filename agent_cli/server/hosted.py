"""One open session: who follows it, what may wait in it, and how long an approval waits for somebody."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from typing import Literal

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer, Say
from agent_cli.kernel.errors import AgentError, StoreError
from agent_cli.kernel.messages import Text
from agent_cli.server.door import Opened, Terms
from agent_cli.server.problems import Refused

log = logging.getLogger("agent_cli.server")

NOBODY = "nobody was attached who could decide this, and it waited {wait:g} seconds ({rule})"


class Hosted:
    """`told` gets every entry of the session from now on. `attended` says that somebody is there who decides, anyway."""

    def __init__(
        self, opened: Opened, terms: Terms, told: Callable[[ev.Entry], None], *, attended: bool = False
    ) -> None:
        self.door = opened.door
        self.watchdog = opened.watchdog
        self.orders = 0
        """Requests that are at work on it."""
        self._terms = terms
        self._told = told
        self._deciders = int(attended)
        self._patience: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._used = self._loop.time()
        self._watch = asyncio.create_task(self._listen(self.door.events(self.door.state.seq)))
        self.over = False
        """Whether its log cannot be written any more, or it was closed."""

    @property
    def spare(self) -> bool:
        """Whether nothing is lost when it is let go: everything that matters is in its log."""
        state = self.door.state
        working = any(not row.outcome for row in state.subtasks.values())
        busy = state.running or working or bool(state.pending) or self.orders > 0
        return not busy and self._loop.time() - self._used >= self._terms.idle

    @contextmanager
    def used(self) -> Generator[Hosted]:
        """While a request works on it, it is not let go."""
        self.orders += 1
        try:
            yield self
        finally:
            self.orders -= 1
            self._used = self._loop.time()

    @contextmanager
    def attached(self, *, decides: bool) -> Generator[None]:
        """Somebody follows it; an approval waits for who may decide it."""
        self._deciders += decides
        self._reckon()
        try:
            yield
        finally:
            self._deciders -= decides
            self._reckon()

    def say(self, message: str, when: Literal["steer", "after"]) -> int:
        """The seq of the entry of the message, which waits or goes out. Raises Refused where too many wait already."""
        state = self.door.state
        if len(state.waiting) >= self._terms.inbox:
            raise Refused(
                429,
                "inbox-full",
                f"{len(state.waiting)} messages wait in this session already, and no more are taken, so that none is "
                "dropped. Let them go out first: clear the halt, or wait for the turn.",
                retry_after=5,
            )
        before = state.seq
        self.door.send(Say((Text(message),), when))
        mine = [seq for seq in state.waiting if seq > before]
        return mine[-1] if mine else next((said.seq for said in reversed(state.spoken)), before)

    async def close(self, reason: str) -> None:
        self.over = True
        self._cancel()
        try:
            await self.door.close(reason)
        except AgentError as problem:
            log.warning("%s: %s", self.door.id, problem)
        await asyncio.wait({self._watch}, timeout=5)

    async def _listen(self, events: AsyncIterator[ev.Event]) -> None:
        try:
            async for event in events:
                self._heard(event)
        except StoreError as problem:
            log.error("%s: %s", self.door.id, problem)  # noqa: TRY400  its words say what to do, and a traceback nothing more
        finally:
            self.over = True

    def _heard(self, event: ev.Event) -> None:
        if isinstance(event, ev.Entry):
            self._used = self._loop.time()
            self._told(event)
            self._reckon(again=isinstance(event.event, ev.ApprovalRequested))

    # ── patience ──

    def _reckon(self, *, again: bool = False) -> None:
        """The time runs while an approval waits and nobody is there; it begins again with each new one."""
        waits = bool(self.door.state.pending) and not self._deciders and not self.over
        if again or not waits:
            self._cancel()
        if waits and self._patience is None:
            self._patience = self._loop.call_later(self._terms.approval_wait, self._refuse)

    def _cancel(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _refuse(self) -> None:
        self._patience = None
        for asked in tuple(self.door.state.pending.values()):
            told = NOBODY.format(wait=self._terms.approval_wait, rule=asked.rule)
            self.door.send(Answer(asked.call_id, allowed=False, message=told))

"""How full the context is, and how it is emptied, as a program sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

from agent_cli.context.boundaries import Boundary
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Checkpoint, Command, Compact
from agent_cli.kernel.errors import AgentError, TurnInFlightError
from agent_cli.kernel.values import Plain

Done = TypeVar("Done", bound=ev.Recorded)

REFUSED = ("not compacted: ", "no checkpoint: ")


class ModelUse(Plain, frozen=True):
    """`cost` is USD, None where a request had no price."""

    model: str
    requests: int
    input: int
    output: int
    cost: float | None


class ContextStats(Plain, frozen=True):
    """What happened to the context so far; `boundaries` are its compactions and checkpoints, in order. `window` is None where it is unknown; the dearest model comes first.

    `used_estimated` says that a part of `used` was not measured by the service. Costs are USD.
    """

    used: int
    used_estimated: bool
    window: int | None
    limit: int | None
    subtasks: int
    subtask_input: int
    subtask_output: int
    subtask_cost: float
    models: tuple[ModelUse, ...]
    boundaries: tuple[Boundary, ...] = ()


class Reductions:
    """Part of `Agent`."""

    _session: Session

    async def compact(self, focus: str = "") -> ev.CompactionPerformed:
        """Summarizes the conversation now. Raises TurnInFlightError, and AgentError where nothing came of it."""
        self._between_turns("compact")
        return await self._done(Compact(focus), ev.CompactionPerformed)

    async def compact_if_needed(self, focus: str = "") -> ev.CompactionPerformed | None:
        """The same where the context is past its threshold; None where it is not, or is never reduced."""
        self._between_turns("compact")
        state = self._session.state
        if state.context_limit is None or state.context_tokens < state.context_limit:
            return None
        return await self.compact(focus)

    async def checkpoint(self, note: str = "") -> ev.CheckpointPerformed:
        """The task is done: a record takes its place. Raises TurnInFlightError, and AgentError where none came of it."""
        self._between_turns("write a checkpoint")
        return await self._done(Checkpoint(note), ev.CheckpointPerformed)

    @property
    def has_compactor(self) -> bool:
        return "summary" in self._session.writes

    @property
    def has_checkpointer(self) -> bool:
        """False also where checkpoints are switched off."""
        return "record" in self._session.writes

    def context_window_used(self) -> tuple[int, bool]:
        """Tokens of the next prompt, and whether a part of the figure is an estimate."""
        return self._session.context_used()

    def context_stats(self) -> ContextStats:
        state = self._session.state
        below, (used, estimated) = state.below.usage, self._session.context_used()
        models = sorted(state.models.values(), key=lambda row: row.cost, reverse=True)
        return ContextStats(
            used=used,
            used_estimated=estimated,
            window=state.card.window,
            limit=state.context_limit,
            subtasks=len(state.subtasks),
            subtask_input=below.prompt,
            subtask_output=below.output,
            subtask_cost=state.below.cost,
            models=tuple(
                ModelUse(
                    row.model,
                    row.requests,
                    row.usage.prompt,
                    row.usage.output,
                    None if row.unpriced else row.cost,
                )
                for row in models
            ),
            boundaries=tuple(state.boundaries.made),
        )

    def _between_turns(self, what: str) -> None:
        if self._session.state.running:
            raise TurnInFlightError(f"cannot {what} while a turn runs: wait for it, or interrupt it")

    async def _done(self, command: Command, kind: type[Done]) -> Done:
        """What came of a command that takes its time."""
        session = self._session
        events = session.events(session.state.seq)
        session.send(command)
        done = await _first(events, kind)
        await session.idle()
        return done


async def _first(events: AsyncIterator[ev.Event], kind: type[Done]) -> Done:
    async for event in events:
        if not isinstance(event, ev.Entry) or event.branch:
            continue
        if isinstance(event.event, kind):
            return event.event
        if isinstance(event.event, ev.OperatorNote) and event.event.text.startswith(REFUSED):
            raise AgentError(event.event.text)
    raise AgentError("the session was closed")

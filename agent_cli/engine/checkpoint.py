"""Task boundaries: a record takes the place of what was said about a task that is done."""

from __future__ import annotations

from collections.abc import Callable

from agent_cli.context import reduce
from agent_cli.context.view import Item, messages_of
from agent_cli.context.words import Rooms
from agent_cli.engine.core import Core
from agent_cli.engine.replaced import written
from agent_cli.engine.size import context_size
from agent_cli.engine.summarizer import Summarizer, Wanted
from agent_cli.engine.window import budget_for, carried, digest_room, makes_things_up
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import AgentError

OFF = "checkpoints are switched off (checkpoint.mode)"


class Checkpoints:
    """`rooms` are what the operator's own words may take in a record that stands for all before an entry."""

    def __init__(self, core: Core, summarizer: Summarizer, rooms: Callable[[int], Rooms]) -> None:
        self._core = core
        self._summarizer = summarizer
        self._rooms = rooms

    async def due(self) -> None:
        """At the start of a turn: what was said to be done, the operator's new message excluded. Never raises AgentError."""
        core = self._core
        declared, heuristic = core.state.boundaries.declared, core.task_ended
        note = heuristic if declared is None else declared
        if core.parts.checkpoint == "off" or note is None:
            return
        items, begun = core.view.items(), core.state.turn_began
        dropped = tuple(item for item in items if item.seq < begun)
        if not reduce.has_news(dropped):
            return
        try:
            await self._write(dropped, begun, note, "heuristic" if declared is None else "model")
        except AgentError as problem:
            core.task_ended = None
            core.record(ev.ContextReductionFailed("checkpoint", str(problem)))

    async def now(self, note: str) -> None:
        """Of all that was said. Raises AgentError where nothing came of it."""
        core = self._core
        if core.parts.checkpoint == "off":
            raise AgentError(OFF)
        items = core.view.items()
        if not reduce.has_news(items):
            raise AgentError("there is nothing to record: nothing was said since the last boundary")
        await self._write(items, core.state.seq + 1, note, "operator")

    async def _write(self, dropped: tuple[Item, ...], keeps_from: int, note: str, by: ev.DeclaredBy) -> None:
        """A record may be longer than what it stands for: the boundary is what was asked for."""
        core, clock = self._core, self._core.parts.clock
        if core.parts.hooks is not None:
            from agent_cli.engine.hooking import compacting  # only who has hooks pays for them

            note = await compacting(core, "checkpoint", note)
        begun, before, spent = clock.monotonic(), context_size(core), core.state.total.cost
        own, untrue = core.parts.checkpointer, makes_things_up(core)
        if own is not None:
            text = await written(own.record(messages_of(dropped), note), "checkpoint")
        elif untrue:
            digest = reduce.digest(dropped, digest_room(budget_for(core)))
            text = f"A task is done{f': {note}' if note else ''}.\n\n{digest}"
        else:
            request = core.parts.record_prompt + (f"\n\nWhat was said to be done: {note}" if note else "")
            text = await self._summarizer.write(Wanted("checkpoint", request, dropped, messages_of(dropped)))
        record = reduce.composed(text, dropped, self._rooms(keeps_from), carried(core))
        after = before - reduce.tokens_of(dropped) + len(record.encode()) // reduce.BYTES_PER_TOKEN
        core.record(
            ev.CheckpointPerformed(
                record,
                keeps_from,
                note,
                by,
                before,
                max(0, after),
                round(clock.monotonic() - begun, 3),
                core.state.total.cost - spent,
                "" if own or untrue else self._summarizer.model.card.id,
            )
        )

"""Record, then fan out. A slow or dead listener loses previews, never facts, and never slows the turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import takewhile

from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.events import Entry, Event, Live, Recorded
from agent_cli.ports import Clock, Log

PREVIEWS_KEPT = 2_000

Queue = asyncio.Queue[Event | StoreError | None]


class Hub:
    """`apply` folds each new entry into what the session knows, before any listener sees it.

    `turn` and `step` are where the session stands; the next entry carries them. `clean` gives a fact as it may be
    written and seen.
    """

    def __init__(
        self,
        log: Log,
        clock: Clock,
        apply: Callable[[Entry], None],
        clean: Callable[[Recorded], Recorded] | None = None,
    ) -> None:
        self.turn = 0
        self.step = 0
        self.seq = 0
        self.failure: StoreError | None = None
        self._log = log
        self._clock = clock
        self._apply = apply
        self._clean = clean
        self._queues: set[Queue] = set()
        self._closed = False

    def replay(self, after: Entry | None = None) -> None:
        """Folds what the log already holds behind that entry. Once, before anything is recorded."""
        if after is not None:
            self.seq, self.turn = after.seq, after.turn
        for entry in self._log.read(self.seq):
            self.seq, self.turn = entry.seq, entry.turn
            self._apply(entry)

    def record(self, event: Recorded) -> Entry:
        """Writes a fact, then shows it. Raises StoreError; nothing was shown then."""
        return self.write(event, "", self.step)

    def write(self, event: Recorded, branch: str, step: int) -> Entry:
        """The same for a fact of a branch, which stands at a step of its own."""
        event = self._clean(event) if self._clean else event
        entry = Entry(self._log.session, self.seq + 1, self._clock.now(), self.turn, step, event, branch)
        try:
            self._log.append(entry)
        except StoreError as problem:
            self._fail(problem)
            raise
        self.seq = entry.seq
        self._apply(entry)
        for queue in self._queues:
            queue.put_nowait(entry)
        return entry

    def show(self, preview: Live) -> None:
        for queue in self._queues:
            if queue.qsize() < PREVIEWS_KEPT:
                queue.put_nowait(preview)

    def listen(self, since: int) -> AsyncIterator[Event]:
        """Joins at once: the past from the log, then the present. Raises StoreError when the log breaks."""
        past = list(self._log.read(since))
        queue: Queue = asyncio.Queue()
        self._queues.add(queue)
        if self.failure is not None:
            queue.put_nowait(self.failure)
        elif self._closed:
            queue.put_nowait(None)
        return follow(past, queue, self._queues)

    def past(self, since: int, until: int) -> list[Entry]:
        """Facts with since < seq <= until, from the log. Raises StoreError."""
        return list(takewhile(lambda entry: entry.seq <= until, self._log.read(since)))

    def close(self) -> None:
        """Ends every listener after what it has not read yet."""
        self._closed = True
        for queue in self._queues:
            queue.put_nowait(None)
        self._log.close()

    def _fail(self, problem: StoreError) -> None:
        self.failure = problem
        for queue in self._queues:
            queue.put_nowait(problem)


class Branch:
    """The hub as a subtask has it: its facts stand in the same log under its name, its previews are nobody's.

    `above` is where the subtask was started: the hub, or a branch of it. Every fold up to the hub gets each entry.
    """

    def __init__(self, above: Hub | Branch, name: str, apply: Callable[[Entry], None]) -> None:
        self.name = name
        self.step = 0
        self._above = above
        self._apply = apply

    @property
    def seq(self) -> int:
        return self._above.seq

    @property
    def turn(self) -> int:
        return self._above.turn

    def record(self, event: Recorded) -> Entry:
        """Raises StoreError; nothing was shown then."""
        return self.write(event, self.name, self.step)

    def write(self, event: Recorded, branch: str, step: int) -> Entry:
        entry = self._above.write(event, branch, step)
        self._apply(entry)
        return entry

    def show(self, preview: Live) -> None:
        """Decided: what a subtask streams is not what the session says."""


async def follow(past: list[Entry], queue: Queue, queues: set[Queue]) -> AsyncIterator[Event]:
    """What was, then what comes into the queue, until it says that nothing more does. Raises StoreError."""
    try:
        for entry in past:
            yield entry
        while (event := await queue.get()) is not None:
            if isinstance(event, StoreError):
                raise event
            yield event
    finally:
        queues.discard(queue)

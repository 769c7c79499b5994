"""From the session's events to the screen: applied as they come, shown at most ten times a second."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from time import monotonic, thread_time

from agent_cli.kernel.events import Event

INTERVAL = 0.1
"""Seconds between two frames while text streams."""
SHARE = 9
"""A frame is followed by a pause of this many times what it took, so that frames take a tenth of the time."""
LONGEST = 0.5
"""Seconds a frame waits at most."""
SOON = 0.001
"""Seconds; a timer of none does not exist."""
SLICE = 0.03
"""Seconds that a backlog is read before keys get their turn."""
WINDOW = 3.0
"""Seconds over which the rate of a stream is taken."""
LETTERS = 4.0
"""Characters a token has, for the estimate of the rate."""


class Feed:
    """`apply` takes each event, `draw` shows what came. No timer runs while nothing comes.

    `later` calls once after some seconds, `painted` once after the next frame.
    """

    def __init__(
        self,
        later: Callable[[float, Callable[[], None]], object],
        painted: Callable[[Callable[[], None]], object],
        apply: Callable[[Event], None],
        draw: Callable[[], None],
    ) -> None:
        self._later = later
        self._painted = painted
        self._apply = apply
        self._draw = draw
        self._due = False
        self._last = 0.0
        self.cost = 0.0
        """Seconds of CPU that the last frame took, painting included."""
        self.frames = 0
        """Frames that were drawn, for tests and benchmarks."""

    async def follow(self, events: AsyncIterator[Event]) -> None:
        """Until the session is closed."""
        turn = monotonic()
        async for event in events:
            self._apply(event)
            self.wake()
            now = monotonic()
            if now - turn > SLICE:
                await asyncio.sleep(0)
                turn = monotonic()

    def wake(self) -> None:
        """Something is to be shown."""
        if self._due:
            return
        self._due = True
        pause = min(max(INTERVAL, SHARE * self.cost), LONGEST)
        wait = self._last + pause - monotonic()
        self._later(max(wait, SOON), self._frame)

    def _frame(self) -> None:
        self._due = False
        self.frames += 1
        self._last, begun = monotonic(), thread_time()
        self._draw()
        self._painted(lambda: self._done(begun))

    def _done(self, begun: float) -> None:
        self.cost = thread_time() - begun


class Rate:
    """Tokens a second of a stream, from the characters that came lately."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def mark(self, now: float, characters: int) -> float:
        """`characters` counts from the start; the rate now, 0 where nothing came lately."""
        marks = self._marks
        marks.append((now, characters))
        while marks and marks[0][0] < now - WINDOW:
            marks.popleft()
        (then, before) = marks[0]
        return (characters - before) / LETTERS / (now - then) if now - then > 0.4 else 0.0

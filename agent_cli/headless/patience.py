"""A line on stderr where a model takes long to begin, so that nobody takes silence for a hang."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent_cli.kernel import events as ev

SECONDS = 5.0


class Patience:
    """Fed every event; `tell` is called once a step, `seconds` after it began with nothing having come since."""

    def __init__(self, tell: Callable[[str], None], seconds: float = SECONDS) -> None:
        self._tell = tell
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, event: ev.Event) -> None:
        self.stop()
        if isinstance(event, ev.Entry) and isinstance(event.event, ev.StepStarted):
            told = f"waiting for {event.event.model} …"
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._tell, told)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

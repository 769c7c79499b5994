"""How a one-shot run is told to end: the first signal asks for a clean stop, the second one kills."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from types import TracebackType
from typing import Self

HEARD = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP


class Stops:
    """Listens while it is entered. `stop` is called once, in the event loop, on the first signal.

    A signal that this process was told to ignore (`nohup`, a background job) stays ignored.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self.received: signal.Signals | None = None
        self._stop = stop
        handlers = {number: signal.getsignal(number) for number in HEARD}
        self._before = {number: held for number, held in handlers.items() if held is not signal.SIG_IGN}

    @property
    def exit_code(self) -> int:
        """What a shell reports of a process that such a signal ended; 0 if none came."""
        return 128 + self.received if self.received else 0

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in self._before:
            try:
                loop.add_signal_handler(number, self._take, number)
            except NotImplementedError:  # of Windows' event loop
                signal.signal(number, lambda heard, _: self._take(signal.Signals(heard)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = asyncio.get_running_loop()
        for number, handler in self._before.items():
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, handler)

    def _take(self, number: signal.Signals) -> None:
        if self.received is not None:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.received = number
        self._stop()

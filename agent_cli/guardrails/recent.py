"""The last calls with what became of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from agent_cli.kernel.events import Severity, StopScope
from agent_cli.ports import Called, Came


class Stance(NamedTuple):
    """How sure a signal is, and what stopping it may cost."""

    severity: Severity
    scope: StopScope


SESSION = Stance("critical", "session")
TURN = Stance("critical", "turn")
WARN = Stance("warn", "turn")


class Held(msgspec.Struct):
    """`result` is None as long as the call is open; "" is a result that cannot be told from others."""

    call: Called
    result: str | None = None

    def agrees(self, other: Held) -> bool:
        """Whether nothing says that the results differ."""
        if self.result is None or other.result is None:
            return True
        return self.result == other.result != ""


class Recent:
    """At most `size` of them; calls that wait are left out."""

    def __init__(self, size: int) -> None:
        self._held: deque[Held] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Held]:
        return iter(self._held)

    def back(self, distance: int) -> Held:
        """The last one is at distance 1."""
        return self._held[-distance]

    def add(self, call: Called) -> None:
        self._held.append(Held(call))

    def settle(self, came: Came) -> None:
        for held in reversed(self._held):
            if held.call.call_id == came.call.call_id:
                held.result = came.masked
                return

    def clear(self) -> None:
        self._held.clear()

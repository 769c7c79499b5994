"""A connection that asks nothing holds no place for long: who lets one stand open keeps nobody out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as Served
else:
    Served = asyncio.Protocol

HEAD_WITHIN = 10.0
"""Seconds in which the head of a request has to be here, from its first byte or from when the connection was made."""


class Patient(Served):
    """Stands before uvicorn's protocol, which is imported where the server is made. Between requests there is its time
    of keeping alive. Where all places are taken, the one that has said nothing for longest makes room for who comes.
    """

    heard = 0.0
    """When something came, in the time of the loop."""
    _head: asyncio.TimerHandle | None = None

    @property
    def asks(self) -> bool:
        """Whether a request of it is at work."""
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._waits()
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        self.heard = self.loop.time()
        super().data_received(data)
        if self.asks:
            self._over()
        elif self._head is None and self.timeout_keep_alive_task is None:
            self._waits()

    def connection_lost(self, exc: Exception | None) -> None:
        self._over()
        super().connection_lost(exc)

    def _waits(self) -> None:
        self.heard = self.loop.time()
        self._head = self.loop.call_later(HEAD_WITHIN, self._late)

    def _over(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _late(self) -> None:
        self._head = None
        if not self.asks:
            self.transport.abort()

    def _make_room(self) -> None:
        others = [each for each in self.connections if isinstance(each, Patient) and each is not self]
        if waiting := [each for each in others if not each.asks]:
            oldest = min(waiting, key=lambda each: each.heard)
            self.connections.discard(oldest)
            oldest.transport.abort()

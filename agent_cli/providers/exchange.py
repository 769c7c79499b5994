"""Joins a family's pure halves: the encoded request goes out, events come back, pieces come out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Protocol, TypeAlias

from agent_cli.kernel.errors import GarbledResponse, StreamCut
from agent_cli.kernel.events import Finished, Piece
from agent_cli.kernel.wire import is_object
from agent_cli.providers import faults
from agent_cli.providers.faults import Service
from agent_cli.providers.pile import parsed

Event: TypeAlias = bytes | dict[str, Any]
"""The data of one event as it was sent, or as a vendor's client has read it."""


class Answer(Protocol):
    """One answer of a service. Its events come in lists of all that came at once."""

    def events(self) -> AsyncGenerator[Sequence[Event], None]: ...

    async def drain(self) -> None:
        """After the last event: lets the connection be used again, if that is quick."""
        ...


class Transport(Protocol):
    """The way to one service. Raises ProviderError, and ConfigError for what the operator has to mend."""

    @property
    def service(self) -> Service: ...

    def post(
        self, body: bytes, model: str, headers: Mapping[str, str] | None = None, /
    ) -> AbstractAsyncContextManager[Answer]:
        """Sends a request. Leaving the context closes the answer, and with it the connection if it goes on."""
        ...

    async def close(self) -> None: ...


class Decoder(Protocol):
    """A pure reader of one answer, fed every event once, in order."""

    @property
    def done(self) -> bool:
        """The terminal event was there."""
        ...

    def feed(self, event: dict[str, Any], /) -> Sequence[Piece]: ...

    def finished(self) -> Finished | None:
        """The whole answer; None while it is not complete."""
        ...


async def exchange(
    http: Transport, body: bytes, model: str, decoder: Decoder, headers: Mapping[str, str] | None = None
) -> AsyncGenerator[Piece | Finished, None]:
    """Raises ProviderError, and ConfigError for an address that is none."""
    async with http.post(body, model, headers) as answer, aclosing(answer.events()) as batches:
        async for batch in batches:
            for piece in _decoded(http, model, decoder, batch):
                yield piece
            if decoder.done:
                break
        finished = decoder.finished()
        if finished is None:
            raise StreamCut(
                f"{http.service.label} at {http.service.url} ended its answer before it was complete."
            )
        await answer.drain()
    yield finished


def _decoded(http: Transport, model: str, decoder: Decoder, batch: Sequence[Event]) -> Iterator[Piece]:
    for data in batch:
        if not decoder.done:
            yield from decoder.feed(_event(http, model, data))


def _event(http: Transport, model: str, data: Event) -> dict[str, Any]:
    event = data if isinstance(data, dict) else _read(http, data)
    failed = event.get("response") if event.get("type") == "response.failed" else None
    if event.get("error") or "error" in (event.get("object"), event.get("type")) or failed:
        raise faults.in_stream(http.service, model, failed or event)
    return event


def _read(http: Transport, data: bytes) -> dict[str, Any]:
    if data == b"[DONE]":
        return {"done": True}
    try:
        event = parsed(data)
    except ValueError:
        raise _garbled(http.service, "no JSON", data) from None
    if not is_object(event):
        raise _garbled(http.service, "no object", data)
    return event


def _garbled(service: Service, what: str, data: bytes) -> GarbledResponse:
    own = f" ({service.url_env})" if service.url_env else ""
    return GarbledResponse(
        f"{service.label} at {service.url} sent an event that is {what}: {faults.quoted(data)!r}. Something else may"
        f" answer there, or a proxy changes what is sent: ask again, and if it stays so check the address{own} and the"
        " proxy variables (HTTPS_PROXY, NO_PROXY)."
    )

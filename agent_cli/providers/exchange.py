"""Joins a family's pure halves: the encoded request goes out, events come back, pieces come out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from agent_cli.kernel.errors import GarbledResponse, StreamCut
from agent_cli.kernel.events import Finished, Piece
from agent_cli.kernel.wire import is_object
from agent_cli.providers import faults
from agent_cli.providers.http import Http
from agent_cli.providers.pile import parsed


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
    http: Http, body: bytes, model: str, decoder: Decoder, headers: Mapping[str, str] | None = None
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


def _decoded(http: Http, model: str, decoder: Decoder, batch: list[bytes]) -> Iterator[Piece]:
    for data in batch:
        if not decoder.done:
            yield from decoder.feed(_event(http, model, data))


def _event(http: Http, model: str, data: bytes) -> dict[str, Any]:
    if data == b"[DONE]":
        return {"done": True}
    try:
        event = parsed(data)
    except ValueError:
        raise GarbledResponse(
            f"{http.service.label} sent an event that is no JSON: {faults.quoted(data)!r}."
        ) from None
    if not is_object(event):
        raise GarbledResponse(
            f"{http.service.label} sent an event that is no object: {faults.quoted(data)!r}."
        )
    failed = event.get("response") if event.get("type") == "response.failed" else None
    if event.get("error") or "error" in (event.get("object"), event.get("type")) or failed:
        raise faults.in_stream(http.service, model, failed or event)
    return event

"""The sdk transport: a vendor's own client opens the connection and signs the request, our halves do the rest.

The body goes out as it was encoded, and what the client has read comes back as plain events, so that a family
does not know which transport it speaks over. The connection is ours (the client is given our httpx2 client):
time-outs, closing and proxies are those of the http transport, and nothing is sent twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Protocol

import msgspec

from agent_cli.kernel.errors import AgentError, GarbledResponse
from agent_cli.providers.faults import Service
from agent_cli.providers.http import DRAIN_TIMEOUT, Http, Patience

Json = dict[str, Any]

NOISY = r"(anthropic|google\.(genai|auth))\b"
"""Modules whose warnings are for programmers: of deprecated models, unknown enum values, quota projects."""

_responses: ContextVar[list[Any] | None] = ContextVar("_responses", default=None)
"""Where the response of the running request is put, so that it can be closed. The clients do not give it away."""


class Client(Protocol):
    """A vendor's client."""

    async def open(self, http: Http, /) -> None:
        """Imports and makes it, once, off the event loop. May raise anything."""
        ...

    def stream(self, http: Http, body: Json, headers: Mapping[str, str], /) -> AsyncGenerator[Json, None]:
        """The events of one answer as JSON objects. May raise anything."""
        ...

    def meaning(self, http: Http, model: str, problem: Exception, /) -> AgentError | None:
        """What an exception of the client says; None for one that is not of its making."""
        ...

    def close(self) -> None: ...


class SdkTransport:
    """`http` is where connections come from; its address is what messages name."""

    def __init__(self, http: Http, client: Client) -> None:
        self._http = http
        self._client = client

    @property
    def service(self) -> Service:
        return self._http.service

    @contextlib.asynccontextmanager
    async def post(
        self, body: bytes, model: str, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[SdkAnswer]:
        """The request is sent with the first event that is asked for. Leaving the context closes the connection.

        Loading the client takes seconds on a busy machine; they are no time that the service was silent.
        """
        hooks = self._http.client().event_hooks
        if _catch not in hooks["response"]:
            self._http.client().event_hooks = {**hooks, "response": [*hooks["response"], _catch]}
            warnings.filterwarnings("ignore", module=NOISY)
        try:
            await self._client.open(self._http)
        except Exception as problem:
            raise _meaning(self._http, self._client, model, problem) from problem
        events = self._client.stream(self._http, msgspec.json.decode(body), headers or {})
        answer = SdkAnswer(self._http, self._client, events, model)
        try:
            yield answer
        finally:
            await answer.close()

    async def close(self) -> None:
        self._client.close()
        await self._http.close()


class SdkAnswer:
    """The events of one answer, each in a list of its own, as a vendor's client has read them."""

    def __init__(self, http: Http, client: Client, events: AsyncGenerator[Json, None], model: str) -> None:
        self._http = http
        self._client = client
        self._events = events
        self._model = model
        self._caught: list[Any] = []
        self._patience = Patience(http, asyncio.get_running_loop().time() + http.first_byte_timeout)

    async def events(self) -> AsyncGenerator[Sequence[Json], None]:
        """Ends where the client's stream ends. Raises ProviderError, and ConfigError for what nobody signed."""
        came = False
        pieces = self._translated()
        while (event := await self._patience.wait_for(pieces)) is not None:
            came = True
            yield [event]
        if (
            not came
            and self._caught
            and "event-stream" not in self._caught[-1].headers.get("content-type", "")
        ):
            raise self._http.foreign(self._caught[-1], b"")

    async def drain(self) -> None:
        """After the last event: reads on to the end, so that the connection can be used again."""
        with contextlib.suppress(Exception):  # all is said already
            async with asyncio.timeout(DRAIN_TIMEOUT):
                async for _ in self._events:
                    pass

    async def close(self) -> None:
        await self._events.aclose()
        for response in self._caught:
            await response.aclose()

    async def _translated(self) -> AsyncGenerator[Json, None]:
        """The client's events; what it raises is put into our words."""
        while True:
            token = _responses.set(self._caught)
            try:
                event = await anext(self._events, None)
            except Exception as problem:
                raise _meaning(self._http, self._client, self._model, problem) from problem
            finally:
                _responses.reset(token)
            if event is None:
                return
            yield event


def _meaning(http: Http, client: Client, model: str, problem: Exception) -> AgentError:
    if isinstance(problem, AgentError):
        return problem
    known = client.meaning(http, model, problem)
    if known is not None:
        return known
    import httpx2

    if isinstance(problem, httpx2.HTTPError | httpx2.InvalidURL | OSError):
        return http.broken(problem)
    return GarbledResponse(
        f"The vendor's client could not read what {http.service.label} at {http.service.url} answered"
        f" ({type(problem).__name__}: {problem}). `model.transport: http` goes without that client."
    )


async def _catch(response: Any) -> None:
    """Called by our HTTP client with each response, in the context of who sent the request."""
    caught = _responses.get()
    if caught is not None:
        caught.append(response)

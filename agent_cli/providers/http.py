"""The http transport: one POST of JSON, one answer as a stream of events.

httpx2 does the connections, TLS and proxies (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE` of the
environment). It is imported with the first request.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any, TypeVar

import msgspec

from agent_cli.kernel.errors import (
    AgentError,
    ConfigError,
    ConnectionFailed,
    GarbledResponse,
    ProviderError,
    StreamCut,
)
from agent_cli.providers import faults, quick_import
from agent_cli.providers.faults import Service
from agent_cli.providers.sse import EventReader, EventTooLong, looks_like_events

FIRST_BYTE_TIMEOUT = 120.0
STALL_TIMEOUT = 120.0
CONNECT_TIMEOUT = 30.0
DRAIN_TIMEOUT = 0.25
"""Seconds that the end of a body may take after its last event; then the connection is not used again."""
MAX_ERROR_BYTES = 64 * 1024
ENOUGH_TO_TELL = 8
ENOUGH_TO_QUOTE = 2_000
PATIENCE_TO_QUOTE = 1.0

Piece = TypeVar("Piece")


class Http:
    """One client for one service; its connections are kept between requests, all of one event loop."""

    def __init__(
        self,
        service: Service,
        headers: Mapping[str, str],
        *,
        first_byte_timeout: float = FIRST_BYTE_TIMEOUT,
        stall_timeout: float = STALL_TIMEOUT,
        trust_env: bool = True,
    ) -> None:
        """`trust_env` False leaves proxies and certificates of the environment alone."""
        self.service = service
        self.first_byte_timeout = first_byte_timeout
        self.stall_timeout = stall_timeout
        self._headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": "agent-cli",
            **headers,
        }
        self._trust_env = trust_env
        self._client: Any = None

    @contextlib.asynccontextmanager
    async def post(
        self, body: bytes, model: str, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Answer]:
        """An answer with status 200. Leaving the context closes it. Raises ProviderError and ConfigError."""
        deadline = asyncio.get_running_loop().time() + self.first_byte_timeout
        response = await self._send(body, headers or {}, deadline)
        try:
            if response.status_code != 200:
                raise await self._refusal(response, model, deadline)
            answer = Answer(self, response, model, deadline)
            try:
                yield answer
            finally:
                await answer.close()
        finally:
            await response.aclose()

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _send(self, body: bytes, headers: Mapping[str, str], deadline: float) -> Any:
        try:
            client = self.client()
            sent = {**self._headers, **headers}
            request = client.build_request("POST", self.service.url, content=body, headers=sent)
            async with asyncio.timeout_at(deadline):
                return await client.send(request, stream=True)
        except TimeoutError:
            raise self.silent(self.first_byte_timeout) from None
        except Exception as problem:
            raise self.broken(problem) from problem

    def client(self) -> Any:
        """The client of the HTTP library (httpx2.AsyncClient), opened once."""
        if self._client is None:
            httpx2 = quick_import.httpx2()
            patience = httpx2.Timeout(None, connect=min(self.first_byte_timeout, CONNECT_TIMEOUT))
            self._client = httpx2.AsyncClient(
                timeout=patience, verify=self._trust(), trust_env=self._trust_env
            )
        return self._client

    def _trust(self) -> Any:
        """True for the system's certificates. Loading them takes 20 ms, which a plain address can do without."""
        if not self.service.url.startswith("http://"):
            return True
        import ssl

        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    async def _refusal(self, response: Any, model: str, deadline: float) -> ProviderError:
        body = await _beginning(response.aiter_bytes(), MAX_ERROR_BYTES, deadline)
        wait = faults.retry_after(response.headers, time.time())
        return faults.from_response(self.service, model, response.status_code, body, wait)

    # ── words ──

    def silent(self, seconds: float) -> ConnectionFailed:
        return ConnectionFailed(
            f"{self.service.label} at {self.service.url} sent nothing for {seconds:g} s. It may be overloaded;"
            " `model.first_byte_timeout` and `model.stall_timeout` set how long to wait."
        )

    def broken(self, problem: Exception) -> AgentError:
        """What an exception of the HTTP library means."""
        import httpx2

        where, why = f"{self.service.label} at {self.service.url}", _cause(problem)
        match problem:
            case httpx2.InvalidURL() | httpx2.UnsupportedProtocol() | httpx2.LocalProtocolError():
                return ConfigError(f"No request can be sent to {where} ({why}). {self._hint()}")
            case httpx2.RemoteProtocolError():
                return StreamCut(f"{where} ended the connection before its answer was complete ({why}).")
            case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.ProxyError():
                return ConnectionFailed(f"Cannot reach {where} ({why}). {self._hint()}")
            case httpx2.DecodingError():
                return GarbledResponse(f"{where} sent a body that cannot be decompressed ({why}).")
            case _:
                return ConnectionFailed(f"The connection to {where} broke ({why}).")

    def foreign(self, response: Any, start: bytes) -> GarbledResponse:
        """An answer that is no event stream."""
        kind = response.headers.get("content-type", "none")
        quote = f": {faults.quoted(start)!r}" if start else ""
        return GarbledResponse(
            f"{self.service.label} at {self.service.url} answered with something else than an event stream"
            f" (content type {kind}){quote}. Another service or a proxy may stand there."
            f" {self._hint()}",
            status=200,
        )

    def _hint(self) -> str:
        own = f", {self.service.url_env}" if self.service.url_env else ""
        return f"Check the address{own}, the network and the proxy variables (HTTPS_PROXY, NO_PROXY)."


class Patience:
    """How long an answer may take: its first piece by `deadline` (loop time), each later one in the stall timeout."""

    def __init__(self, http: Http, deadline: float) -> None:
        self._http = http
        self._seconds = http.first_byte_timeout
        self._deadline: float | None = deadline

    async def wait_for(self, pieces: AsyncGenerator[Piece, None]) -> Piece | None:
        """The next piece, None at the end. Raises ProviderError, and ConfigError for an address that is none."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(self._deadline or loop.time() + self._seconds):
                piece = await anext(pieces, None)
        except TimeoutError:
            raise self._http.silent(self._seconds) from None
        except AgentError:
            raise
        except Exception as problem:
            raise self._http.broken(problem) from problem
        self._deadline, self._seconds = None, self._http.stall_timeout
        return piece


class Answer:
    """The events of one answer, in lists of all that came with one chunk: each event is its data."""

    def __init__(self, http: Http, response: Any, model: str, deadline: float) -> None:
        self._http = http
        self._response = response
        self._model = model
        self._reader = EventReader()
        plain = "content-encoding" not in response.headers
        self._chunks: AsyncGenerator[bytes, None] = response.aiter_raw() if plain else response.aiter_bytes()
        self._patience = Patience(http, deadline)

    async def events(self) -> AsyncGenerator[list[bytes], None]:
        """Ends where the body ends. Raises ProviderError."""
        start = b""
        while True:
            chunk = await self._patience.wait_for(self._chunks)
            if chunk is None:
                break
            if len(start) < ENOUGH_TO_TELL:
                start += chunk
                if not looks_like_events(start):
                    raise await self._foreign(start)
            if events := self._fed(chunk):
                yield events
        if last := self._reader.flush():
            yield last

    async def drain(self) -> None:
        """After the last event: reads on to the end of the body, so that the connection can be used again."""
        with contextlib.suppress(Exception):  # all is said already
            async with asyncio.timeout(DRAIN_TIMEOUT):
                async for _ in self._chunks:
                    pass

    async def close(self) -> None:
        await self._chunks.aclose()

    def _fed(self, chunk: bytes) -> list[bytes]:
        try:
            return self._reader.feed(chunk)
        except EventTooLong:
            raise GarbledResponse(f"{self._http.service.label} sent an event without an end.") from None

    async def _foreign(self, start: bytes) -> ProviderError:
        soon = asyncio.get_running_loop().time() + PATIENCE_TO_QUOTE
        start += await _beginning(self._chunks, ENOUGH_TO_QUOTE, soon)
        with contextlib.suppress(msgspec.MsgspecError, RecursionError):
            data = msgspec.json.decode(start)
            if faults.said_in(data):
                return faults.in_stream(self._http.service, self._model, data)
        return self._http.foreign(self._response, start)


async def _beginning(chunks: AsyncGenerator[bytes, None], size: int, deadline: float) -> bytes:
    """Of a body that only serves to explain a failure: what comes in time, whatever breaks it off."""
    body = b""
    with contextlib.suppress(Exception):
        async with asyncio.timeout_at(deadline), contextlib.aclosing(chunks):
            while len(body) < size and (chunk := await anext(chunks, None)) is not None:
                body += chunk
    return body


def _cause(problem: Exception) -> str:
    """The system's own words: "Connection refused" instead of "All connection attempts failed"."""
    told, inner = str(problem) or type(problem).__name__, problem
    while isinstance(inner, BaseException):
        refused = isinstance(inner, ConnectionError) and inner.errno
        told = os.strerror(refused) if refused else str(inner) or told
        several: Any = getattr(inner, "exceptions", None)
        inner = several[0] if several else inner.__cause__ or inner.__context__
    return told

"""Google's own client (the `google-genai` package) under the sdk transport, for the Gemini API and Vertex AI."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers import faults
from agent_cli.providers.google_login import login_problem
from agent_cli.providers.http import Http

Json = dict[str, Any]
Make: TypeAlias = Callable[[Any, Http], Any]
"""Makes the client from the module `google.genai` and our connection. Runs in a thread: it may read files."""

PLACEHOLDER = "-"
"""The client wants contents of its own types; the real ones, as they were encoded, replace them."""
VERTEX_VERSION = "v1beta1"
"""The client's own default there."""
NOT_OF_THE_API = {"sdk_http_response", "automatic_function_calling_history", "parsed"}


class GeminiClient:
    """One client for one model, made with the first request."""

    def __init__(self, model: str, make: Make) -> None:
        self._model = model
        self._make = make
        self._client: Any = None

    async def open(self, http: Http, /) -> None:
        hooks = http.client().event_hooks
        if _hide_comments not in hooks["response"]:
            http.client().event_hooks = {**hooks, "response": [*hooks["response"], _hide_comments]}
        if self._client is None:
            self._client = await asyncio.to_thread(self._made, http)

    async def stream(
        self, http: Http, body: Json, headers: Mapping[str, str], /
    ) -> AsyncGenerator[Json, None]:
        from google.genai import types

        config = types.GenerateContentConfig(
            http_options=types.HttpOptions(extra_body=body, headers=dict(headers)),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            automatic_continuation=False,
        )
        chunks = await self._client.aio.models.generate_content_stream(
            model=self._model, contents=PLACEHOLDER, config=config
        )
        async for chunk in chunks:
            yield _plain(chunk.model_dump(by_alias=True, exclude_none=True, exclude=NOT_OF_THE_API))

    def meaning(self, http: Http, model: str, problem: Exception, /) -> AgentError | None:
        from google.genai import errors

        if not isinstance(problem, errors.APIError):
            return login_problem(http.service, problem)
        error: Any = problem
        if getattr(error.response, "is_stream_consumed", False):
            wait = faults.retry_after(error.response.headers, time.time())
            return faults.from_response(http.service, model, error.code, error.response.content, wait)
        return faults.in_stream(http.service, model, error.details)

    def close(self) -> None:
        """The connections are not the client's, so there is nothing of its own to close."""
        self._client = None

    def _made(self, http: Http) -> Any:
        from google import genai

        return self._make(genai, http)


def with_key(base: str, version: str, key: str, own: Mapping[str, str]) -> Make:
    """For the Gemini API; `base` is without the version."""

    def make(genai: Any, http: Http) -> Any:
        return genai.Client(
            vertexai=False, api_key=key, http_options=_options(genai, http, base, version, own)
        )

    return make


def on_vertex(
    base: str, project: str, location: str, own: Mapping[str, str], credentials: Any = None
) -> Make:
    """For Gemini on Vertex AI. Credentials are Google's default ones, or given."""

    def make(genai: Any, http: Http) -> Any:
        return genai.Client(
            vertexai=True,
            project=project,
            location=location,
            credentials=credentials,
            http_options=_options(genai, http, base, VERTEX_VERSION, own),
        )

    return make


def _options(genai: Any, http: Http, base: str, version: str, own: Mapping[str, str]) -> Any:
    """Without retries of its own. Our connection for it; the other one, which would block, is never used."""
    import httpx2

    idle = httpx2.Client(transport=httpx2.MockTransport(_never), trust_env=False)
    return genai.types.HttpOptions(
        base_url=base,
        api_version=version,
        headers=dict(own),
        httpx_async_client=http.client(),
        httpx_client=idle,
    )


async def _hide_comments(response: Any) -> None:
    """The client takes a comment in a stream, which gateways send to keep it alive, for an answer that it cannot read."""
    if "event-stream" in response.headers.get("content-type", ""):
        response.aiter_bytes = partial(_without_comments, response.aiter_bytes)


async def _without_comments(chunks: Callable[[], AsyncIterator[bytes]]) -> AsyncGenerator[bytes, None]:
    """Nothing is held back: a line is known by its first byte."""
    last, hidden = b"\n", False
    async for chunk in chunks():
        shown: list[bytes] = []
        for line in chunk.splitlines(keepends=True):
            if last in b"\r\n" and not (last == b"\r" and line.startswith(b"\n")):
                hidden = line.startswith(b":")
            last = line[-1:]
            if not hidden:
                shown.append(line)
        yield b"".join(shown)


def _never(request: Any) -> Any:
    raise RuntimeError(f"a request of the blocking client: {request.url}")


def _plain(value: Any) -> Any:
    """JSON as the service sent it: names of enums, bytes as base64."""
    if is_object(value):
        return {name: _plain(held) for name, held in value.items()}
    if is_list(value):
        return [_plain(held) for held in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value

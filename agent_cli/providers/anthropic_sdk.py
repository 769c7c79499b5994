"""Anthropic's own client (the `anthropic` package) under the sdk transport, for its API and for Vertex AI."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, TypeAlias

from agent_cli.kernel.errors import AgentError, ConfigError
from agent_cli.providers import faults
from agent_cli.providers.google_login import login_problem
from agent_cli.providers.http import Http
from agent_cli.providers.memo import json_bytes

Json = dict[str, Any]
Make: TypeAlias = Callable[[Any, Http], Any]
"""Makes the client from the module `anthropic` and our connection. Runs in a thread: it may read files."""


class AnthropicClient:
    """One client, made with the first request. `fields` go into every body."""

    def __init__(self, make: Make, fields: Mapping[str, str] | None = None) -> None:
        self._make = make
        self._fields = fields or {}
        self._client: Any = None

    async def open(self, http: Http, /) -> None:
        http.client()
        if self._client is None:
            self._client = await asyncio.to_thread(self._made, http)

    async def stream(
        self, http: Http, body: Json, headers: Mapping[str, str], /
    ) -> AsyncGenerator[Json, None]:
        given = {name: body.pop(name) for name in ("model", "max_tokens", "messages")}
        body.pop("stream")
        events = await self._client.messages.create(
            **given, stream=True, extra_body={**body, **self._fields}, extra_headers=dict(headers)
        )
        async with contextlib.aclosing(events.__aiter__()) as pieces:
            async for event in pieces:
                yield event if isinstance(event, dict) else event.to_dict()

    def meaning(self, http: Http, model: str, problem: Exception, /) -> AgentError | None:
        import anthropic

        match problem:
            case anthropic.APIStatusError(status_code=200):
                return faults.in_stream(http.service, model, problem.body)
            case anthropic.APIStatusError(status_code=status, response=response):
                body = response.content if response.is_stream_consumed else json_bytes(problem.body)
                wait = faults.retry_after(response.headers, time.time())
                return faults.from_response(http.service, model, status, body, wait)
            case anthropic.APIConnectionError():
                cause = problem.__cause__
                return http.broken(cause if isinstance(cause, Exception) else problem)
            case anthropic.AnthropicError() | TypeError() if "resolve authentication" in str(problem):
                return ConfigError(
                    "Anthropic's client found no credentials: no ANTHROPIC_API_KEY, no ANTHROPIC_AUTH_TOKEN, no"
                    " profile and no workload identity. Set one of them up, or choose another model with --model."
                )
            case _:
                return login_problem(http.service, problem)

    def close(self) -> None:
        """The connection is not the client's, so there is nothing of its own to close."""
        self._client = None

    def _made(self, http: Http) -> Any:
        import anthropic

        return self._make(anthropic, http)


def with_key(base: str, signed: Mapping[str, str], own: Mapping[str, str]) -> Make:
    """For Anthropic's API. `signed` are the headers that the http transport would send, `own` the operator's.

    Without a key among them the client looks for credentials itself: profiles, workload identity.
    """

    def make(anthropic: Any, http: Http) -> Any:
        keyed = "x-api-key" in signed or "authorization" in signed
        headers: dict[str, Any] = {**signed, **own}
        if "x-api-key" in signed:
            headers["Authorization"] = anthropic.omit
        token = signed.get("authorization", "").removeprefix("Bearer ") or None
        return anthropic.AsyncAnthropic(
            api_key=signed.get("x-api-key") if keyed else None,
            auth_token=token,
            base_url=base.removesuffix("/v1"),
            max_retries=0,
            timeout=None,
            default_headers=headers,
            http_client=http.client(),
            open_telemetry=False,
        )

    return make


def on_vertex(
    base: str, project: str, location: str, own: Mapping[str, str], credentials: Any = None
) -> Make:
    """For Claude on Vertex AI; `base` is without the version. Credentials are Google's default ones, or given."""

    def make(anthropic: Any, http: Http) -> Any:
        return anthropic.AsyncAnthropicVertex(
            region=location,
            project_id=project,
            credentials=credentials,
            base_url=f"{base}/v1",
            max_retries=0,
            timeout=None,
            default_headers=dict(own),
            http_client=http.client(),
            open_telemetry=False,
        )

    return make

"""Asks a service which models it has, and how large they are. Anthropic and Gemini say so; OpenAI gives names only."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

from agent_cli.kernel.errors import GarbledResponse
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers import faults
from agent_cli.providers.catalog import provider_of
from agent_cli.providers.dial import GEMINI_VERSION, VERSIONED, Line, way
from agent_cli.providers.http import Http
from agent_cli.providers.pile import parsed
from agent_cli.providers.refreshed import Listed
from agent_cli.providers.vendors import Api

Json = dict[str, Any]

TIMEOUT = 20.0
"""Seconds for the whole list of one service."""
MOST_PAGES = 20
MOST_BYTES = 8 * 1024 * 1024
NOT_FOR_TALKING = re.compile(
    r"audio|realtime|transcribe|tts|image|search|instruct|embedding|moderation|live|dialog|robotics|computer-use"
)
"""In names of models that answer no conversation with tools."""


class Page(NamedTuple):
    models: list[Listed]
    following: dict[str, str]
    """What asks for the next page; empty on the last one."""


async def listed(api: Api, line: Line) -> tuple[Listed, ...]:
    """Every model of that service that talks, by name. Raises ProviderError, and ConfigError for a bad address."""
    http = Http(line.service, {}, first_byte_timeout=TIMEOUT, stall_timeout=TIMEOUT)
    try:
        async with asyncio.timeout(TIMEOUT):
            models = await _pages(http, api, line)
    except TimeoutError:
        raise http.silent(TIMEOUT) from None
    finally:
        await http.close()
    kept = {model.id: model for model in models if not NOT_FOR_TALKING.search(model.id)}
    return tuple(kept[name] for name in sorted(kept))


async def reached(api: Api, line: Line, seconds: float) -> None:
    """Whether the service answers and takes the key. Raises ProviderError, and ConfigError for a bad address.

    One that has no list of models answers all the same.
    """
    http = Http(line.service, {}, first_byte_timeout=seconds, stall_timeout=seconds)
    headers = {**way(api, line).headers, **line.headers}
    try:
        async with asyncio.timeout(seconds):
            await _get(http, _address(api, line, {}), headers)
    except TimeoutError:
        raise http.silent(seconds) from None
    except GarbledResponse as problem:
        if problem.status != 404:
            raise
    finally:
        await http.close()


async def _pages(http: Http, api: Api, line: Line) -> list[Listed]:
    models: list[Listed] = []
    query: dict[str, str] = {}
    for _ in range(MOST_PAGES):
        page = _page(api, await _get(http, _address(api, line, query), way(api, line).headers))
        models += page.models
        query = page.following
        if not query:
            break
    return models


def _address(api: Api, line: Line, query: dict[str, str]) -> str:
    match api:
        case "messages":
            return f"{line.base.removesuffix('/v1')}/v1/models?{urlencode({'limit': '1000', **query})}"
        case "gemini":
            versioned = line.base if VERSIONED.search(line.base) else f"{line.base}/{GEMINI_VERSION}"
            return f"{versioned}/models?{urlencode({'pageSize': '1000', **query})}"
        case "chat" | "responses":
            return f"{line.base}/models"


async def _get(http: Http, url: str, headers: Any) -> Json:
    """A JSON object. Raises ProviderError."""
    service, body = http.service._replace(url=url), b""
    try:
        async with http.client().stream("GET", url, headers=dict(headers)) as response:
            status, chunks = response.status_code, response.aiter_bytes()
            while len(body) <= MOST_BYTES and (chunk := await anext(chunks, None)) is not None:
                body += chunk
    except Exception as problem:
        raise http.broken(problem) from problem
    if len(body) > MOST_BYTES:
        raise GarbledResponse(f"The list of {service.label} at {url} has no end.")
    if status == 404:
        raise GarbledResponse(f"{service.label} has no list of models at {url}.", status=status)
    if status != 200:
        raise faults.from_response(service, "its list of models", status, body)
    try:
        data = parsed(body)
    except ValueError:
        data = None
    if not is_object(data):
        raise GarbledResponse(f"{service.label} at {url} sent no list of models: {faults.quoted(body)!r}.")
    return data


def _page(api: Api, data: Json) -> Page:
    rows = data.get("models" if api == "gemini" else "data")
    found = [row for row in rows if is_object(row)] if is_list(rows) else []
    match api:
        case "messages":
            more = bool(data.get("has_more")) and bool(data.get("last_id"))
            return Page(list(_anthropic(found)), {"after_id": str(data["last_id"])} if more else {})
        case "gemini":
            token = data.get("nextPageToken")
            return Page(list(_gemini(found)), {"pageToken": str(token)} if token else {})
        case "chat" | "responses":
            names = (str(row.get("id") or "") for row in found)
            return Page([Listed(name) for name in names if provider_of(name) == "openai"], {})


def _anthropic(rows: list[Json]) -> Iterator[Listed]:
    for row in rows:
        if name := row.get("id"):
            yield Listed(str(name), _tokens(row, "max_input_tokens"), _tokens(row, "max_tokens"))


def _gemini(rows: list[Json]) -> Iterator[Listed]:
    for row in rows:
        methods = row.get("supportedGenerationMethods")
        if is_list(methods) and "generateContent" not in methods:
            continue
        if name := str(row.get("name") or "").removeprefix("models/"):
            yield Listed(name, _tokens(row, "inputTokenLimit"), _tokens(row, "outputTokenLimit"))


def _tokens(row: Json, name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) and value > 0 else None

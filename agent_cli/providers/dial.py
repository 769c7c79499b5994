"""Connects one model: the address, the headers and the family that an API needs. Loads only that family."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import OpenModel, Provider
from agent_cli.providers.exchange import Transport
from agent_cli.providers.faults import Service
from agent_cli.providers.http import Http
from agent_cli.providers.vendors import OFFICIAL, Api, Calling

if TYPE_CHECKING:
    from agent_cli.providers.openai import Dialect

OPENAI = re.compile(r"https?://([\w-]+\.)?api\.openai\.com(:\d+)?(/|$)", re.IGNORECASE)
OPENROUTER = re.compile(r"https?://([\w-]+\.)*openrouter\.ai(:\d+)?(/|$)", re.IGNORECASE)
VERSIONED = re.compile(r"/v\d+[a-z0-9]*$")
GEMINI_VERSION = "v1beta"
"""The version with everything that current models need; an address that ends with another one keeps it."""


class Key(NamedTuple):
    """`env` is the variable it was read from."""

    env: str
    value: str


class Line(NamedTuple):
    """Where requests go, and what they carry. `name` is the provider's; `service.url` is without an API's path."""

    name: str
    card: ModelCard
    service: Service
    key: Key | None
    headers: Mapping[str, str]

    @property
    def base(self) -> str:
        return self.service.url.rstrip("/")


class Way(NamedTuple):
    """The whole address of an API, and its headers without the operator's own."""

    url: str
    headers: Mapping[str, str]


def is_openai(base: str) -> bool:
    """Whether an address is OpenAI's own, where new models take tools and reasoning together only by Responses."""
    return OPENAI.match(base) is not None


def api_of(vendor: str, base: str) -> Api:
    """OpenAI itself by Responses; every other address that speaks like OpenAI offers Chat Completions."""
    if vendor == "openai":
        return "responses" if is_openai(base) else "chat"
    return "messages" if vendor == "anthropic" else "gemini"


def way(api: Api, line: Line) -> Way:
    base, key = line.base, line.key
    match api:
        case "messages":
            from agent_cli.providers.anthropic import VERSION

            headers = {"anthropic-version": VERSION, **_signed(key, "x-api-key")}
            return Way(f"{base.removesuffix('/v1')}/v1/messages", headers)
        case "chat":
            return Way(f"{base.removesuffix('/chat/completions')}/chat/completions", _signed(key))
        case "responses":
            return Way(f"{base.removesuffix('/responses')}/responses", _signed(key))
        case "gemini":
            versioned = base if VERSIONED.search(base) else f"{base}/{GEMINI_VERSION}"
            url = f"{versioned}/models/{line.card.id}:streamGenerateContent?alt=sse"
            return Way(url, _signed(key, "x-goog-api-key"))


def dial(api: Api, line: Line, calling: Calling) -> OpenModel:
    """Models of one address share its endpoint. Raises ConfigError for an address that is none."""
    if not line.base.startswith(("http://", "https://")):
        raise ConfigError(
            f"The address of {line.service.label} has to begin with http:// or https://, and is '{line.base}'."
        )
    url, headers = way(api, line)
    http = Http(
        line.service._replace(url=url),
        {**headers, **line.headers},
        first_byte_timeout=calling.first_byte_timeout,
        stall_timeout=calling.stall_timeout,
    )
    return OpenModel(_family(api, line, http, calling), line.card, line.base)


def _family(api: Api, line: Line, http: Http, calling: Calling) -> Provider:
    card, name = line.card, line.name
    match api:
        case "messages":
            from agent_cli.providers.anthropic import Anthropic

            return Anthropic(card, _transport(api, line, http, calling), name=name, ttl=calling.ttl)
        case "chat":
            from agent_cli.providers.openai import OpenAI

            return OpenAI(card, http, name=name, dialect=dialect_of(name, http.service.url))
        case "responses":
            from agent_cli.providers.responses import Responses

            return Responses(card, http, name=name)
        case "gemini":
            from agent_cli.providers.gemini import Gemini

            return Gemini(card, _transport(api, line, http, calling), name=name)


def dialect_of(name: str, url: str) -> Dialect:
    """OpenRouter is known by its host, or where the operator says that it stands behind an address of his own."""
    if name == "openrouter" or OPENROUTER.match(url):
        return "openrouter"
    return "openai" if name == "openai" else "compatible"


def _transport(api: Api, line: Line, http: Http, calling: Calling) -> Transport:
    """Ours, or the vendor's own client where config wants it. Endpoints of the operator get ours."""
    if calling.transport == "http" or line.name not in OFFICIAL:
        return http
    from agent_cli.providers.sdk import SdkTransport

    if api == "messages":
        from agent_cli.providers import anthropic_sdk

        make = anthropic_sdk.with_key(line.base, way(api, line).headers, line.headers)
        return SdkTransport(http, anthropic_sdk.AnthropicClient(make))
    from agent_cli.providers import gemini_sdk

    if line.key is None:
        raise ConfigError(
            "Google's own client (`model.transport: sdk`) wants a key. Set GEMINI_API_KEY; where your own server asks"
            " for none, any text will do."
        )
    found = VERSIONED.search(line.base)
    version = found.group().removeprefix("/") if found else GEMINI_VERSION
    base = line.base[: found.start()] if found else line.base
    make = gemini_sdk.with_key(base, version, line.key.value, line.headers)
    return SdkTransport(http, gemini_sdk.GeminiClient(line.card.id, make))


def _signed(key: Key | None, header: str = "authorization") -> dict[str, str]:
    """The header that carries the key: tokens go as a bearer everywhere."""
    if key is None:
        return {}
    if header == "authorization" or key.env.endswith("_AUTH_TOKEN"):
        return {"authorization": f"Bearer {key.value}"}
    return {header: key.value}

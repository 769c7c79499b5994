"""Connects one model: the address, the headers and the family that an API needs. Loads only that family."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import OpenModel
from agent_cli.providers.faults import Service
from agent_cli.providers.http import Http

Api: TypeAlias = Literal["chat", "responses", "messages", "gemini"]
"""Chat Completions and Responses of OpenAI, Messages of Anthropic, generateContent of Gemini."""

OPENAI = re.compile(r"https?://([\w-]+\.)?api\.openai\.com(:\d+)?(/|$)", re.IGNORECASE)
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


def dial(api: Api, line: Line, first_byte: float, stall: float, ttl: Literal["5m", "1h"] = "5m") -> OpenModel:
    """`first_byte` and `stall` are timeouts in seconds. Raises ConfigError for an address that is none."""
    if not line.base.startswith(("http://", "https://")):
        raise ConfigError(
            f"The address of {line.service.label} has to begin with http:// or https://, and is '{line.base}'."
        )
    url, headers = way(api, line)
    card, name, service = line.card, line.name, line.service._replace(url=url)
    http = Http(service, {**headers, **line.headers}, first_byte_timeout=first_byte, stall_timeout=stall)
    match api:
        case "messages":
            from agent_cli.providers.anthropic import Anthropic

            return OpenModel(Anthropic(card, http, name=name, ttl=ttl), card)
        case "chat":
            from agent_cli.providers.openai import OpenAI

            dialect = "openrouter" if "openrouter" in url else "openai" if name == "openai" else "compatible"
            return OpenModel(OpenAI(card, http, name=name, dialect=dialect), card)
        case "responses":
            from agent_cli.providers.responses import Responses

            return OpenModel(Responses(card, http, name=name), card)
        case "gemini":
            from agent_cli.providers.gemini import Gemini

            return OpenModel(Gemini(card, http, name=name), card)


def _signed(key: Key | None, header: str = "authorization") -> dict[str, str]:
    """The header that carries the key: tokens go as a bearer everywhere."""
    if key is None:
        return {}
    if header == "authorization" or key.env.endswith("_AUTH_TOKEN"):
        return {"authorization": f"Bearer {key.value}"}
    return {header: key.value}

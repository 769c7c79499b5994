"""The providers that are known by name: addresses, variables that hold keys, models to begin with."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from agent_cli.kernel.values import Plain

Api: TypeAlias = Literal["chat", "responses", "messages", "gemini"]
"""Chat Completions and Responses of OpenAI, Messages of Anthropic, generateContent of Gemini."""

OFFICIAL = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "gemini": "https://generativelanguage.googleapis.com",
}
KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
"""Where a vendor has several, the first one that is set wins."""
KEY_TO_SET = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}
URLS = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
    "vertex": "GOOGLE_VERTEX_BASE_URL",
    "anthropic-vertex": "ANTHROPIC_VERTEX_BASE_URL",
}
LABELS = {"anthropic": "Anthropic", "openai": "OpenAI", "gemini": "Gemini"}
SPECIAL = ("scripted", "echo", "local")
CLOUDS = {"vertex": "gemini", "anthropic-vertex": "anthropic"}
"""Clouds that serve a vendor's models: with an identity of theirs instead of a key."""
NOT_YET = ("bedrock",)
DEFAULTS = {
    "anthropic": "claude-opus-5",
    "openai": "gpt-5.2",
    "gemini": "gemini-3.7-flash",
    "vertex": "gemini-3.7-flash",
    "anthropic-vertex": "claude-opus-5",
}
"""For OpenAI the newest model that reasons and takes tools also through Chat Completions."""


class Endpoint(Plain, frozen=True):
    """An address of the operator's that speaks a known API, or what differs at a provider that is known by name.

    `key_env` names the variable with its key. Empty fields are those of the provider; of a new name, `api` is
    "chat" then. `project` and `location` are of Google Cloud.
    """

    base_url: str = ""
    key_env: str = ""
    api: Api | Literal[""] = ""
    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    project: str = ""
    location: str = ""


ENDPOINTS: dict[str, Endpoint] = {
    "openrouter": Endpoint("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": Endpoint("http://localhost:11434/v1"),
    "lmstudio": Endpoint("http://localhost:1234/v1"),
    "llamacpp": Endpoint("http://localhost:8080/v1"),
    "vllm": Endpoint("http://localhost:8000/v1"),
}
"""Known without config; an address of that name in config replaces one, with its key."""

NOT_ENDPOINTS = frozenset((*OFFICIAL, *CLOUDS, *SPECIAL, *NOT_YET))


class Calling(NamedTuple):
    """How models are asked, whoever serves them. Timeouts are seconds; `ttl` is of Anthropic's prompt cache.

    `transport` is for the APIs of Anthropic and Gemini: ours over HTTP, or the vendor's own client.
    """

    first_byte_timeout: float = 120.0
    stall_timeout: float = 120.0
    ttl: Literal["5m", "1h"] = "5m"
    transport: Literal["http", "sdk"] = "http"


class Delegation(NamedTuple):
    """How a turn is handed to a vendor's program. `sources` are scopes of its settings that it may load.

    `refused` says, with a place for the model's `{name}`, which setting cannot hold there; "" where all can.
    """

    command: str = "claude"
    cwd: str = "."
    sources: tuple[str, ...] = ()
    refused: str = ""


def merged(own: dict[str, Endpoint]) -> dict[str, Endpoint]:
    """The endpoints that are known, with those of config over them. Rows about other providers are left out."""
    endpoints = dict(ENDPOINTS)
    for name, row in own.items():
        known = ENDPOINTS.get(name)
        if known is not None and not row.base_url:
            filled = msgspec.structs.replace(
                row, base_url=known.base_url, key_env=row.key_env or known.key_env
            )
        else:
            filled = row
        if filled.base_url and name not in NOT_ENDPOINTS:
            endpoints[name] = filled
    return endpoints

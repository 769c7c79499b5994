"""Opens models by the names that `--model` takes: which provider, which key, which address, which card."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.kernel.values import Plain
from agent_cli.ports import OpenModel
from agent_cli.providers import catalog
from agent_cli.providers.catalog import SNAPSHOT
from agent_cli.providers.dial import Api, Key, Line, dial, is_openai
from agent_cli.providers.faults import Service

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
}
LABELS = {"anthropic": "Anthropic", "openai": "OpenAI", "gemini": "Gemini"}
SPECIAL = ("scripted", "echo", "local")
NOT_YET = ("vertex", "anthropic-vertex", "bedrock")
DEFAULTS = {"anthropic": "claude-opus-5", "openai": "gpt-5.2", "gemini": "gemini-3.7-flash"}
"""For OpenAI the newest model that reasons and takes tools also through Chat Completions."""


class Endpoint(Plain, frozen=True):
    """An address of the operator's that speaks a known API; `key_env` names the variable with its key."""

    base_url: str
    key_env: str = ""
    api: Api = "chat"
    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])


ENDPOINTS: dict[str, Endpoint] = {
    "openrouter": Endpoint("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": Endpoint("http://localhost:11434/v1"),
    "lmstudio": Endpoint("http://localhost:1234/v1"),
    "llamacpp": Endpoint("http://localhost:8080/v1"),
    "vllm": Endpoint("http://localhost:8000/v1"),
}
"""Known without config; an endpoint of the same name in config replaces one."""


class LocalModels(Protocol):
    """The embedded models."""

    def open_local(self, name: str | None = None) -> OpenModel: ...

    def installed(self) -> list[str]: ...


class Registry:
    """`environ` is read when a model is opened. `overrides` are fields of cards by model name."""

    def __init__(  # noqa: PLR0913 - one place names every setting that providers have
        self,
        environ: Mapping[str, str],
        *,
        provider: str | None = None,
        base_url: str | None = None,
        endpoints: Mapping[str, Endpoint] | None = None,
        overrides: Mapping[str, Mapping[str, Any]] | None = None,
        context_window: int | None = None,
        script: Path | None = None,
        script_strict: bool = False,
        first_byte_timeout: float = 120.0,
        stall_timeout: float = 120.0,
        cache_ttl: Literal["5m", "1h"] = "5m",
        local: LocalModels | None = None,
    ) -> None:
        self._environ = environ
        self._provider = provider
        self._base_url = base_url
        self._endpoints = {**ENDPOINTS, **(endpoints or {})}
        self._overrides = overrides or {}
        self._window = context_window
        self._script = (script, script_strict)
        self._timeouts = (first_byte_timeout, stall_timeout)
        self._ttl: Literal["5m", "1h"] = cache_ttl
        self._local = local
        self._opened: dict[str, OpenModel] = {}

    def open(self, name: str, /) -> OpenModel:
        """Raises ConfigError that names the nearest models, or the variable to set."""
        known = self._opened.get(name)
        if known is None:
            provider, model = self._split(name.strip())
            opened = self._special(provider, model) or self._remote(provider, model)
            known = self._opened[name] = opened
        return known

    def default_name(self) -> str | None:
        """The model for what is there: a key, else an installed local model; None where there is nothing.

        Raises ConfigError where several keys leave it open.
        """
        if self._provider is not None:
            return DEFAULTS.get(self._provider) or (self._provider if self._provider in SPECIAL else None)
        keyed = {vendor: key for vendor in DEFAULTS if (key := self._key(KEYS[vendor]))}
        if len(keyed) > 1:
            names = " and ".join(key.env for key in keyed.values())
            raise ConfigError(f"{names} are set: say which one to use, with --model or --provider.")
        if keyed:
            return DEFAULTS[next(iter(keyed))]
        local = self._local_models()
        return "local" if local is not None and local.installed() else None

    async def close(self) -> None:
        opened, self._opened = self._opened, {}
        for model in opened.values():
            await model.provider.close()

    # ── names ──

    def _split(self, name: str) -> tuple[str, str]:
        """(provider, model). Raises ConfigError where nothing says whose model it is."""
        if not name:
            raise ConfigError("The name of a model is empty. `agent-cli models` lists the known ones.")
        if name in SPECIAL:
            return name, ""
        head, rest = _parted(name)
        flag = self._provider
        if flag in self._endpoints:  # what looks like a vendor there is part of the model's name
            return flag, rest if head == flag else name
        if rest and (head in DEFAULTS or head in SPECIAL or head in NOT_YET or head in self._endpoints):
            return head, rest
        provider = flag or catalog.provider_of(name) or self._own_server()
        if provider is None:
            raise _unknown(name)
        return provider, name

    def _own_server(self) -> str | None:
        """The vendor whose address was replaced, if it is only one: strange names are meant for that server."""
        own = [vendor for vendor in DEFAULTS if self._base(vendor) != OFFICIAL[vendor]]
        return own[0] if len(own) == 1 else None

    # ── what needs no key ──

    def _special(self, provider: str, model: str) -> OpenModel | None:
        match provider:
            case "scripted":
                from agent_cli.providers import scripted

                path, strict = self._script
                played = (
                    scripted.Scripted.from_file(path, strict=strict) if path else scripted.Scripted.demo()
                )
                return self._with_card(OpenModel(played, scripted.CARD))
            case "echo":
                from agent_cli.providers import echo

                return self._with_card(OpenModel(echo.Echo(), echo.CARD))
            case "local":
                local = self._local_models()
                if local is None:
                    raise ConfigError("This installation has no embedded models.")
                return self._with_card(local.open_local(model or None))
            case _:
                return None

    def _local_models(self) -> LocalModels | None:
        if self._local is None:
            with contextlib.suppress(ImportError):
                from agent_cli.providers.local import provider

                self._local = provider
        return self._local

    # ── services ──

    def _remote(self, provider: str, model: str) -> OpenModel:
        if provider in NOT_YET:
            raise ConfigError(
                f"'{model}' is a model of {provider}, which this version cannot talk to yet. Choose a model of"
                " Anthropic, OpenAI or Gemini, or an endpoint that offers it by Chat Completions (openrouter/MODEL)."
            )
        if provider in self._endpoints:
            return self._endpoint(provider, self._endpoints[provider], model)
        if provider not in DEFAULTS:
            known = sorted({*DEFAULTS, *SPECIAL, *self._endpoints})
            raise ConfigError(f"There is no provider '{provider}'; there are {', '.join(known)}.")
        return self._vendor(provider, model)

    def _vendor(self, provider: str, model: str) -> OpenModel:
        base = self._base(provider)
        own = base != OFFICIAL[provider]
        card = catalog.card(model, provider, self._overrides)
        if card is None:
            if not own and self._provider != provider:
                raise _unknown(model)
            card = ModelCard(id=model, provider=provider)
        elif SNAPSHOT.search(model):
            card = msgspec.structs.replace(card, id=model)
        key = self._key(KEYS[provider])
        if key is None and not own:
            raise ConfigError(
                f"There is no key for {LABELS[provider]}, which serves {card.id}. Set {KEY_TO_SET[provider]}, choose"
                " another model with --model, or install one that needs no key: `agent-cli local install`."
            )
        service = Service(LABELS[provider], base, key.env if key else KEY_TO_SET[provider], URLS[provider])
        return self._dial(_api_of(provider, base), Line(provider, card, service, key, {}))

    def _endpoint(self, name: str, endpoint: Endpoint, model: str) -> OpenModel:
        base = self._base_url if self._base_url and self._provider == name else endpoint.base_url
        key = self._key((endpoint.key_env,)) if endpoint.key_env else None
        if endpoint.key_env and key is None:
            raise ConfigError(f"There is no key for the endpoint '{name}'. Set {endpoint.key_env}.")
        card = catalog.card(model, None, self._overrides) or ModelCard(id=model, provider=name)
        prices = card.prices if name == "openrouter" or model in self._overrides else ()
        card = msgspec.structs.replace(card, id=model, provider=name, prices=prices)
        service = Service(name, base, endpoint.key_env)
        return self._dial(endpoint.api, Line(name, card, service, key, endpoint.headers))

    def _dial(self, api: Api, line: Line) -> OpenModel:
        first_byte, stall = self._timeouts
        return dial(api, line._replace(card=self._with_window(line.card)), first_byte, stall, self._ttl)

    def _base(self, vendor: str) -> str:
        flag = self._base_url if self._provider in (None, vendor) else None
        return (flag or self._environ.get(URLS[vendor]) or OFFICIAL[vendor]).rstrip("/")

    def _key(self, names: tuple[str, ...]) -> Key | None:
        for name in names:
            if value := self._environ.get(name, "").strip():
                if not value.isascii() or not value.isprintable() or " " in value:
                    raise ConfigError(f"{name} holds characters that no key has. Copy the key again.")
                return Key(name, value)
        return None

    def _with_card(self, opened: OpenModel) -> OpenModel:
        return OpenModel(
            opened.provider, self._with_window(catalog.with_overrides(opened.card, self._overrides))
        )

    def _with_window(self, card: ModelCard) -> ModelCard:
        return card if self._window is None else msgspec.structs.replace(card, window=self._window)


def _parted(name: str) -> tuple[str, str]:
    """Before and behind the first "/" or ":"."""
    head, _, rest = name.partition("/")
    if ":" in head:
        head, _, rest = name.partition(":")
    return head.lower(), rest


def _api_of(vendor: str, base: str) -> Api:
    """OpenAI itself by Responses; every other address that speaks like OpenAI offers Chat Completions."""
    if vendor == "openai":
        return "responses" if is_openai(base) else "chat"
    return "messages" if vendor == "anthropic" else "gemini"


def _unknown(name: str) -> ConfigError:
    near = catalog.nearest(name)
    hint = f"Did you mean {', '.join(near)}? " if near else ""
    return ConfigError(
        f"'{name}' is no model that is known here. {hint}`agent-cli models` lists them. A model of another server"
        " is named with its endpoint (ollama/MODEL), or with --provider openai --base-url URL."
    )

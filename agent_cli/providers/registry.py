"""Opens models by the names that `--model` takes: which provider, which key, which address, which card."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard, Tier
from agent_cli.ports import OpenModel, Provider
from agent_cli.providers import catalog
from agent_cli.providers.catalog import SNAPSHOT
from agent_cli.providers.dial import Key, Line, api_of, dial
from agent_cli.providers.faults import Service
from agent_cli.providers.vendors import (
    CLOUDS,
    DEFAULTS,
    KEY_TO_SET,
    KEYS,
    LABELS,
    NOT_YET,
    OFFICIAL,
    SPECIAL,
    URLS,
    Api,
    Calling,
    Delegation,
    Endpoint,
    merged,
)

PRICED = catalog.RATES | {"prices"}
"""Fields by which config prices a model, wherever it is served."""


class Recorder(Protocol):
    """Writes down what models are asked and answer."""

    def over(self, provider: Provider, card: ModelCard, /) -> Provider: ...


class LocalModels(Protocol):
    """The embedded models."""

    def open_local(self, name: str | None = None) -> OpenModel: ...

    def installed(self) -> list[str]: ...


class Registry:
    """`environ` is read when a model is opened. `endpoints` are rows of config by provider, known or new.

    `overrides` are fields of cards by model name, `tiers` models by tier where config names them. `recorder`
    writes down what every model is asked and answers.
    """

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
        transport: Literal["http", "sdk"] = "http",
        tiers: Mapping[str, str] | None = None,
        recorder: Recorder | None = None,
        local: LocalModels | None = None,
        delegation: Delegation | None = None,
    ) -> None:
        self._environ = environ
        self._provider = provider
        self._base_url = base_url
        self._aim = provider or ""
        self._rows = dict(endpoints or {})
        self._endpoints = merged(self._rows)
        self._overrides = overrides or {}
        self._window = context_window
        self._script = (script, script_strict)
        self._calling = Calling(first_byte_timeout, stall_timeout, cache_ttl, transport)
        self._tiers = tiers or {}
        self._recorder = recorder
        self._local = local
        self._delegation = delegation or Delegation()
        self._opened: dict[str, OpenModel] = {}

    def aim(self, name: str, /) -> None:
        """Has `base_url` count for the endpoint that this model is of, where no provider says whose address it is.

        It never goes to an endpoint beside it, which would be shown a key of another service.
        """
        head, rest = _parted(name.strip())
        if self._base_url and self._provider is None:
            own = head in self._endpoints or head in CLOUDS or self._is_plugin(head)
            self._aim = head if rest and own else ""

    def open(self, name: str, /) -> OpenModel:
        """Raises ConfigError that names the nearest models, or the variable to set."""
        known = self._opened.get(name)
        if known is None:
            provider, model = self._split(catalog.own_name(name.strip(), self._overrides))
            opened = self._special(provider, model) or self._remote(provider, model)
            known = self._opened[name] = self._recorded(opened)
        return known

    def default_name(self, tier: Tier | None = None) -> str | None:
        """The model for what is there: a key, else an installed local model; None where there is nothing.

        `tier` wants the provider's model of that size. Raises ConfigError where several keys leave it open.
        """
        if tier is not None and (named := self._tiers.get(tier)):
            return named
        if self._provider is not None:
            usual = DEFAULTS.get(self._provider) or (self._provider if self._provider in SPECIAL else None)
            if not (
                self._is_known(self._provider) or self._provider in CLOUDS or self._is_plugin(self._provider)
            ):
                raise self._no_provider(self._provider)
            return self._of_tier(self._provider, tier) if tier else usual
        keyed = {vendor: key for vendor in OFFICIAL if (key := self._key(self._key_names(vendor)))}
        if len(keyed) > 1:
            names = " and ".join(key.env for key in keyed.values())
            raise ConfigError(f"{names} are set: say which one to use, with --model or --provider.")
        if keyed:
            vendor = next(iter(keyed))
            return self._of_tier(vendor, tier) if tier else DEFAULTS[vendor]
        local = self._local_models()
        return "local" if local is not None and local.installed() else None

    def _of_tier(self, provider: str, tier: Tier) -> str:
        name = catalog.tier_model(provider, tier)
        if name is None:
            raise ConfigError(
                f"No {tier} model of {provider} is known. Name one with `agent-cli config set model.tiers.{tier} NAME`, or"
                " with --model; `agent-cli models` lists them with their prices."
            )
        return name

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
        if name.startswith("@"):
            return head, rest
        flag = self._provider
        if (
            flag in self._endpoints or flag in CLOUDS
        ):  # what looks like a vendor there is part of the model's name
            return flag, rest if head == flag else name
        if rest and self._is_known(head):
            return head, rest
        own = self._own_server()
        if rest and flag is None and own is None and self._is_plugin(head):
            return head, rest
        provider = flag or catalog.provider_of(name) or own or (self._base_url and not self._aim and "openai")
        if not provider:
            raise catalog.unknown(name)
        return provider, name

    def _is_known(self, head: str) -> bool:
        return head in DEFAULTS or head in SPECIAL or head in NOT_YET or head in self._endpoints

    def _own_server(self) -> str | None:
        """The vendor whose address was replaced, if it is only one: strange names are meant for that server.

        An address without a provider replaces all of them; `_split` takes it for a service that speaks like OpenAI.
        """
        own = [vendor for vendor in OFFICIAL if self._base(vendor) != OFFICIAL[vendor]]
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
                return self._with_card(OpenModel(played, played.card))
            case "echo":
                from agent_cli.providers import echo

                return self._with_card(OpenModel(echo.Echo(), echo.CARD))
            case "@claude":
                from agent_cli.providers.claude.opening import open_claude

                calling, overrides = self._calling, self._overrides
                return self._with_card(
                    open_claude(model, self._environ, self._delegation, calling, overrides)
                )
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
        if provider in CLOUDS:
            return self._cloud(provider, model)
        if provider in OFFICIAL:
            return self._vendor(provider, model)
        if opened := self._plugin_model(provider, model):
            return opened
        raise self._no_provider(provider)

    def _no_provider(self, provider: str) -> ConfigError:
        known = sorted({*DEFAULTS, *SPECIAL, *self._endpoints})
        near = difflib.get_close_matches(provider, known, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        return ConfigError(f"There is no provider '{provider}'; there are {', '.join(known)}.{hint}")

    def line_of(self, vendor: str, card: ModelCard | None = None) -> tuple[Api, Line]:
        """How the API of a vendor or an endpoint is reached; `card` is the model to ask. Raises ConfigError without a key."""
        if vendor in self._endpoints:
            return self._endpoint_line(
                vendor, self._endpoints[vendor], card or ModelCard(id="", provider=vendor)
            )
        if vendor not in OFFICIAL:
            raise ConfigError(f"{vendor} has no address of its own.")
        base, row = self._base(vendor), self._row(vendor)
        key = self._key(self._key_names(vendor))
        keyless = base != OFFICIAL[vendor] or (vendor == "anthropic" and self._calling.transport == "sdk")
        if key is None and not keyless:  # that client may find a profile
            serves = f", which serves {card.id}" if card else ""
            raise ConfigError(
                f"There is no key for {LABELS[vendor]}{serves}. Set {self._key_to_set(vendor)}, choose another model"
                " with --model, or install one that needs no key: `agent-cli local install`."
            )
        service = Service(LABELS[vendor], base, key.env if key else self._key_to_set(vendor), URLS[vendor])
        line = Line(vendor, card or ModelCard(id="", provider=vendor), service, key, row.headers)
        return row.api or api_of(vendor, base), line

    def _vendor(self, provider: str, model: str) -> OpenModel:
        own = self._base(provider) != OFFICIAL[provider]
        card = self._card_of(model, provider, strangers=own or self._provider == provider)
        return self._dial(*self.line_of(provider, card))

    def _card_of(self, model: str, vendor: str, *, strangers: bool) -> ModelCard:
        """A snapshot keeps its name. `strangers` may be unknown; else raises ConfigError for them."""
        card = catalog.card(model, vendor, self._overrides)
        if card is None:
            if not strangers:
                raise catalog.unknown(model)
            return ModelCard(id=model, provider=vendor)
        return msgspec.structs.replace(card, id=model) if SNAPSHOT.search(model) else card

    def _endpoint(self, name: str, endpoint: Endpoint, model: str) -> OpenModel:
        card = catalog.card(model, None, self._overrides) or ModelCard(id=model, provider=name)
        priced = any(field in PRICED for field in self._overrides.get(model, ()))
        prices = card.prices if name == "openrouter" or priced else ()
        card = msgspec.structs.replace(card, id=model, provider=name, prices=prices)
        return self._dial(*self._endpoint_line(name, endpoint, card))

    def _endpoint_line(self, name: str, endpoint: Endpoint, card: ModelCard) -> tuple[Api, Line]:
        base = self._said_address(name) or endpoint.base_url
        key = self._key((endpoint.key_env,)) if endpoint.key_env else None
        if endpoint.key_env and key is None:
            raise ConfigError(f"There is no key for the endpoint '{name}'. Set {endpoint.key_env}.")
        service = Service(name, base, endpoint.key_env)
        return endpoint.api or "chat", Line(name, card, service, key, endpoint.headers)

    def _cloud(self, provider: str, model: str) -> OpenModel:
        from agent_cli.providers.vertex import open_vertex, place_of

        vendor = CLOUDS[provider]
        theirs = next((cloud for cloud, of in CLOUDS.items() if of == catalog.provider_of(model)), provider)
        if theirs != provider:
            raise ConfigError(
                f"{model} is {theirs}/{model} on Vertex AI; {provider} serves models of {LABELS[vendor]}."
            )
        shared = self._row("vertex")
        row = msgspec.structs.replace(
            self._row(provider),
            project=self._row(provider).project or shared.project,
            location=self._row(provider).location or shared.location,
        )
        place = place_of(provider, row, self._environ, self._said_address(provider))
        card = msgspec.structs.replace(self._card_of(model, vendor, strangers=True), provider=provider)
        return open_vertex(provider, self._with_window(card), place, row, self._calling)

    def _dial(self, api: Api, line: Line) -> OpenModel:
        return dial(api, line._replace(card=self._with_window(line.card)), self._calling)

    # ── third parties ──

    def _is_plugin(self, name: str) -> bool:
        from agent_cli.providers import plugin

        return plugin.find(name) is not None

    def _plugin_model(self, name: str, model: str) -> OpenModel | None:
        from agent_cli.providers import plugin

        entry = plugin.find(name)
        if entry is None:
            return None
        row, calling = self._row(name), self._calling
        settings = plugin.PluginSettings(
            self._said_address(name) or "",
            row.key_env,
            row.headers,
            calling.first_byte_timeout,
            calling.stall_timeout,
        )
        return self._with_card(plugin.open_plugin(entry, self._environ, model, settings))

    # ── addresses and keys ──

    def _row(self, name: str) -> Endpoint:
        return self._rows.get(name) or Endpoint()

    def _base(self, vendor: str) -> str:
        flag = self._said_address(vendor)
        own = self._row(vendor).base_url or self._environ.get(URLS[vendor])
        return (flag or own or OFFICIAL[vendor]).rstrip("/")

    def _said_address(self, name: str) -> str | None:
        """`base_url`, where it is meant for that provider."""
        return self._base_url if self._aim == name or (not self._aim and name in OFFICIAL) else None

    def _key_names(self, vendor: str) -> tuple[str, ...]:
        own = self._row(vendor).key_env
        return (own,) if own else KEYS[vendor]

    def _key_to_set(self, vendor: str) -> str:
        return self._row(vendor).key_env or KEY_TO_SET[vendor]

    def _key(self, names: tuple[str, ...]) -> Key | None:
        for name in names:
            if value := self._environ.get(name, "").strip():
                if not value.isascii() or not value.isprintable() or " " in value:
                    raise ConfigError(f"{name} holds characters that no key has. Copy the key again.")
                return Key(name, value)
        return None

    def _recorded(self, opened: OpenModel) -> OpenModel:
        recorder = self._recorder
        return opened._replace(provider=recorder.over(opened.provider, opened.card)) if recorder else opened

    def _with_card(self, opened: OpenModel) -> OpenModel:
        card = self._with_window(catalog.with_overrides(opened.card, self._overrides))
        return opened._replace(card=card)

    def _with_window(self, card: ModelCard) -> ModelCard:
        return card if self._window is None else msgspec.structs.replace(card, window=self._window)


def _parted(name: str) -> tuple[str, str]:
    """Before and behind the first "/" or ":"."""
    head, _, rest = name.partition("/")
    if ":" in head:
        head, _, rest = name.partition(":")
    return head.lower(), rest

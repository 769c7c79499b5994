"""The models that settings and environment reach, and which one a session begins with."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from agent_cli.compose.delegation import delegation
from agent_cli.compose.options import RunOptions
from agent_cli.compose.task import is_from_task
from agent_cli.config import places
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.kernel.errors import ConfigError, NoModel
from agent_cli.kernel.usage import ModelCard
from agent_cli.providers import catalog, refreshed
from agent_cli.providers.registry import Registry
from agent_cli.providers.vendors import ENDPOINTS, KEYS, Endpoint

NO_MODEL = """no model to talk to: no API key in the environment suggests one, and no local model is installed.
Do one of these:
  - set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY (and OPENAI_BASE_URL for another compatible service)
  - with OPENROUTER_API_KEY, name a model: --model openrouter/VENDOR/MODEL
  - run `agent-cli local install` for a model that runs on this machine, without a key
  - see a recorded demo with `agent-cli --provider scripted`"""

SIGNS = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)
"""In the name of a header that says who one is."""

NO_USUAL_MODEL = """nothing says which model of '{provider}' to use. Name it with --model; if the provider is misspelled,
correct it: `agent-cli models` lists those that are known, and endpoints of your own stand in config under providers."""

LOCAL = "local"


def open_registry(options: RunOptions, settings: Settings, loaded: Loaded | None = None) -> Registry:
    """The models that these settings and this environment reach; `loaded` says where settings come from.

    Raises ConfigError.
    """
    model = settings.model
    recorder = None
    if options.record_to is not None:
        from agent_cli.providers.recorder import Recording

        recorder = Recording(options.record_to, _secrets(options, settings))
    return Registry(
        options.environ,
        provider=model.provider,
        base_url=model.base_url,
        endpoints={
            name: Endpoint(
                row.base_url or "",
                row.api_key_env or "",
                row.api or "",
                row.headers,
                row.project or "",
                row.location or "",
            )
            for name, row in settings.providers.items()
        },
        overrides=overrides(options.environ, settings),
        context_window=model.context_window,
        script=options.script,
        script_strict=options.script_strict,
        first_byte_timeout=model.first_byte_timeout,
        stall_timeout=model.stall_timeout,
        cache_ttl=model.cache_ttl,
        transport=model.transport,
        tiers=model.tiers.given(),
        recorder=recorder,
        delegation=delegation(options, settings, loaded),
    )


def overrides(environ: Mapping[str, str], settings: Settings) -> dict[str, dict[str, Any]]:
    """Fields of cards by model name: as the services listed them, and config's over them."""
    listed: tuple[refreshed.Service, ...] = ()
    with contextlib.suppress(ConfigError):  # `agent-cli models` says what is wrong with that file
        listed = refreshed.read(places.state_dir(environ) / refreshed.FILE)
    rows = {name: row.given() for name, row in settings.models.items()}
    return refreshed.over(listed, rows)


def recorded_card(options: RunOptions, settings: Settings, provider: str, model: str) -> ModelCard:
    """What is known of a recorded session's model today; nothing is opened for it."""
    own = overrides(options.environ, settings)
    found = catalog.card(model, None, own) or ModelCard(id=model, provider=provider)
    if provider == LOCAL:
        from agent_cli.providers.local.profile import WINDOW

        found = msgspec.structs.replace(found, window=WINDOW, tier="small")
    window = settings.model.context_window
    return found if window is None else msgspec.structs.replace(found, window=window)


def model_name(loaded: Loaded, registry: Registry, resumed: str) -> str:
    """What this run names, then what a resumed session used, then config, then what the keys at hand suggest.

    `resumed` is PROVIDER/MODEL, "" for a new session; a provider that was set must be that one. Raises ConfigError.
    An address that was set is that model's from then on.
    """
    name = _model_name(loaded, registry, resumed)
    registry.aim(name)
    return name


def _model_name(loaded: Loaded, registry: Registry, resumed: str) -> str:
    model = loaded.settings.model
    named, sized = loaded.said_now("model.name"), loaded.said_now("model.tier")
    fits = resumed and model.provider in (None, resumed.partition("/")[0])
    if fits and not (named or sized):
        return resumed
    name = None if sized and not named else model.name
    name = name or _usual(loaded, registry)
    if name is None and model.provider:
        raise ConfigError(NO_USUAL_MODEL.format(provider=model.provider))
    if name is None:
        raise NoModel(NO_MODEL)
    return name


def fallbacks(registry: Registry, settings: Settings) -> tuple[str, ...]:
    """The models to go on with. Raises ConfigError for one that could not be: that is better known before it is needed."""
    for name in settings.model.fallback:
        try:
            registry.open(name)
        except ConfigError as problem:
            raise ConfigError(f"model.fallback (--fallback-model) {name}: {problem}") from None
    return settings.model.fallback


def strange(settings: Settings) -> tuple[str, ...]:
    """Notices of models that are asked later, of a vendor whose table does not have them: they may be new, or misspelt."""
    named = [("fallback model", name, "the service of the model is down") for name in settings.model.fallback]
    if settings.agentic.small_model:
        named.append(("small model", settings.agentic.small_model, "a subtask begins"))
    return tuple(
        f"{what} {name}: it is not in the table of models; did you mean {near[0]}? It is first asked when {when}"
        for what, name, when in named
        if catalog.provider_of(name) and not catalog.knows(name) and (near := catalog.nearest(name))
    )


def _usual(loaded: Loaded, registry: Registry) -> str | None:
    """The provider's model of the size that was asked for. A task class only suggests one."""
    tier = loaded.settings.model.tier
    if is_from_task(loaded, "model.tier"):
        with contextlib.suppress(ConfigError):
            return registry.default_name(tier)
        tier = None
    return registry.default_name(tier)


def key_names(settings: Settings) -> list[str]:
    """Variables that hold keys of services, whether they are set or not."""
    names = [name for several in KEYS.values() for name in several]
    names += [row.key_env for row in ENDPOINTS.values()]
    names += [row.api_key_env or "" for row in settings.providers.values()]
    return [name for name in names if name]


def _secrets(options: RunOptions, settings: Settings) -> list[str]:
    """Values that must not get into a recording: every key that is set."""
    rows = settings.providers.values()
    values = [options.environ.get(name, "").strip() for name in key_names(settings)]
    signed = [value for row in rows for name, value in row.headers.items() if SIGNS.search(name)]
    return [*values, *(word for value in signed for word in value.split())]

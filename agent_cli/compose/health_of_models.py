"""Whether there is a model to talk to: keys, and services that answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from agent_cli.compose.models import model_name, open_registry
from agent_cli.compose.options import RunOptions
from agent_cli.config.sources import Loaded
from agent_cli.kernel.errors import AgentError, ConfigError, NoModel
from agent_cli.providers.registry import Registry
from agent_cli.providers.vendors import ENDPOINTS, KEYS, LABELS, OFFICIAL
from agent_cli.talk.health import Condition

SECONDS = 8.0
"""For a service to answer."""
TO_DO = "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or run `agent-cli local install`."


def of_models(options: RunOptions, loaded: Loaded) -> Iterator[Condition]:
    rows = [row.key_env for row in ENDPOINTS.values()]
    rows += [row.api_key_env or "" for row in loaded.settings.providers.values()]
    names = {name for several in KEYS.values() for name in several} | {name for name in rows if name}
    held = sorted(name for name in names if options.environ.get(name, "").strip())
    if held:
        yield Condition("keys", "ok", f"set: {', '.join(held)}")
    else:
        yield Condition(
            "keys", "note", "none is set", "A key is needed for models of Anthropic, OpenAI and Gemini."
        )
    yield _local()
    try:
        registry = open_registry(options, loaded.settings, loaded)
        name = model_name(loaded, registry, "")
        card = registry.open(name).card
    except ConfigError as problem:
        first = str(problem).partition("\n")[0] if isinstance(problem, NoModel) else str(problem)
        remedy = (
            TO_DO
            if isinstance(problem, NoModel)
            else "Name another one with --model, or in config: model.name."
        )
        yield Condition("model", "wrong", first, remedy)
        return
    yield Condition("model", "ok", f"{card.id} of {card.provider}")
    keyed = [vendor for vendor in OFFICIAL if any(key in held for key in KEYS[vendor])]
    yield from asyncio.run(_services(registry, card.provider, keyed))


def _local() -> Condition:
    from agent_cli.providers.local.provider import installed
    from agent_cli.providers.local.server import find_binary

    found = installed()
    if not found:
        return Condition(
            "local model", "note", "none is installed", "`agent-cli local install`, to work without a key."
        )
    try:
        find_binary()
    except ConfigError as problem:
        return Condition("local model", "note", f"{', '.join(found)}, and nothing to run it", str(problem))
    return Condition("local model", "ok", ", ".join(found))


async def _services(registry: Registry, needed: str, keyed: list[str]) -> list[Condition]:
    """All at the same time; the service of the model in force has to answer, the others had better."""
    names = dict.fromkeys((needed, *keyed))
    return [
        said for said in await asyncio.gather(*(_service(registry, name, needed) for name in names)) if said
    ]


async def _service(registry: Registry, name: str, needed: str) -> Condition | None:
    from agent_cli.providers.lists import reached

    what = f"service {LABELS.get(name, name)}"
    try:
        api, line = registry.line_of(name)
    except ConfigError:
        return None  # no service of its own: local, scripted, a cloud, a program
    try:
        await reached(api, line, SECONDS)
    except AgentError as problem:
        status = "wrong" if name == needed else "note"
        return Condition(
            what, status, str(problem), f"Look at the key, the address ({line.base}) and the network."
        )
    return Condition(what, "ok", f"{line.base} answers" + (", and takes the key" if line.key else ""))

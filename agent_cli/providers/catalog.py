"""The table of models: windows, limits, tiers, abilities and prices. Loaded with the first question.

`models.json` is built by `maintenance/build_catalog.py`. Names are compared normalised: lower case, "." as
"-", without a vendor's prefix and the date of a snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard, Price, Tier
from agent_cli.kernel.values import Plain

FAMILIES = (
    ("claude-opus", "anthropic"),
    ("claude-sonnet", "anthropic"),
    ("claude-haiku", "anthropic"),
    ("claude-fable", "anthropic"),
    ("claude-mythos", "anthropic"),
    ("gpt-6", "openai"),
    ("gpt-5", "openai"),
    ("gpt-4-1", "openai"),
    ("gpt-4o", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini-4", "gemini"),
    ("gemini-3", "gemini"),
    ("gemini-2-5", "gemini"),
)
"""Beginnings of names; an unknown one of a family is taken to have the smallest window there is in it."""

TIER_RULES: tuple[tuple[str, Tier], ...] = (
    ("gemini-3-5-flash-lite", "small"),
    ("gemini-3-1-flash", "small"),
    ("gemini-2-5-flash", "small"),
    ("claude-haiku-", "small"),
    ("gemini-3-8-flash", "frontier"),
    ("gemini-3-7-flash", "frontier"),
    ("gemini-3-6-flash", "frontier"),
    ("claude-opus-", "frontier"),
    ("gemini-3-5-flash", "mid"),
    ("gemini-2-5-pro", "mid"),
    ("claude-sonnet-", "mid"),
)
GEMINI_PRO = re.compile(r"gemini-3(-\d+)?-pro")

TIER_MODELS: dict[str, dict[Tier, str]] = {
    "anthropic": {"frontier": "claude-opus-5", "mid": "claude-sonnet-5", "small": "claude-haiku-4-5"},
    "gemini": {
        "frontier": "gemini-3.7-flash",
        "mid": "gemini-3.5-flash",
        "small": "gemini-3.5-flash-lite",
    },
}
TIER_MODELS["vertex"] = TIER_MODELS["gemini"]
TIER_MODELS["anthropic-vertex"] = TIER_MODELS["anthropic"]
TIER_MODELS["@claude"] = TIER_MODELS["anthropic"]

SNAPSHOT = re.compile(r"[-@](\d{8}|\d{4}-\d{2}-\d{2})$")
VENDOR = re.compile(r"^.*?(?=(?:claude|gpt|gemini|chatgpt)-|o\d(?:$|-))")
VERSION_OF_CLOUD = re.compile(r"-v\d+(:\d+)?$")
NAMED = 3


class Source(Plain, frozen=True):
    """Where the table comes from, and the day (ISO date) on which it was built."""

    text: str
    date: str


class Table(Plain, frozen=True):
    source: Source
    models: tuple[ModelCard, ...]


def source() -> Source:
    return _table().source


def cards(provider: str) -> list[ModelCard]:
    """Every model of a provider, in the order of the table; "" for all."""
    return [card for card in _table().models if provider in ("", card.provider)]


def card(
    name: str, provider: str | None = None, overrides: Mapping[str, Mapping[str, Any]] | None = None
) -> ModelCard | None:
    """What is known of a model, or of its family; None for a stranger.

    `overrides` hold fields of a card by model name, and may name models that the table does not have.
    Raises ConfigError for a field that no card has, or a value that does not fit.
    """
    wanted = normalised(name)
    found = _index().get(wanted) or _sibling(name, wanted)
    if found is not None and provider is not None and found.provider != provider:
        found = None
    if found is None and any(normalised(key) == wanted for key in overrides or {}):
        found = ModelCard(id=name, provider=provider or "")
    return found and with_overrides(found, overrides or {})


def with_overrides(found: ModelCard, overrides: Mapping[str, Mapping[str, Any]]) -> ModelCard:
    """The card with the fields that config gives under its name. Raises ConfigError naming the field."""
    for key, fields in overrides.items():
        if normalised(key) == normalised(found.id):
            found = _replaced(found, key, fields)
    return found


def own_name(name: str, overrides: Mapping[str, Mapping[str, Any]]) -> str:
    """The model that config gives this alias to; else the name as it is. What stands before a slash stays."""
    head, slash, alias = name.rpartition("/")
    for key, fields in overrides.items():
        if any(alias.lower() == str(one).lower() for one in fields.get("aliases", ())):
            return key if "/" in key else f"{head}{slash}{key}"
    return name


def knows(name: str) -> bool:
    """Whether the table has this very model, and not only its family."""
    return normalised(name) in _index()


def nearest(name: str) -> list[str]:
    """The names most like it, best first."""
    import difflib

    known = {key: card.id for key, card in _index().items()}
    close = difflib.get_close_matches(normalised(name), known, n=2 * NAMED, cutoff=0.5)
    return list(dict.fromkeys(known[key] for key in close))[:NAMED]


def unknown(name: str) -> ConfigError:
    """What to say of a name that nothing explains."""
    near = nearest(name)
    hint = f"Did you mean {', '.join(near)}? " if near else ""
    return ConfigError(
        f"'{name}' is no model that is known here. {hint}`agent-cli models` lists them. A model of another server"
        " is named with its endpoint (ollama/MODEL), or with --base-url URL."
    )


def tier_model(provider: str, tier: Tier) -> str | None:
    """The model that a provider has for a tier; None where config has to name it."""
    return TIER_MODELS.get(provider, {}).get(tier)


def tier_of(name: str) -> Tier | None:
    """By name, the most specific rule first."""
    plain = normalised(name)
    if GEMINI_PRO.search(plain):
        return "frontier"
    return next((tier for part, tier in TIER_RULES if part in plain), None)


def provider_of(name: str) -> str | None:
    """Whose model this is, by its name alone: "anthropic", "openai" or "gemini"."""
    plain = normalised(name)
    if plain.startswith("claude"):
        return "anthropic"
    if plain.startswith(("gpt", "chatgpt")) or re.match(r"o\d", plain):
        return "openai"
    return "gemini" if plain.startswith("gemini") else None


def served_name(served: str, asked: ModelCard) -> str:
    """The id of the model that served a request: the asked one also where its snapshot or alias is named."""
    if not served or served == asked.id:
        return asked.id
    plain = normalised(served)
    names = {normalised(name) for name in (asked.id, *asked.aliases)}
    return asked.id if plain in names else served


def normalised(name: str) -> str:
    """As names are compared."""
    plain = name.strip().lower().rpartition("/")[2].replace(".", "-")
    plain = VERSION_OF_CLOUD.sub("", VENDOR.sub("", plain, count=1))
    return SNAPSHOT.sub("", plain).removesuffix("-latest")


@cache
def _table() -> Table:
    data = Path(__file__).with_name("models.json").read_bytes()
    return msgspec.json.decode(data, type=Table)


@cache
def _index() -> dict[str, ModelCard]:
    index: dict[str, ModelCard] = {}
    for known in _table().models:
        for name in (known.id, *known.aliases):
            index.setdefault(normalised(name), known)
    return index


def _sibling(name: str, wanted: str) -> ModelCard | None:
    """A card for an unknown model of a known family: able to what the first of the family is, at no known price."""
    family = next((begin for begin, _ in FAMILIES if wanted.startswith(begin)), None)
    if family is None or not re.match(r"(-|$)", wanted[len(family) :]):
        return None
    members = [known for known in _table().models if normalised(known.id).startswith(family)]
    return msgspec.structs.replace(
        members[0],
        id=name,
        window=_least([member.window for member in members]),
        max_output=_least([member.max_output for member in members]),
        tier=tier_of(name),
        prices=(),
        aliases=(),
    )


def _least(values: Sequence[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)


RATES = frozenset(("input", "output", "cache_read", "cache_write", "cache_write_1h"))
"""Fields that config gives flat: one price, at any time and for any prompt."""


def _rated(card: ModelCard, key: str, rates: dict[str, Any]) -> Price:
    """The operator's price over the first of the table; one that is not known whole is no price."""
    known: dict[str, Any] = msgspec.to_builtins(card.prices[0]) if card.prices else {}
    price = {**known, "start": "", "over": 0, **rates}
    if "input" not in price or "output" not in price:
        raise ConfigError(f"models.{key}: a price needs both input and output, in USD per million tokens.")
    return msgspec.convert(price, Price)


def _replaced(card: ModelCard, key: str, fields: Mapping[str, Any]) -> ModelCard:
    known = (set(ModelCard.__struct_fields__) | RATES) - {"id", "provider"}
    if strange := [name for name in fields if name not in known]:
        raise ConfigError(
            f"models.{key}: there is no field '{strange[0]}'; the fields are {', '.join(sorted(known))}."
        )
    try:
        whole = {name: value for name, value in fields.items() if name not in RATES}
        rates = {name: value for name, value in fields.items() if name in RATES}
        if rates:
            whole["prices"] = (_rated(card, key, rates),)
        return msgspec.convert({**msgspec.to_builtins(card), **msgspec.to_builtins(whole)}, ModelCard)
    except msgspec.ValidationError as problem:
        raise ConfigError(f"models.{key}: {problem}.") from None

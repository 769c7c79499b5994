"""`agent-cli models`: the catalog, with where it comes from."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.cli.values import UsageError, nearest
from agent_cli.config import places
from agent_cli.kernel.errors import AgentError, ConfigError
from agent_cli.kernel.usage import ModelCard, price_at
from agent_cli.providers import catalog, refreshed
from agent_cli.providers.claude import names as delegated
from agent_cli.providers.lists import listed
from agent_cli.providers.vendors import KEY_TO_SET, LABELS, OFFICIAL

app = typer.Typer(
    name="models",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

HEAD = ("model", "provider", "tier", "window", "output", "$ in", "$ out", "$ cached", "aliases")
RIGHT = frozenset({3, 4, 5, 6, 7})
UNKNOWN = "?"


@app.callback()
def models(
    ctx: typer.Context,
    provider: Annotated[str, typer.Option(help="Only those of one provider.", metavar="NAME")] = "",
    as_object: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """List the models that are known: window and longest answer in tokens, USD per million tokens.

    What services said of their own models (`agent-cli models refresh`) stands over the table, and fields in your
    config (models.NAME.FIELD) over both.
    """
    if ctx.invoked_subcommand is not None:
        return
    services = refreshed.read(_file(ctx))
    cards, source = _known(ctx, services, provider), catalog.source()
    program = _program(ctx)
    if as_object:
        asked = [{"provider": one.provider, "date": one.date, "url": one.url} for one in services]
        whole = {
            "source": source.text,
            "date": source.date,
            "refreshed": asked,
            "models": [*map(_whole, cards)],
            "delegated": [{"name": name, "program": program} for name in delegated.names()],
        }
        typer.echo(as_json(whole))
        return
    today = time.strftime("%Y-%m-%d")
    typer.echo(table(HEAD, [_row(card, today) for card in cards], RIGHT))
    typer.echo(f"\n$: USD per million tokens today, for the shortest prompts; {UNKNOWN}: unknown.")
    typer.echo(f"Table of {source.date}; {source.text}")
    where = program or "not installed: npm install -g @anthropic-ai/claude-code"
    typer.echo(f"Through Claude Code ({where}): {', '.join(delegated.names())}")
    for one in services:
        typer.echo(f"Refreshed {one.date}: windows and longest answers of {one.provider}, by {one.url}")


@app.command()
def refresh(ctx: typer.Context) -> None:
    """Ask Anthropic, OpenAI and Gemini for their models, where a key is set. Their figures replace the table's."""
    from agent_cli.compose import open_registry

    registry = open_registry(options_of(ctx), loaded(ctx).settings)
    asked: list[refreshed.Service] = []
    failed: list[str] = []
    for vendor in OFFICIAL:
        try:
            api, line = registry.line_of(vendor)
        except ConfigError:
            typer.echo(f"{LABELS[vendor]}: not asked, there is no key ({KEY_TO_SET[vendor]})")
            continue
        try:
            models = asyncio.run(listed(api, line))
        except AgentError as problem:
            failed.append(vendor)
            typer.echo(f"{LABELS[vendor]}: {problem}", err=True)
            continue
        fresh = sum(not catalog.knows(model.id) for model in models)
        typer.echo(f"{LABELS[vendor]}: {len(models)} models, {fresh} of them new to the table")
        asked.append(refreshed.Service(vendor, time.strftime("%Y-%m-%d"), line.base, models))
    if not asked and not failed:
        raise ConfigError("No service was asked. Set a key: " + ", ".join(KEY_TO_SET.values()) + ".")
    if asked:
        refreshed.write(_file(ctx), tuple(asked))
    if failed:
        raise typer.Exit(1)


def _file(ctx: typer.Context) -> Path:
    return places.state_dir(options_of(ctx).environ) / refreshed.FILE


def _program(ctx: typer.Context) -> str | None:
    """Where Claude Code is; None where it is not installed."""
    try:
        return delegated.find(loaded(ctx).settings.claude.command, options_of(ctx).environ)
    except ConfigError:
        return None


def _known(ctx: typer.Context, services: tuple[refreshed.Service, ...], provider: str) -> list[ModelCard]:
    rows = loaded(ctx).settings.models
    overrides = refreshed.over(services, {name: row.given() for name, row in rows.items()})
    cards = {card.id: card for card in catalog.cards("")}
    of = {model.id: service.provider for service in services for model in service.models}
    for name in (*cards, *of, *overrides):
        found = catalog.card(name, of.get(name), overrides=overrides)
        if found is not None:
            cards[found.id] = found
    providers = tuple(dict.fromkeys(card.provider for card in cards.values()))
    if provider and provider not in providers:
        known, hint = ", ".join(filter(None, providers)), nearest(provider, providers)
        raise UsageError(f"The table has no model of '{provider}'; it has models of {known}.{hint}")
    return [card for card in cards.values() if provider in ("", card.provider)]


def _row(card: ModelCard, day: str) -> tuple[str, ...]:
    price = price_at(card.prices, day, 0)
    rates = (price.input, price.output, price.cache_read) if price else (None, None, None)
    return (
        card.id,
        card.provider,
        card.tier or "",
        *(UNKNOWN if tokens is None else f"{tokens:,}" for tokens in (card.window, card.max_output)),
        *("0" if card.free else UNKNOWN if rate is None else f"{rate:g}" for rate in rates),
        ", ".join(card.aliases),
    )


def _whole(card: ModelCard) -> dict[str, Any]:
    """Every field, also those that hold their default."""
    return {
        name: msgspec.to_builtins(getattr(card, name), builtin_types=()) for name in card.__struct_fields__
    }

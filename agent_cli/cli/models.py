"""`agent-cli models`: the catalog, with where it comes from."""

from __future__ import annotations

import time
from typing import Annotated, Any

import msgspec
import typer

from agent_cli.cli.command import as_json, loaded, table
from agent_cli.cli.values import UsageError, nearest
from agent_cli.kernel.usage import ModelCard, price_at
from agent_cli.providers import catalog

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

    Fields in your config (models.NAME.FIELD) replace those of the table.
    """
    cards, source = _known(ctx, provider), catalog.source()
    if as_object:
        typer.echo(as_json({"source": source.text, "date": source.date, "models": [*map(_whole, cards)]}))
        return
    today = time.strftime("%Y-%m-%d")
    typer.echo(table(HEAD, [_row(card, today) for card in cards], RIGHT))
    typer.echo(f"\n$: USD per million tokens today, for the shortest prompts; {UNKNOWN}: unknown.")
    typer.echo(f"Table of {source.date}; {source.text}")


def _known(ctx: typer.Context, provider: str) -> list[ModelCard]:
    rows = loaded(ctx).settings.models
    overrides = {name: row.model_dump(exclude_none=True) for name, row in rows.items()}
    cards = {card.id: card for card in catalog.cards("")}
    for name in (*cards, *overrides):
        found = catalog.card(name, overrides=overrides)
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

"""Builds agent_cli/providers/models.json: prices from genai-prices, limits and abilities from limits.toml.

uv run --group maintain python -m maintenance.build_catalog
"""

from __future__ import annotations

import json
import sys
import tomllib
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import genai_prices.types as gp
import msgspec
from genai_prices.data import providers

from agent_cli.kernel.usage import ModelCard, Price
from agent_cli.providers.catalog import Source, Table, tier_of

HERE = Path(__file__).parent
TARGET = HERE.parent / "agent_cli" / "providers" / "models.json"
THEIR_NAMES = {"gemini": "google"}
COLUMNS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
}


def main() -> None:
    limits = tomllib.loads((HERE / "limits.toml").read_text(encoding="utf-8"))
    today = datetime.now(UTC).date()
    models = [
        _card(model_id, {**limits["defaults"].get(entry["provider"], {}), **entry}, today)
        for entry in limits["models"]
        for model_id in entry["ids"]
    ]
    told = f"prices: genai-prices {version('genai-prices')} (MIT); {limits['sources']} (checked {limits['checked']})"
    TARGET.write_text(_json(Table(Source(told, today.isoformat()), tuple(models))), encoding="utf-8")
    unpriced = [card.id for card in models if not card.prices]
    sys.stdout.write(f"{len(models)} models, {TARGET.stat().st_size} bytes; unpriced: {unpriced or 'none'}\n")


def _card(model_id: str, entry: dict[str, Any], today: date) -> ModelCard:
    return ModelCard(
        id=model_id,
        provider=entry["provider"],
        window=entry.get("window"),
        max_output=entry.get("output") or None,
        tier=tier_of(model_id),
        prices=_prices(entry["provider"], model_id, today),
        aliases=tuple(entry.get("aliases", ())),
        cache_minimum=entry.get("cache", 0),
        thinking=entry.get("thinking", ""),
        efforts=tuple(entry.get("efforts", ())),
        sampling=entry["sampling"],
        images=entry["images"],
        documents=entry["documents"],
    )


def _prices(provider: str, model_id: str, today: date) -> tuple[Price, ...]:
    """The price in force today, without a start, and those to come."""
    theirs = next(one for one in providers if one.id == THEIR_NAMES.get(provider, provider))
    model = next(one for one in theirs.models if one.id == model_id)
    dated: dict[date, gp.ModelPrice] = {}
    listed = model.prices if isinstance(model.prices, list) else [gp.ConditionalPrice(prices=model.prices)]
    for one in listed:
        if one.constraint is None:
            dated[date.min] = one.prices
        elif isinstance(one.constraint, gp.StartDateConstraint):
            dated[one.constraint.start_date] = one.prices
        else:
            raise SystemExit(f"{model_id}: a price by the time of day, which no card can hold")
    in_force = max(start for start in dated if start <= today)
    rows: list[Price] = []
    for start in sorted(start for start in dated if start >= in_force):
        rows += _rows(dated[start], "" if start == in_force else start.isoformat())
    return tuple(rows)


def _rows(price: gp.ModelPrice, start: str) -> list[Price]:
    """One row for each size of prompt that has a price of its own."""
    columns = {ours: getattr(price, theirs) for ours, theirs in COLUMNS.items()}
    sizes = {
        tier.start
        for column in columns.values()
        if isinstance(column, gp.TieredPrices)
        for tier in column.tiers
    }
    return [
        msgspec.convert(
            {**{ours: _at(column, over) for ours, column in columns.items()}, "start": start, "over": over},
            Price,
        )
        for over in sorted({0, *sizes})
    ]


def _at(column: Any, over: int) -> float | None:
    if not isinstance(column, gp.TieredPrices):
        return None if column is None else float(column)
    fitting = [tier.price for tier in column.tiers if tier.start <= over]
    return float(fitting[-1] if fitting and over else column.base)


def _json(table: Table) -> str:
    """One line a model, so that a change is a line of a diff."""
    plain = msgspec.to_builtins(table)
    models = ",\n".join(json.dumps(model, separators=(",", ":")) for model in plain["models"])
    return f'{{"source":{json.dumps(plain["source"])},\n"models":[\n{models}\n]}}\n'


if __name__ == "__main__":
    main()

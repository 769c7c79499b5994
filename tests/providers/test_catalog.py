from __future__ import annotations

import time
from datetime import date

import pytest

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard, Usage, cost_of, price_at
from agent_cli.providers import catalog
from tests.fakes.pace import slowness

TODAY = "2026-11-30"
MILLION = 1_000_000

TABLE = [
    # id, window, max output, input, cache read, write 5m, write 1h, output
    ("claude-opus-5", 1_000_000, 128_000, 5, 0.50, 6.25, 10, 25),
    ("claude-sonnet-5", 1_000_000, 128_000, 2, 0.20, 2.50, 4, 10),
    ("claude-haiku-4-5", 200_000, 64_000, 1, 0.10, 1.25, 2, 5),
    ("claude-opus-5-5", 1_000_000, 128_000, 4, 0.20, 5, 8, 20),
    ("claude-sonnet-5-5", 1_000_000, 128_000, 2, 0.10, 2.50, 4, 10),
    ("claude-haiku-5-5", 1_000_000, 128_000, 0.10, 0.01, 0.125, 0.20, 0.50),
    ("claude-fable-5-2", 1_000_000, 128_000, 8, 0.20, 10, 16, 40),
    ("gemini-3.7-flash", 1_048_576, 65_536, 0.75, 0.075, None, None, 3.75),
    ("gemini-3.5-flash", 1_048_576, 65_536, 1.50, 0.15, None, None, 9),
    ("gemini-3.5-flash-lite", 1_048_576, 65_536, 0.30, 0.03, None, None, 2.50),
    ("gemini-3.8-flash", 1_048_576, 65_536, 0.75, 0.075, None, None, 3.75),
    ("gemini-3.6-flash", 1_048_576, 65_536, 0.75, 0.075, None, None, 3.75),
    ("gemini-3.1-pro-preview", 1_048_576, 65_536, 2, 0.20, None, None, 12),
    ("gemini-4-argon", 1_048_576, None, 2, 0.10, None, None, 10),
    ("gpt-5", 400_000, 128_000, 1.25, 0.125, None, None, 10),
    ("gpt-5.1", 400_000, 128_000, 1.25, 0.125, None, None, 10),
    ("gpt-5-mini", 400_000, 128_000, 0.25, 0.025, None, None, 2),
    ("gpt-5-nano", 400_000, 128_000, 0.05, 0.005, None, None, 0.40),
    ("gpt-5.2", 400_000, 128_000, 1.75, 0.175, None, None, 14),
    ("gpt-5.3-codex", 400_000, 128_000, 1.75, 0.175, None, None, 14),
    ("gpt-5.4", 1_050_000, 128_000, 2.50, 0.25, None, None, 15),
    ("gpt-5.4-mini", 400_000, 128_000, 0.75, 0.075, None, None, 4.50),
    ("gpt-5.4-nano", 400_000, 128_000, 0.20, 0.02, None, None, 1.25),
    ("gpt-5.5", 1_000_000, 128_000, 5, 0.50, None, None, 30),
    ("gpt-5.6-sol", 1_050_000, 128_000, 4, 0.40, 5, None, 20),
    ("gpt-5.6-terra", 1_050_000, 128_000, 2, 0.20, 2.50, None, 12),
    ("gpt-5.6-luna", 1_050_000, 128_000, 0.20, 0.02, 0.25, None, 1.20),
    ("gpt-6-sol", 1_050_000, 128_000, 2, 0.20, 2.50, None, 10),
    ("gpt-6.1-sol", 1_050_000, 128_000, 2, 0.10, 2.50, None, 10),
    ("gpt-4.1", 1_047_576, 32_768, 2, 0.50, None, None, 8),
]


def known(name: str):
    found = catalog.card(name)
    assert found is not None, name
    return found


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_windows_limits_and_prices_of_today(row: tuple[object, ...]):
    card = known(str(row[0]))
    price = price_at(card.prices, TODAY, 1_000)
    assert price is not None
    assert (card.id, card.window, card.max_output) == row[:3]
    assert (price.input, price.cache_read, price.cache_write, price.cache_write_1h, price.output) == row[3:]


@pytest.mark.parametrize(
    ("name", "day", "prompt", "row"),
    [
        ("gemini-3.7-flash", "2026-12-31", 1, (0.75, 0.075, 3.75)),
        ("gemini-3.7-flash", "2027-01-01", 1, (1.50, 0.15, 7.50)),
        ("gemini-3.8-flash", "2027-06-01", 1, (1.50, 0.15, 7.50)),
        ("gemini-3.6-flash", "2027-01-01", 1, (1.50, 0.15, 7.50)),
        ("gemini-4-argon", "2026-12-01", 1, (4, 0.20, 20)),
        ("claude-haiku-5-5", TODAY, 100_000, (0.10, 0.01, 0.50)),
        ("claude-haiku-5-5", TODAY, 100_001, (0.50, 0.05, 2.50)),
        ("gpt-5.4", TODAY, 272_000, (2.50, 0.25, 15)),
        ("gpt-5.4", TODAY, 272_001, (5, 0.50, 22.50)),
        ("gpt-5.5", TODAY, 300_000, (10, 1, 45)),
        ("gpt-5.6-sol", TODAY, 300_000, (8, 0.80, 30)),
        ("gpt-6-sol", TODAY, 300_000, (4, 0.40, 15)),
        ("gemini-3.1-pro-preview", TODAY, 200_001, (4, 0.40, 18)),
    ],
)
def test_prices_by_day_and_by_size(name: str, day: str, prompt: int, row: tuple[float, float, float]):
    price = price_at(known(name).prices, day, prompt)
    assert price is not None
    assert (price.input, price.cache_read, price.output) == row


def test_a_request_is_priced_in_whole():
    usage = Usage(
        input=100_000, cache_read=100_000, cache_write=100_000, output=10_000, cache_write_1h=40_000
    )
    wanted = (0.1 * 5 + 0.1 * 0.5 + 0.06 * 6.25 + 0.04 * 10 + 0.01 * 25) * 1
    assert cost_of(usage, known("claude-opus-5"), TODAY) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("Claude-Haiku-4.5", "claude-haiku-4-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("anthropic/claude-sonnet-5", "claude-sonnet-5"),
        ("us.anthropic.claude-opus-5-v1:0", "claude-opus-5"),
        ("gpt-5-2", "gpt-5.2"),
        ("gpt-5.2-2025-12-11", "gpt-5.2"),
        ("gpt-5.1-codex", "gpt-5.1"),
        ("GEMINI-3.7-flash", "gemini-3.7-flash"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-0"),
    ],
)
def test_names_are_read_as_people_write_them(name: str, model: str):
    assert known(name).id == model
    assert catalog.knows(name)


@pytest.mark.parametrize(
    ("name", "window", "tier"),
    [
        ("claude-opus-9", 200_000, "frontier"),
        ("claude-sonnet-6", 200_000, "mid"),
        ("claude-haiku-6-1", 200_000, "small"),
        ("gpt-5.9-zeta", 400_000, None),
        ("gemini-3.9-pro", 1_048_576, "frontier"),
    ],
)
def test_an_unknown_sibling_has_the_smallest_window_and_no_price(name: str, window: int, tier: str | None):
    card = known(name)
    assert (card.id, card.window, card.tier, card.prices) == (name, window, tier, ())
    assert cost_of(Usage(input=1), card, TODAY) is None
    assert not catalog.knows(name)


@pytest.mark.parametrize("name", ["qwen3:8b", "gpt5", "claude-opsu-5", "o9", "", "claude", "gpt-50"])
def test_strangers_are_strangers(name: str):
    assert catalog.card(name) is None


def test_a_model_of_another_provider_is_a_stranger():
    assert catalog.card("claude-opus-5", "openai") is None
    assert catalog.card("claude-opus-5", "anthropic") is not None


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("claude-opus-4-5", "frontier"),
        ("claude-sonnet-5-5", "mid"),
        ("claude-haiku-5-5", "small"),
        ("claude-fable-5-2", None),
        ("gemini-3.1-pro-preview", "frontier"),
        ("gemini-3-pro", "frontier"),
        ("gemini-3.8-flash", "frontier"),
        ("gemini-3.7-flash", "frontier"),
        ("gemini-3.6-flash", "frontier"),
        ("gemini-3.5-flash", "mid"),
        ("gemini-3.5-flash-lite", "small"),
        ("gemini-3.1-flash-lite", "small"),
        ("gemini-2.5-flash", "small"),
        ("gemini-2.5-pro", "mid"),
        ("gpt-5.2", None),
    ],
)
def test_tiers_by_name(name: str, tier: str | None):
    assert catalog.tier_of(name) == tier
    found = catalog.card(name)
    assert found is None or found.tier == tier


def test_the_model_of_each_tier():
    assert [catalog.tier_model("anthropic", tier) for tier in ("frontier", "mid", "small")] == [
        "claude-opus-5",
        "claude-sonnet-5",
        "claude-haiku-4-5",
    ]
    for provider in ("gemini", "vertex"):
        assert catalog.tier_model(provider, "small") == "gemini-3.5-flash-lite"
    assert catalog.tier_model("openai", "frontier") is None
    assert all(catalog.card(name) for tiers in catalog.TIER_MODELS.values() for name in tiers.values())


def test_nearest_names():
    assert catalog.nearest("claude-opsu-5")[0] == "claude-opus-5"
    assert "gpt-5" in catalog.nearest("gpt5")
    assert catalog.nearest("qqqqqqqq") == []


def test_config_overrides_any_field_and_names_strangers():
    overrides = {
        "Claude-Opus-5": {"window": 5_000, "prices": [{"input": 1, "output": 2}]},
        "qwen3:8b": {"window": 32_000, "images": True},
    }
    card = catalog.card("claude-opus-5", overrides=overrides)
    assert card is not None
    assert (card.window, card.max_output) == (5_000, 128_000)
    assert cost_of(Usage(input=MILLION), card, TODAY) == 1
    stranger = catalog.card("qwen3:8b", "openai", overrides)
    assert stranger is not None
    assert (stranger.id, stranger.provider, stranger.window, stranger.images) == (
        "qwen3:8b",
        "openai",
        32_000,
        True,
    )
    with pytest.raises(ConfigError, match=r"models\.claude-opus-5: there is no field 'widow'"):
        catalog.card("claude-opus-5", overrides={"claude-opus-5": {"widow": 1}})
    with pytest.raises(ConfigError, match=r"models\.claude-opus-5: Expected"):
        catalog.card("claude-opus-5", overrides={"claude-opus-5": {"window": "large"}})


def test_the_table_says_where_it_comes_from():
    source = catalog.source()
    assert "genai-prices" in source.text
    assert date.fromisoformat(source.date) <= date.fromisoformat("2099-01-01")
    assert len(catalog.cards("")) == len({card.id for card in catalog.cards("")}) > 50
    assert {card.provider for card in catalog.cards("")} == {"anthropic", "openai", "gemini"}
    assert all(card.window for card in catalog.cards(""))


def test_the_table_agrees_with_the_source_where_that_is_installed():
    pytest.importorskip("genai_prices")
    from maintenance import build_catalog

    for card in catalog.cards(""):
        day = date.fromisoformat(catalog.source().date)
        assert build_catalog._prices(card.provider, card.id, day) == card.prices, card.id


def test_loading_is_quick():
    catalog._table.cache_clear()
    catalog._index.cache_clear()
    begun = time.process_time()
    catalog.card("claude-opus-5")
    assert time.process_time() - begun < 0.05 * slowness(), (
        "it takes 1 ms; fifty are another thing altogether"
    )


def test_a_price_of_the_operator_replaces_the_tables():
    found = catalog.card(
        "claude-opus-5", overrides={"claude-opus-5": {"input": 1.0, "output": 2.0, "window": 9_000}}
    )
    assert found is not None
    assert [(row.input, row.output, row.start, row.over) for row in found.prices] == [(1.0, 2.0, "", 0)]
    assert found.window == 9_000


def test_half_a_price_is_refused():
    with pytest.raises(ConfigError, match="both input and output"):
        catalog.with_overrides(ModelCard("mine", "own"), {"mine": {"input": 1.0}})

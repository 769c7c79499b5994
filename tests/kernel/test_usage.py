"""Money: dated rows, tiers by prompt size, and no price is never zero."""

from __future__ import annotations

import pytest

from agent_cli.kernel.usage import ModelCard, Price, Usage, cost_of, price_at, saved_of

ROWS = (
    Price(1.0, 5.0, 0.1, 1.25, 2.0),
    Price(2.0, 7.0, 0.2, 2.5, 4.0, over=200_000),
    Price(3.0, 9.0, start="2027-01-01"),
)


@pytest.mark.parametrize(
    ("day", "prompt", "price"),
    [
        ("2026-11-30", 200_000, 1.0),
        ("2026-11-30", 200_001, 2.0),
        ("2027-01-01", 10, 3.0),
        ("2027-01-01", 300_000, 3.0),
    ],
)
def test_the_row_in_force_is_found(day: str, prompt: int, price: float):
    row = price_at(ROWS, day, prompt)
    assert row is not None
    assert row.input == price


def test_a_price_that_has_not_begun_is_no_price():
    assert price_at((Price(1, 1, start="2027-01-01"),), "2026-12-31", 5) is None


def test_each_kind_of_token_has_its_price():
    usage = Usage(input=1_000, cache_read=2_000, cache_write=3_000, output=4_000, cache_write_1h=1_000)
    expected = (1_000 * 1.0 + 2_000 * 0.1 + 2_000 * 1.25 + 1_000 * 2.0 + 4_000 * 5.0) / 1e6
    assert cost_of(usage, ModelCard("m", "p", prices=ROWS), "2026-11-30") == pytest.approx(expected)


def test_no_price_is_not_zero_and_free_is():
    assert cost_of(Usage(input=5), ModelCard("m", "p"), "2026-11-30") is None
    assert cost_of(Usage(input=5), ModelCard("m", "p", free=True), "2026-11-30") == 0.0


def test_the_prompt_is_all_three_kinds_of_input():
    usage = Usage(input=10, cache_read=60, cache_write=30, output=5)
    assert (usage.prompt, usage.total, usage.cached_share) == (100, 105, 0.6)
    assert Usage().cached_share == 0.0


def test_what_caches_saved_is_the_difference_to_a_request_without_them():
    card = ModelCard("m", "p", prices=(Price(10.0, 50.0, 1.0, 12.5),))
    read = Usage(input=1_000, cache_read=100_000, output=200)
    assert saved_of(read, card, "2026-11-30") == pytest.approx(0.9)
    written = Usage(input=1_000, cache_write=100_000, output=200)
    assert saved_of(written, card, "2026-11-30") == pytest.approx(-0.25)
    assert saved_of(read, ModelCard("m", "p"), "2026-11-30") is None
    assert saved_of(read, ModelCard("m", "p", free=True), "2026-11-30") == 0.0

"""Hard budgets: worst cases, and that no order of calls and reports passes a ceiling."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guardrails.reserve import Account, Reserve, worst_case
from agent_cli.kernel.usage import ModelCard, Price, Usage, cost_of

DAY = "2026-11-30"
PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75, cache_write_1h=6.0)
CARD = ModelCard("m", "p", window=200_000, max_output=8_000, prices=(PRICE,))


def test_every_prompt_token_counts_at_its_dearest_and_the_whole_answer():
    assert worst_case(CARD, DAY, 1_000_000, 1_000_000) == pytest.approx(6.0 + 15.0)


def test_without_a_bound_of_its_own_the_models_longest_answer_counts():
    assert worst_case(CARD, DAY, 0, None) == pytest.approx(0.12)


@pytest.mark.parametrize(
    "card",
    [ModelCard("m", "p", max_output=10), ModelCard("m", "p", prices=(PRICE,))],
    ids=["price", "answer"],
)
def test_what_is_unknown_is_never_promised(card: ModelCard):
    assert worst_case(card, DAY, 10, None) is None


def test_a_free_model_reserves_nothing():
    assert worst_case(ModelCard("m", "p", free=True), DAY, 10, None) == 0.0


def test_an_account_without_a_ceiling_takes_everything():
    assert Reserve().take("a", 1e9, (Account("turn", 0.0, None), Account("session", 3.0, 0))) is None


usages = st.builds(
    Usage,
    input=st.integers(0, 50_000),
    cache_read=st.integers(0, 50_000),
    cache_write=st.integers(0, 50_000),
    output=st.integers(0, 8_000),
)


@given(usages, st.integers(0, 50_000))
def test_no_usage_within_the_bounds_costs_more_than_the_worst_case(usage: Usage, hour: int):
    tiered = ModelCard("m", "p", prices=(PRICE, Price(input=6.0, output=22.0, over=60_000)))
    usage = Usage(
        usage.input, usage.cache_read, usage.cache_write, usage.output, 0, min(hour, usage.cache_write)
    )
    for card in (CARD, tiered):
        worst = worst_case(card, DAY, usage.prompt, usage.output)
        assert worst is not None
        assert (cost_of(usage, card, DAY) or 0.0) <= worst + 1e-12


@given(
    st.lists(st.tuples(st.floats(0.001, 3.0), st.floats(0.0, 1.0), st.integers(0, 5)), max_size=40),
    st.floats(0.01, 10.0),
    st.floats(0.01, 10.0),
)
def test_no_ceiling_is_passed_whatever_the_order_of_calls_and_reports(
    calls: list[tuple[float, float, int]], turn: float, session: float
):
    """Each call has a worst case and the share of it that it really costs; reports come in any order."""
    reserve, spent, under_way = Reserve(), 0.0, list[tuple[str, float]]()
    for number, (worst, share, reported) in enumerate(calls):
        accounts = (Account("turn", spent, turn), Account("session", spent, session))
        if reserve.take(str(number), worst, accounts) is None:
            under_way.append((str(number), worst * share))
        if reported < len(under_way):
            key, cost = under_way.pop(reported)
            spent = math.fsum((spent, cost))
            reserve.give_back(key)
        assert spent + reserve.total <= min(turn, session) * (1 + 1e-9)
    assert spent + math.fsum(cost for _, cost in under_way) <= min(turn, session) * (1 + 1e-9)

"""Whether a run fits into a pool, and what it is expected to take: the worked figures, and what must always hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guardrails.admission import (
    Committed,
    Past,
    Pool,
    Tree,
    estimate,
    lacking,
    misjudged,
    percentile,
    room,
    worst_tree,
)
from agent_cli.guardrails.ledger import Children
from agent_cli.guardrails.worst_case import admitted
from agent_cli.kernel.limits import Limits

TENANT = Pool("tenant", runs=24, usd=18.0, calls=600)


def test_every_dimension_is_checked_not_only_the_slots():
    (short,) = lacking(TENANT, Committed(23, 15.40, 410), Tree(3.20, 120))
    assert short.dimension == "dollars"
    assert short.excess == pytest.approx(0.60)
    assert str(short) == "$15.40 of $18.00 are reserved and this run needs $3.20, $0.60 too much"
    assert lacking(TENANT, Committed(23, 14.80, 410), Tree(3.20, 120)) == (), "what fits exactly is admitted"


def test_what_lacks_is_told_of_all_dimensions():
    short = lacking(TENANT, Committed(24, 18.0, 600), Tree(0.01, 1))
    assert [each.dimension for each in short] == ["runs", "dollars", "tool calls a minute"]


def test_the_whole_tree_is_reserved_where_budgets_add_up():
    assert admitted(2.00, (0.30, 0.30, 0.30, 0.30, 0.20)) == pytest.approx(3.40)
    limits = Limits(max_turn_cost=2.0, max_tool_calls=4)
    assert worst_tree(limits, Children("additive", max_cost=0.35), 1.0).usd == 3.40
    assert worst_tree(limits, Children("shared", max_cost=0.35), 1.0).usd == 2.0, (
        "children draw on the parent's"
    )
    assert worst_tree(Limits(), Children(), 1.0) == Tree(
        1.0, 0, "admission.estimate_usd: no run of this kind is known and no ceiling is set"
    )
    assert worst_tree(limits, Children(), 1.0, 20).calls == 4, "all of them could come within a minute"
    assert worst_tree(Limits(), Children(), 1.0, 20).calls == 20, "where nothing bounds them, what is said"


def test_a_run_reserves_no_more_calls_than_the_whole_pool_lets_through():
    assert lacking(Pool("p", calls=6), Committed(), Tree(1.0, 20)) == ()
    (short,) = lacking(Pool("p", calls=6), Committed(1, 1.0, 3), Tree(1.0, 20))
    assert (short.used, short.asked) == (3, 6)


@given(
    st.floats(1, 9),
    st.lists(st.tuples(st.floats(0, 40), st.integers(1, 12)), max_size=60),
)
def test_in_no_minute_more_calls_begin_than_may(limit, asked):
    now, begun = 1_000.0, []
    for after, calls in asked:
        now += after
        found = room(limit, begun, calls, now)
        assert (found.granted > 0) != bool(found.reason)
        if not found.granted:
            now += found.opens_in
            now += 1e-6
            found = room(limit, begun, calls, now)
            assert found.granted, "when it said that one may begin, one may"
        begun.append((now, found.granted))
    for at, _ in begun:
        assert sum(count for began, count in begun if 0 <= began - at < 60.0) <= limit


def test_the_estimate_is_the_ninetieth_percentile_plus_a_fifth():
    spent = [0.42] * 50 + [0.88] * 45 + [1.46] * 5
    past = [Past(1.06, usd, 9, 60.0) for usd in spent]
    tree = estimate(past, Tree(2.0))
    assert tree.usd == 1.06, "0.88 x 1.20 = 1.056, up to whole cents"
    pool, committed, count = Pool("p", usd=18.0), Committed(), 0
    while not lacking(pool, committed, tree):
        count += 1
        committed = Committed(count, committed.usd + tree.usd)
    assert count == 16
    assert committed.usd == pytest.approx(16.96)
    assert 18.0 - committed.usd == pytest.approx(1.04)


def test_too_few_runs_say_nothing():
    assert estimate([Past(1.0, 0.1, 1, 1.0)] * 4, Tree(2.0)).usd == 2.0
    assert estimate([Past(1.0, 0.1, 1, 1.0)] * 5, Tree(2.0)).usd == 0.12


def test_estimates_that_are_wrong_are_told():
    assert (
        "18% of 100 runs spent more"
        in misjudged([Past(1.0, 1.2, 1, 1.0)] * 18 + [Past(1.0, 0.9, 1, 1.0)] * 82)[0]
    )
    assert misjudged([Past(1.0, 1.2, 1, 1.0)] * 17 + [Past(1.0, 0.9, 1, 1.0)] * 83) == ()
    assert "stands idle" in misjudged([Past(1.0, 0.1, 1, 1.0)] * 10)[0]


@given(st.lists(st.floats(0, 100), min_size=1), st.floats(0.01, 1.0))
def test_a_percentile_is_a_value_that_was_there(values, share):
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


@given(st.integers(0, 50), st.floats(0, 50), st.floats(0, 900), st.floats(0, 50), st.floats(0, 900))
def test_what_is_admitted_never_passes_a_limit(runs, usd, calls, more_usd, more_calls):
    committed, tree = Committed(runs, usd, calls), Tree(more_usd, more_calls)
    fits = not lacking(TENANT, committed, tree)
    assert fits == (
        runs + 1 <= 24 and usd + more_usd <= 18 + 1e-9 and calls + min(more_calls, 600) <= 600 + 1e-9
    )

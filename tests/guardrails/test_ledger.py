"""The shared ledger of a run, and what a full fan-out can come to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guardrails.budgets import Spent
from agent_cli.guardrails.ledger import SHARE, Allowance, Children, Ledger, free
from agent_cli.guardrails.worst_case import admitted, worst_case
from agent_cli.kernel.limits import Limits

MONEY = st.floats(0.001, 100, allow_nan=False)
MAYBE = st.none() | MONEY


def test_a_slice_is_a_tenth_of_what_is_left_and_the_rest_comes_back():
    ledger, ceiling = Ledger(), Allowance(usd=10.0)
    first = ledger.slice(ceiling, Allowance())
    assert first.usd == pytest.approx(1.0)
    ledger = ledger.reserve("a", first)
    assert ledger.left(ceiling).usd == pytest.approx(9.0)
    ledger = ledger.spend("a", 0.4, 0)
    assert ledger.left(Allowance(usd=9.6)).usd == pytest.approx(9.0), "what was spent is not counted twice"
    assert ledger.release("a").left(Allowance(usd=9.6)).usd == pytest.approx(9.6)


def test_own_policy_bounds_a_slice_and_asking_for_more_raises_it_up_to_what_is_left():
    ceiling = Allowance(usd=10.0)
    assert Ledger().slice(ceiling, Allowance(usd=0.3)).usd == 0.3
    assert Ledger().slice(ceiling, Allowance(usd=5.0), asked=4.0).usd == 4.0
    assert Ledger().slice(ceiling, Allowance(usd=3.0), asked=4.0).usd == 3.0
    assert Ledger().slice(ceiling, Allowance(), asked=40.0).usd == 10.0
    assert Ledger().slice(Allowance(), Allowance()) == Allowance()


def test_nothing_left_is_empty():
    ledger = Ledger().reserve("a", Allowance(usd=1.0))
    assert ledger.slice(Allowance(usd=1.0), Allowance()).is_empty
    assert Ledger().slice(Allowance(tokens=9), Allowance()).is_empty
    assert not Ledger().slice(Allowance(), Allowance()).is_empty


def test_the_nearest_ceiling_counts():
    limits = Limits(max_turn_cost=2.0, max_session_cost=10.0, max_tokens=1_000, max_tool_calls=60)
    spent = Spent(calls=57, tokens=400, turn_cost=0.5, session_cost=9.5)
    assert free(limits, spent) == Allowance(0.5, 600, 3)
    assert free(Limits(), spent) == Allowance()


@given(st.floats(0.01, 100), st.lists(st.tuples(MAYBE, MAYBE, st.floats(0, 1), st.booleans()), max_size=12))
def test_however_many_children_start_spend_and_end_together_they_never_pass_the_ceiling(
    ceiling: float, children: list[tuple[float | None, float | None, float, bool]]
):
    """Each child has a policy, asks for something, spends a part of its slice, and may end."""
    ledger, spent = Ledger(), 0.0
    for number, (own, asked, part, ends) in enumerate(children):
        name = str(number)
        left = Allowance(usd=ceiling - spent)
        slice_ = ledger.slice(left, Allowance(usd=own), asked)
        assert slice_.usd is not None
        assert own is None or slice_.usd <= own
        assert slice_.usd <= (ledger.left(left).usd or 0.0)
        assert asked is not None or slice_.usd <= SHARE * (ledger.left(left).usd or 0.0)
        ledger = ledger.reserve(name, slice_)
        ledger, spent = ledger.spend(name, part * slice_.usd, 0), spent + part * slice_.usd
        ledger = ledger.release(name) if ends else ledger
        assert spent + sum(held.open_usd for held in ledger.held) <= ceiling * (1 + 1e-9)
    for held in ledger.held:
        ledger = ledger.release(held.name)
    assert ledger == Ledger()


@given(st.integers(0, 1_000_000), st.lists(st.integers(1, 100_000), max_size=8))
def test_tokens_are_shared_in_the_same_way(ceiling: int, spends: list[int]):
    ledger, spent = Ledger(), 0
    for number, wanted in enumerate(spends):
        slice_ = ledger.slice(Allowance(tokens=ceiling - spent), Allowance())
        assert slice_.tokens is not None
        ledger = ledger.reserve(str(number), slice_)
        took = min(wanted, slice_.tokens)
        ledger, spent = ledger.spend(str(number), 0.0, took), spent + took
        assert spent + sum(held.open_tokens for held in ledger.held) <= ceiling


@given(st.integers(0, 500), st.lists(st.tuples(st.integers(1, 90), st.booleans()), max_size=12))
def test_tool_calls_are_shared_too_and_no_run_of_children_makes_too_many(
    ceiling: int, children: list[tuple[int, bool]]
):
    ledger, made = Ledger(), 0
    for number, (wanted, ends) in enumerate(children):
        slice_ = ledger.slice(Allowance(calls=ceiling - made), Allowance())
        assert slice_.calls is not None
        assert slice_.is_empty == (ledger.left(Allowance(calls=ceiling - made)).calls == 0)
        ledger = ledger.reserve(str(number), slice_)
        took = min(wanted, slice_.calls)
        ledger, made = ledger.spend(str(number), calls=took), made + took
        ledger = ledger.release(str(number)) if ends else ledger
        assert made + sum(held.open_calls for held in ledger.held) <= ceiling


# ── the worst case ──


def test_budgets_stand_side_by_side_and_equal_ones_are_flagged():
    found = worst_case(Limits(max_steps=30, max_session_cost=10.0, max_tool_calls=50), Children(), 4)
    rows = {row.dimension: row for row in found.rows}
    assert (rows["steps"].parent, rows["steps"].child, rows["steps"].equal) == (30, 30, True)
    assert (rows["cost"].parent, rows["cost"].child, rows["cost"].equal) == (10.0, 1.0, False)
    assert found.most_usd == 10.0, "what children spend is part of it"
    assert found.most_steps == 30 + 50 * 30
    assert any("as many requests as its parent" in line for line in found.warnings)


def test_additive_budgets_add_up():
    found = worst_case(
        Limits(max_turn_cost=2.0, max_tool_calls=4), Children("additive", max_cost=0.3), side_by_side=4
    )
    assert found.most_usd == pytest.approx(3.2)
    assert admitted(2.0, (0.3, 0.3, 0.3, 0.3, 0.2)) == pytest.approx(3.4)


def test_what_nothing_bounds_is_said():
    found = worst_case(Limits(), Children("additive", max_steps=None, max_cost=0.3), 4)
    assert found.most_usd is None
    assert len(found.warnings) == 3


@given(
    ceiling=st.integers(1, 60),
    steps=st.lists(
        st.tuples(st.sampled_from(("start", "beside", "spend", "end", "own")), st.integers(0, 9)), max_size=40
    ),
)
def test_no_order_of_what_is_reported_passes_the_calls_of_the_run(
    ceiling: int, steps: list[tuple[str, int]]
) -> None:
    """The parent takes what is promised to nobody beside it, a child at most its slice."""
    book, spent, slices, used = Ledger(), 0, dict[str, int](), dict[str, int]()
    for number, (what, amount) in enumerate(steps):
        free = Allowance(None, None, max(0, ceiling - spent))
        running = sorted(slices)
        if what in ("start", "beside"):
            slice_ = book.slice(free, Allowance())
            if not slice_.is_empty:
                name = f"c{number}"
                book = book.reserve(name, slice_, beside=what == "beside")
                slices[name], used[name] = slice_.calls or 0, 0
        elif what == "spend" and running:
            name = running[amount % len(running)]
            calls = min(amount, slices[name] - used[name])
            book, spent, used[name] = book.spend(name, calls=calls), spent + calls, used[name] + calls
        elif what == "end" and running:
            name = running[amount % len(running)]
            book = book.release(name)
            del slices[name]
        elif what == "own" and all(held.beside for held in book.held):
            fits = spent + book.calls_beside + amount <= ceiling
            spent += amount if fits else 0
        assert spent + sum(held.open_calls for held in book.held) <= ceiling

"""What is reached, what is warned of, and in which words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guardrails.budgets import (
    Spent,
    batch_breach,
    cost_breach,
    duration_breach,
    step_breach,
    warnings,
)
from agent_cli.kernel.events import Exhausted
from agent_cli.kernel.limits import Limits

ALL = Limits(max_steps=10, max_tool_calls=10, max_tokens=10, max_duration=10, max_turn_cost=10, max_session_cost=100)  # fmt: skip
AT: dict[Exhausted, tuple[Spent, Spent]] = {
    "steps": (Spent(steps=7), Spent(steps=8)),
    "tool-calls": (Spent(calls=7), Spent(calls=8)),
    "tokens": (Spent(tokens=7), Spent(tokens=8)),
    "duration": (Spent(seconds=7.9), Spent(seconds=8)),
    "cost": (Spent(turn_cost=7.9, session_cost=79.9), Spent(session_cost=80)),
}


@pytest.mark.parametrize("dimension", AT)
def test_each_dimension_is_warned_of_at_eighty_percent_and_once(dimension: Exhausted):
    below, there = AT[dimension]
    assert warnings(below, ALL, frozenset()) == ()
    (warned,) = warnings(there, ALL, frozenset())
    assert warned.dimension == dimension
    assert warnings(there, ALL, frozenset({dimension})) == ()
    assert warnings(there, Limits(), frozenset()) == (), "without a ceiling there is nothing to be warned of"


def test_of_two_ceilings_on_money_the_nearer_one_is_named():
    (warned,) = warnings(Spent(turn_cost=9, session_cost=95), ALL, frozenset())
    assert (warned.used, warned.limit) == (95, 100)


@pytest.mark.parametrize(
    ("breach", "reason"),
    [
        (step_breach(Spent(steps=10), ALL), "step ceiling reached (10/10)"),
        (step_breach(Spent(tokens=11), ALL), "token ceiling reached (11/10)"),
        (batch_breach(Spent(calls=10), 1, ALL), "tool-call ceiling reached (10/10); 1 more asked for at once, none of them ran"),
        (duration_breach(900), "wall-clock ceiling reached (900 s for this turn)"),
        (cost_breach(Spent(turn_cost=0.0512), Limits(max_turn_cost=0.05)), "per-turn cost ceiling exceeded: this turn cost $0.0512, ceiling is $0.0500"),
        (cost_breach(Spent(session_cost=10), Limits(max_session_cost=10)), "session cost ceiling exceeded: this session cost $10.0000, ceiling is $10.0000"),
    ],
)  # fmt: skip
def test_what_is_reached_names_the_figure_and_the_bound(breach: object, reason: str):
    assert getattr(breach, "reason", None) == reason


@given(st.integers(0, 100), st.integers(1, 100), st.integers(1, 100))
def test_a_batch_runs_only_where_all_of_it_fits(used: int, asked: int, most: int):
    fits = batch_breach(Spent(calls=used), asked, Limits(max_tool_calls=most)) is None
    assert fits == (used + asked <= most)

"""What stops a session across turns, folded from its log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.guardrails.budgets import least_to_add
from agent_cli.guardrails.halts import Halts, refused
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits

DEAR = ev.GuardrailTrip("cost_ceiling", "turn-cost", "halt", "turn", "this turn cost $0.06", halted_turn=True)
CUT = ev.TurnError("canceled", "guardrail-stop", 1, "too dear", "cost")
DONE = ev.TurnCompleted("completed", "end_turn")
REFUSED = ev.TurnError("refused", "halted", 3, "halted")
START = ev.TurnStarted("m")


def stopped_by(signal: str, scope: ev.StopScope = "turn") -> ev.GuardrailTrip:
    return ev.GuardrailTrip("watchdog", signal, "critical", scope, f"{signal}!", halted_turn=True)


def fed(*events: ev.Recorded) -> Halts:
    halts = Halts()
    for event in events:
        halts.feed(event)
    return halts


def test_turns_in_a_row_are_counted_and_one_within_its_bound_clears_them():
    two = [START, DEAR, CUT, START, DEAR, CUT]
    assert fed(*two).dear_again() == 3
    assert fed(*two, START, DONE).dear_again() == 1
    assert fed(*two, ev.GuardrailReset("cost_ceiling")).dear_again() == 1
    assert fed(*two, START, REFUSED).dear_again() == 3, "a refused turn never ran"


def test_cuts_count_by_their_signal():
    two = [START, stopped_by("no-op-streak"), CUT] * 2
    assert fed(*two).cut_again("no-op-streak") == 3
    assert fed(*two).cut_again("no-news") == 1
    assert fed(*two, START, stopped_by("no-news"), CUT).cut_again("no-op-streak") == 1
    assert fed(*two, START, DONE).cut_again("no-op-streak") == 1
    assert fed(*two, ev.GuardrailReset("watchdog")).cut_again("no-op-streak") == 1
    assert fed(*two, ev.GuardrailReset("cost_ceiling")).cut_again("no-op-streak") == 3


def test_live_config_wins_over_what_was_restored():
    watchdog = fed(START, stopped_by("repeated-tool-call", "session"), CUT)
    assert [halt.guardrail for halt in watchdog.standing(0.0, Limits(), enforced=True)] == ["watchdog"]
    assert watchdog.standing(0.0, Limits(), enforced=False) == ()
    dear = fed(
        START, ev.GuardrailTrip("cost_ceiling", "turn-cost", "halt", "session", "three", halted_turn=True)
    )
    assert [halt.least_usd for halt in dear.standing(0.0, Limits(max_turn_cost=0.05), enforced=True)] == [0.0]
    assert dear.standing(0.0, Limits(), enforced=True) == ()


def test_granted_budget_raises_a_ceiling_and_makes_none():
    halts = fed(ev.GuardrailReset("cost_ceiling", 5.0), ev.GuardrailReset("all", 1.5))
    assert halts.limits(Limits(max_session_cost=10.0)).max_session_cost == 16.5
    assert halts.limits(Limits()).max_session_cost is None


def test_a_bare_reset_of_a_spent_session_is_refused_with_the_least_amount():
    halts = fed().standing(12.0, Limits(max_session_cost=10.0), enforced=True)
    assert refused(halts, "cost_ceiling", 0.0) == 2.01
    assert refused(halts, "all", 2.0) == 2.01
    assert refused(halts, "all", 2.01) == 0.0
    assert refused(halts, "watchdog", 0.0) == 0.0


def test_what_could_not_be_reserved_halts_until_the_ceiling_holds_it():
    trip = ev.GuardrailTrip(
        "cost_ceiling", "session-reserve", "halt", "session", "no room", halted_turn=True, used=1.2, limit=1.0
    )
    halts = fed(START, trip, CUT)
    (halt,) = halts.standing(0.9, Limits(max_session_cost=1.0), enforced=True)
    assert halt.least_usd == 0.2
    assert halts.standing(0.9, Limits(max_session_cost=1.3), enforced=True) == ()
    assert fed(START, trip, CUT, ev.GuardrailReset("cost_ceiling", 0.2)).cost is None


def test_the_ceiling_of_the_last_trip_is_known_without_what_was_granted():
    trip = ev.GuardrailTrip(
        "cost_ceiling", "cost", "halt", "session", "spent", halted_turn=True, used=7.0, limit=6.0
    )
    assert fed(ev.GuardrailReset("cost_ceiling", 1.0), trip).ceiling == 5.0


@given(st.floats(0.0, 100.0), st.floats(0.0001, 100.0), st.booleans())
def test_the_least_amount_is_enough_and_a_cent_less_is_not(needed: float, ceiling: float, met: bool):
    if needed < ceiling:
        return
    least = least_to_add(needed, ceiling, met=met)
    raised, short = ceiling + least, ceiling + least - 0.01
    assert raised > needed if met else raised >= needed - 1e-6
    assert least == pytest.approx(0.01) or short <= needed + 1e-6

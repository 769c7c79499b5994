"""What the scorecard makes of recorded sessions."""

from __future__ import annotations

import msgspec
import pytest

from agent_cli.guardrails.budgets import reserve_breach
from agent_cli.guardrails.reserve import Account
from agent_cli.guardrails.scorecard import LEAST, Question, score
from agent_cli.guardrails.turns import Run, read
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.outputs import Output

NOON = 1_000.0


def session(
    name: str, *facts: ev.Recorded | tuple[float, ev.Recorded], cwd: str = "/p", begin: float = NOON
) -> Run:
    """Facts a second after each other, or as many seconds after the first as is said."""
    entries: list[ev.Entry] = []
    turn = 0
    for number, fact in enumerate(facts):
        after, event = fact if isinstance(fact, tuple) else (float(number), fact)
        turn += isinstance(event, ev.TurnStarted)
        entries.append(ev.Entry(name, number + 1, begin + after, turn, 0, event))
    return read(name, cwd, entries)


def asks(text: str) -> ev.OperatorMessage:
    return ev.OperatorMessage((Text(text),))


def call(number: int, name: str = "read") -> ev.ToolCallProposed:
    return ev.ToolCallProposed(ToolCall(f"c{number}", name, {"path": str(number)}))


def trip(guardrail: str = "cost_ceiling", signal: str = "turn-cost", **more: object) -> ev.GuardrailTrip:
    return ev.GuardrailTrip(guardrail, signal, "halt", "turn", "why", halted_turn=True, **more)  # type: ignore[arg-type]


START = ev.TurnStarted("m-1", "debug", "0.1.0 default enforce")
CUT = ev.TurnError("canceled", "guardrail-stop", 1, "why", "cost")
DONE = ev.TurnCompleted("completed", "stop")


def test_both_latencies_are_from_the_condition_on():
    runs = [
        session(
            f"s{number}",
            START,
            (1.0, trip(since=NOON + 0.5, dispatch_s=number / 1_000)),
            (0.5 + number, CUT),
        )
        for number in range(1, 21)
    ]
    (row,) = score(runs).latencies
    assert (row.source, row.count) == ("cost_ceiling", 20)
    assert row.dispatch == (0.010, 0.019, 0.020)
    assert row.full == pytest.approx((10.0, 19.0, 20.0))


def test_overshoot_is_told_in_the_unit_of_its_ceiling():
    tokens = session("a", START, trip("token_ceiling", "tokens", used=427_600.0, limit=400_000.0), CUT)
    cost = session("b", START, trip(used=2.14, limit=2.0), CUT)
    calls = session("c", START, trip("tool_call_ceiling", "tool-calls", used=68.0, limit=60.0), CUT)
    over = trip("duration_ceiling", "duration", used=900.0, limit=900.0, since=NOON + 4_500.0)
    clock = session("d", START, (4_500.0, over), (4_504.0, CUT))  # an hour of it waited for an answer
    found = {
        row.ceiling: (round(row.excess, 6), round(row.share, 3))
        for row in score([tokens, cost, calls, clock]).overshoots
    }
    assert found == {
        "token_ceiling": (27_600.0, 0.069),
        "cost_ceiling": (0.14, 0.07),
        "tool_call_ceiling": (8.0, 0.133),
        "duration_ceiling": (4.0, 0.004),
    }


def test_a_call_that_was_not_sent_is_past_no_ceiling():
    """Its trip says what it could have come to, and none of that was spent."""
    breach = reserve_breach(Account("turn", 0.05, 0.07), 0.04)
    kept = msgspec.structs.replace(trip(used=breach.used, limit=breach.limit), reason=breach.reason)
    (row,) = score([session("a", START, kept, CUT)]).overshoots
    assert (row.actual, row.excess, row.share) == (0.07, 0.0, 0.0)


def test_a_rate_is_of_those_that_could_have_reached_it():
    """A loop is told per turns with three calls, whatever the number of short ones beside them."""
    loop = ev.GuardrailTrip("watchdog", "repeated-tool-call", "critical", "session", "why", True, since=NOON)
    long = [session(f"l{number}", START, *(call(at) for at in range(3)), DONE) for number in range(49)]
    short = [session(f"s{number}", START, DONE) for number in range(900)]
    runs = [*long, session("loop", START, *(call(at) for at in range(3)), loop, CUT)]
    (few,) = score(runs).rates
    (many,) = score([*runs, *short]).rates
    assert (few.count, few.of, few.what, few.per_10k) == (1, 50, "turns with 3 calls", 200.0)
    assert (many.of, many.per_10k) == (few.of, few.per_10k)


def test_answers_results_and_calls_have_denominators_of_their_own():
    facts = [
        START,
        call(1),
        ev.ToolReturned("c1", "read", ev.Output((Text("x"),))),
        ev.GuardrailFinding("secrets", "input", "warn", "found"),
        ev.GuardrailFinding("secrets", "output", "block", "found"),
        ev.GuardrailFinding("rate", "action", "block", "found"),
        DONE,
    ]
    card = score([session(f"s{number}", *facts) for number in range(LEAST)])
    assert {(rate.guardrail, rate.what, rate.of) for rate in card.rates} == {
        ("input", "results", LEAST), ("output", "answers", LEAST), ("action", "calls", LEAST),
    }  # fmt: skip


def test_few_turns_give_counts_and_no_share():
    card = score([session(f"s{number}", START, trip(), CUT) for number in range(3)])
    assert [rate.per_10k for rate in card.rates] == [None]
    assert {(part.by, part.turns, part.stopped, part.share) for part in card.parts} == {
        ("task", 3, 3, None), ("model", 3, 3, None), ("guards", 3, 3, None),
    }  # fmt: skip


def test_a_ceiling_that_stops_what_a_signal_saw_is_not_the_best_reason():
    saw = ev.GuardrailFinding("repeated-tool-call", "behaviour", "critical", "the same call")
    masked = session("a", START, call(1), saw, trip("step_ceiling", "steps", used=20.0, limit=20.0), CUT)
    plain = session("b", START, call(1), trip("step_ceiling", "steps", used=20.0, limit=20.0), CUT)
    own = session("c", START, saw, trip("watchdog", "repeated-tool-call"), CUT)
    card = score([masked, plain, own])
    assert [cut.masks for cut in card.cuts] == ["repeated-tool-call", "", ""]
    assert card.specific == 2


def test_what_became_of_stopped_work_is_told():
    stopped = (START, asks("mend it"), trip(), CUT)
    runs = [
        session("resumed", *stopped, START, asks("go on"), DONE),
        session("reset", *stopped, ev.GuardrailReset("all"), START, DONE),
        session("rerun", *stopped, cwd="/q"),
        session("again", START, asks("mend it"), DONE, cwd="/q", begin=NOON + 500),
        session("left", *stopped, cwd="/r"),
    ]
    card = score(runs)
    assert {cut.session: cut.became for cut in card.cuts} == {
        "resumed": "resumed", "reset": "reset", "rerun": "rerun", "left": "abandoned",
    }  # fmt: skip
    assert dict(card.became) == {"resumed": 1, "reset": 1, "rerun": 1, "abandoned": 1}


def test_approvals_say_how_long_they_took_and_which_still_wait():
    asked = ev.ApprovalRequested("c1", "bash", "rm x", "why", "mode-ask")
    answered = session(
        "a", START, (1.0, asked), (61.0, ev.ApprovalDecided("c1", "bash", True, "operator")), (62.0, DONE)
    )
    waits = session("b", START, (5.0, asked))
    card = score([answered, waits])
    assert card.waits.seconds == (60.0, 60.0, 60.0)
    assert card.waits.open == (Question("b", "bash rm x", NOON + 5.0, 0, 0),)


def test_an_approval_that_waits_says_what_it_holds_up():
    asked = ev.ApprovalRequested("c1", "bash", "rm x", "why", "mode-ask")
    died = (START, call(0), ev.ApprovalRequested("c0", "bash", "ls", "", ""))
    done = ev.ToolReturned("c4", "read", Output(()))
    queued = ev.MessageQueued((Text("and then"),))
    calls = [call(number) for number in (1, 2, 3, 4)]
    (waits,) = score([session("a", *died, START, *calls, done, asked, queued, queued)]).waits.open
    assert (waits.about, waits.calls, waits.messages) == ("bash rm x", 2, 2)
    taken = (ev.MessageWithdrawn(4), ev.OperatorMessage((Text("and then"),), queued=5))
    (waits,) = score([session("a", START, call(1), asked, queued, queued, *taken)]).waits.open
    assert (waits.calls, waits.messages) == (0, 0)


def test_what_a_check_could_not_look_at_is_no_pass():
    rows = (ev.CheckRow("remote", "output", 8, 1, 2, 0, 0.4, 0.2),)
    runs = [session(f"s{number}", START, ev.GuardrailChecked(rows), DONE) for number in range(2)]
    card = score(runs)
    (found,) = card.checks
    assert (found.runs, found.found, found.missing, card.missing) == (16, 2, 4, 4)
    assert (found.average_ms, found.longest_ms) == (pytest.approx(50.0), pytest.approx(200.0))


def test_a_subtask_that_is_stopped_is_no_stopped_turn():
    entries = [
        ev.Entry("s", 1, NOON, 1, 0, START),
        ev.Entry(
            "s", 2, NOON + 1, 1, 0, trip("step_ceiling", "steps", used=30.0, limit=30.0), "s:sub:look-1"
        ),
        ev.Entry("s", 3, NOON + 2, 1, 0, CUT, "s:sub:look-1"),
        ev.Entry("s", 4, NOON + 3, 1, 0, DONE),
    ]
    card = score([read("s", "/p", entries)])
    assert card.cuts == ()
    assert [(rate.guardrail, rate.count) for rate in card.rates] == [("step_ceiling", 1)]


def test_only_what_began_since_then_counts():
    runs = [session("old", START, trip(), CUT), session("new", START, DONE, begin=NOON + 100)]
    card = score(runs, NOON + 50)
    assert (card.turns, card.sessions, card.rates, card.cuts) == (1, 1, (), ())


def test_nothing_recorded_is_no_error():
    card = score([])
    assert (card.turns, card.rates, card.latencies) == (0, (), ())

"""What the watchdog knows ends with a message of the operator: of a long log only what came since has to be read."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from agent_cli.engine.watchdog import Watchdog
from agent_cli.guardrails.book import PROFILES, Profile, signals
from agent_cli.kernel import events as ev
from tests.guardrails.played import OPERATOR, Call, Step, edit, facts, read, says, shell

A, B = read("a", "1"), read("b", "2")
FAILED = Call("bash", {"command": "make"}, "error", ok=False)
EMPTY = Call("grep", {"pattern": "x"}, "nothing", empty=True)
REFUSED = Call("bash", {"command": "rm x"}, "no", refused=True)
STEPS: list[Step] = [A, B, (A, B), edit(), edit("again"), shell("make"), FAILED, EMPTY, REFUSED, says("so")]


def told(watchdog: Watchdog, events: Sequence[ev.Recorded]) -> list[tuple[str, str, str]]:
    for event in events:
        watchdog.see(event)
    return [(alert.signal, alert.severity, alert.reason) for alert in watchdog.found()]


@given(
    st.lists(st.sampled_from([*STEPS, OPERATOR]), max_size=30),
    st.lists(st.sampled_from(STEPS), max_size=30),
    st.sampled_from(sorted(PROFILES)),
)
@example([A] * 6, [A] * 6, "default")
@example([A, OPERATOR, A, A, A], [A, A], "default")
def test_a_session_that_is_opened_again_is_watched_as_if_it_had_never_been_closed(
    before: list[Step], after: list[Step], profile: Profile
):
    whole = list(facts([*before, *after]))
    past, rest = whole[: len(list(facts(before)))], whole[len(list(facts(before))) :]
    lived, reopened = (Watchdog(signals(profile), "enforce") for _ in range(2))
    told(lived, past)
    for event in past:
        reopened.remember(event)
    reopened.restore(None, "enforce")
    assert told(reopened, rest) == told(lived, rest)


def test_what_was_found_before_is_not_told_again():
    watchdog = Watchdog(signals(), "enforce")
    for event in facts([A] * 8):
        watchdog.remember(event)
    watchdog.restore(None, "enforce")
    assert watchdog.found() == ()

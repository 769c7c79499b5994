"""What holds for the watchdog whatever a model does."""

from __future__ import annotations

import gc
from types import FunctionType, ModuleType
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.guardrails.book import signals
from agent_cli.guardrails.watch import Watch
from agent_cli.kernel.watching import Profile
from agent_cli.ports import Alert
from tests.guardrails.played import OPERATOR, RESET, Call, Step, edit, facts, read, says, shell

BY_CALLS = frozenset(
    {"repeated-tool-call", "alternating-tool-cycle", "dominant-tool-call", "repeated-tool-name"}
)

CALLS = st.builds(
    Call,
    st.sampled_from(["read_file", "bash", "grep"]),
    st.fixed_dictionaries({"path": st.sampled_from(["a", "./a", "b", "x/a"])}),
    st.sampled_from(["same", "other", "12:03:07 done"]),
    st.booleans(),
    empty=st.booleans(),
)
STEPS: st.SearchStrategy[Step] = st.one_of(
    CALLS,
    st.tuples(CALLS, CALLS),
    st.builds(edit, st.just("done"), st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"])),
    st.sampled_from([OPERATOR, RESET, says("hm"), says("")]),
)
PROFILES = st.sampled_from(get_args(Profile))


def alerts(steps: list[Step], profile: Profile = "default") -> list[tuple[int, Alert]]:
    """Each with the number of the fact that brought it."""
    watch = Watch(signals(profile))
    return [(at, alert) for at, fact in enumerate(facts(steps)) for alert in watch.feed(fact).alerts]


@settings(max_examples=150)
@given(steps=st.lists(STEPS, max_size=60), profile=PROFILES)
def test_the_same_facts_bring_the_same_alerts(steps: list[Step], profile: Profile) -> None:
    assert alerts(steps, profile) == alerts(steps, profile)


@settings(max_examples=150)
@given(steps=st.lists(STEPS, max_size=60), profile=PROFILES)
def test_one_call_is_told_by_one_signal_that_reads_calls(steps: list[Step], profile: Profile) -> None:
    told = [at for at, alert in alerts(steps, profile) if alert.signal in BY_CALLS]
    assert len(told) == len(set(told))


@settings(max_examples=60)
@given(
    block=st.lists(
        st.sampled_from([read("a"), read("b"), shell("ls"), shell("make"), read("c", "other")]),
        min_size=1,
        max_size=6,
        unique_by=repr,
    ),
    laps=st.integers(1, 12),
    cut=st.integers(0, 5),
)
def test_a_block_that_repeats_is_one_behaviour(block: list[Call], laps: int, cut: int) -> None:
    """However often, and wherever the rotation begins. A run inside of a block would break and form again: none here."""
    steps: list[Step] = [*(block * laps)[cut:]]
    told = [alert.signal for _, alert in alerts(steps) if alert.signal in BY_CALLS]
    assert len(told) <= 1, told


@settings(max_examples=60)
@given(st.lists(STEPS, max_size=40))
def test_nothing_breaks_and_nothing_is_told_that_has_no_reason(steps: list[Step]) -> None:
    for _, alert in alerts(steps):
        assert alert.reason.strip()
        assert alert.guidance.strip()


def test_a_call_costs_the_same_however_long_the_session_is() -> None:
    """Counted, not timed: what a signal holds does not grow with the session."""
    watch = Watch(signals())
    sizes: list[int] = []
    for number in range(4):
        steps: list[Step] = [read(f"f{number}-{each}", f"r{number}-{each}") for each in range(2_000)]
        for fact in facts(steps):
            watch.feed(fact)
        sizes.append(_held(watch))
    assert sizes[-1] <= sizes[1] * 1.1


def _held(watch: Watch) -> int:
    """Objects that are reached from it."""
    seen: set[int] = set()
    waiting: list[object] = [watch]
    while waiting:
        value = waiting.pop()
        if id(value) not in seen and not isinstance(value, (type, ModuleType, FunctionType)):
            seen.add(id(value))
            waiting += gc.get_referents(value)
    return len(seen)

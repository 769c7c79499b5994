"""The case of each signal: caught by it as it is tuned, at its threshold and not one call before."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.guardrails.book import NAMES, PROFILES, STANCES, THRESHOLDS, Tuned, signals
from agent_cli.guardrails.cases import Case, replay
from agent_cli.guardrails.known import CASES, known_positives
from agent_cli.kernel.watching import Profile, SignalName


@pytest.mark.parametrize("profile", PROFILES)
def test_every_signal_catches_its_case(profile: Profile):
    found = {one.signal: one for one in known_positives(profile, {})}
    assert tuple(found) == NAMES == tuple(CASES)
    for name, one in found.items():
        assert one.verdict == ("caught" if THRESHOLDS[name][profile] else "off"), name
        assert one.severity in (STANCES[name].severity, None)


COUNTED: list[SignalName] = ["repeated-tool-call", "no-op-streak", "null-result-streak", "tool-failure-streak", "tools-without-text"]  # fmt: skip
"""What they count are calls in a row: the case is caught with the last of them."""


@settings(max_examples=25)
@given(st.sampled_from(COUNTED), st.integers(2, 40))
def test_a_threshold_is_where_it_says(name: SignalName, threshold: int):
    rule = {name: Tuned(threshold=threshold)}
    found = {one.signal: one for one in known_positives("default", rule)}[name]
    assert (found.verdict, found.call) == ("caught", threshold)


def test_what_an_operator_says_of_a_signal_counts():
    said: dict[SignalName, Tuned] = {
        "repeated-tool-call": Tuned(severity="warn"),
        "no-op-streak": Tuned(scope="session"),
        "no-news": Tuned(enabled=False),
    }
    found = {one.signal: one for one in known_positives("default", said)}
    assert found["repeated-tool-call"].severity == "warn"
    assert found["no-news"].verdict == "off"
    watched = [signal for signal in signals("default", said) if signal.name == "no-op-streak"]
    case = Case("known", tuple(CASES["no-op-streak"](3)))
    assert [alert.scope for _, alert in replay(case, watched)] == ["session"]

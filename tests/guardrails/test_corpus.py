"""The thresholds over labelled behaviour of real agents: what they find, what they leave alone, and by which margin."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import pytest

from agent_cli.guardrails.book import NAMES, STANCES, THRESHOLDS, Tuned, signals
from agent_cli.guardrails.cases import Case, Found, decode, replay
from agent_cli.guardrails.measure import Label, Report, measure
from agent_cli.guardrails.signals.null_result_streak import NullResultStreak
from agent_cli.kernel.events import Severity
from agent_cli.kernel.watching import SignalName

CORPUS = Path(__file__).parents[1] / "corpus"


@cache
def cases() -> tuple[Case, ...]:
    with gzip.open(CORPUS / "labelled.jsonl.gz") as lines:
        return tuple(decode(line) for line in lines)


@cache
def labels() -> dict[str, Label]:
    return {
        session: said["label"] for session, said in json.loads((CORPUS / "labels.json").read_text()).items()
    }


@cache
def report() -> Report:
    return measure(
        ((case.id, partial(replay, case)) for case in cases()), labels(), ("default", "seed", "strict")
    )


def stopped(found: Iterable[Found]) -> bool:
    return any(alert.severity == "critical" for _, alert in found)


def tuned(name: SignalName, threshold: int, severity: Severity) -> set[str]:
    """The sessions in which an alert of that severity comes where one signal has that threshold."""
    rule = {name: Tuned(threshold=threshold)}
    watched = [[signal for signal in signals("default", rule) if signal.name == name] for _ in cases()]
    return {
        case.id
        for case, ours in zip(cases(), watched, strict=True)
        if any(alert.severity == severity for _, alert in replay(case, ours))
    }


def test_every_case_has_its_label():
    assert {case.id for case in cases()} == set(labels())
    assert (report().honest, report().wasteful, report().runaways) == (51, 5, 8)


def test_the_default_stops_every_runaway_and_no_honest_session():
    assert [missed.sessions for missed in report().missed if missed.profile == "default"] == [()]
    assert [
        alarm for alarm in report().alarms if alarm.severity == "critical" and alarm.profile == "default"
    ] == []


def test_the_first_seeds_thresholds_miss_two_of_them():
    (missed,) = (missed.sessions for missed in report().missed if missed.profile == "seed")
    assert len(missed) == 2


class Margin(NamedTuple):
    """`usual` is the threshold of the default; `clean` the lowest at which it alarms no oftener in honest sessions; up
    to `finds` it finds as many runaways. `alarms` and `found` are those counts, in sessions.
    """

    usual: int
    clean: int
    finds: int
    alarms: int
    found: int


MARGINS: dict[SignalName, Margin] = {
    "repeated-tool-call": Margin(5, clean=3, finds=8, alarms=0, found=4),
    "alternating-tool-cycle": Margin(3, clean=3, finds=5, alarms=0, found=3),
    "dominant-tool-call": Margin(8, clean=4, finds=11, alarms=0, found=4),
    "stuck-interaction": Margin(5, clean=2, finds=8, alarms=0, found=4),
    "no-news": Margin(10, clean=7, finds=12, alarms=0, found=8),
    "null-result-streak": Margin(12, clean=7, finds=15, alarms=0, found=1),
    "no-op-streak": Margin(3, clean=2, finds=3, alarms=0, found=0),
    "repeated-tool-name": Margin(15, clean=12, finds=19, alarms=2, found=4),
    "tool-failure-streak": Margin(5, clean=5, finds=5, alarms=1, found=0),
    "no-new-state": Margin(6, clean=5, finds=8, alarms=0, found=8),
    "tools-without-text": Margin(60, clean=40, finds=60, alarms=0, found=0),
}


def counted(name: SignalName, threshold: int) -> tuple[int, int]:
    """Honest sessions with an alert, and runaways with one: of a critical signal, with one that stops."""
    found = tuned(name, threshold, STANCES[name].severity)
    by = [labels()[session] for session in found]
    return by.count("legitimate"), by.count("runaway")


@pytest.mark.parametrize("name", NAMES)
def test_each_threshold_has_its_margin(name: SignalName):
    margin = MARGINS[name]
    assert margin.usual == THRESHOLDS[name]["default"]
    assert counted(name, margin.usual) == (margin.alarms, margin.found)
    assert counted(name, margin.clean)[0] == margin.alarms
    if margin.clean > 2:
        assert counted(name, margin.clean - 1)[0] > margin.alarms, "the margin is wider than it says"
    assert counted(name, margin.finds)[1] == margin.found


def test_what_is_asked_side_by_side_counts_twice_at_most_since_once_it_was_honest_work():
    """Ten searches of one step are one question: counted singly, they would stop a session in which nothing is wrong."""
    stops = {
        a_step: {
            case.id
            for case in cases()
            if stopped(replay(case, [NullResultStreak(a_step=a_step)])) and labels()[case.id] == "legitimate"
        }
        for a_step in (2, 3, 4)
    }
    assert [len(found) for found in stops.values()] == [0, 0, 1]


def test_polling_by_hand_is_what_the_criticals_would_stop():
    counted = {case.id for case in cases() if stopped(replay(case, signals(), polls=True))}
    honest = {session for session in counted if labels()[session] == "legitimate"}
    assert len(honest) <= 3

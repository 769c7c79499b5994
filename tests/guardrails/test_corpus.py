"""The thresholds over labelled behaviour of real agents: what they find, what they leave alone, and by which margin."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path

import pytest

from agent_cli.guardrails.book import Tuned, signals
from agent_cli.guardrails.cases import Case, Found, decode, replay
from agent_cli.guardrails.measure import Label, Report, measure
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


def tuned(name: SignalName, threshold: int) -> set[str]:
    """The sessions in which a critical alert comes where one signal has that threshold."""
    rule = {name: Tuned(threshold=threshold)}
    watched = [[signal for signal in signals("default", rule) if signal.name == name] for _ in cases()]
    return {case.id for case, ours in zip(cases(), watched, strict=True) if stopped(replay(case, ours))}


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


@pytest.mark.parametrize(
    ("name", "lower"),
    [
        ("repeated-tool-call", 4),
        ("alternating-tool-cycle", 3),
        ("dominant-tool-call", 6),
        ("stuck-interaction", 4),
        ("no-news", 9),
        ("null-result-streak", 10),
        ("no-op-streak", 3),
    ],
)
def test_a_lower_threshold_would_not_stop_an_honest_session_either(name: SignalName, lower: int):
    honest = {session for session, label in labels().items() if label == "legitimate"}
    assert tuned(name, lower) & honest == set()


def test_polling_by_hand_is_what_the_criticals_would_stop():
    counted = {case.id for case in cases() if stopped(replay(case, signals(), polls=True))}
    honest = {session for session in counted if labels()[session] == "legitimate"}
    assert len(honest) <= 3

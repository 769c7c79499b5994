"""How often signals are wrong: false alarms over honest sessions, and runaways that nothing stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from agent_cli.guardrails.book import NAMES, signals
from agent_cli.guardrails.cases import Found
from agent_cli.guardrails.watch import Watch
from agent_cli.kernel import events as ev
from agent_cli.kernel.values import Plain
from agent_cli.kernel.watching import Profile
from agent_cli.ports import Signal

Label: TypeAlias = Literal["honest", "legitimate", "wasteful", "runaway"]
"""What a person said of a session; one that nobody labelled is honest. A wasteful one is neither right nor wrong."""

Replay: TypeAlias = Callable[[Iterable[Signal]], Iterator[Found]]
"""One session through these signals."""


class Alarm(Plain, frozen=True):
    """An alert over a session; `call` counts its calls from 1."""

    session: str
    label: Label
    profile: Profile
    signal: str
    severity: ev.Severity
    call: int
    reason: str


class Row(Plain, frozen=True):
    """Sessions, not alerts: `false_positives` are honest ones with such an alert, `found` runaways with one."""

    profile: Profile
    signal: str
    severity: ev.Severity
    false_positives: int
    wasteful: int
    found: int
    false_negatives: int


class Missed(Plain, frozen=True):
    """Runaways that no critical signal of the profile stops."""

    profile: Profile
    sessions: tuple[str, ...]


class Report(Plain, frozen=True):
    """`alarms` are the first false one of each signal and session, `stops` the first critical of each runaway."""

    honest: int
    wasteful: int
    runaways: int
    rows: tuple[Row, ...]
    missed: tuple[Missed, ...]
    alarms: tuple[Alarm, ...]
    stops: tuple[Alarm, ...]


def measure(
    sessions: Iterable[tuple[str, Replay]], labels: Mapping[str, Label], profiles: tuple[Profile, ...]
) -> Report:
    """Each session through fresh signals of each profile, as `enforce` has them."""
    found: list[Alarm] = []
    counts = {"honest": 0, "wasteful": 0, "runaway": 0}
    runaways: list[str] = []
    for session, replay in sessions:
        label = _plain(labels.get(session, "honest"))
        counts[label] += 1
        if label == "runaway":
            runaways.append(session)
        for profile in profiles:
            found += _first_of_each(session, label, profile, replay(signals(profile)))
    return Report(
        counts["honest"],
        counts["wasteful"],
        counts["runaway"],
        tuple(row for profile in profiles for row in _rows(profile, found, len(runaways))),
        tuple(Missed(profile, _missed(profile, found, runaways)) for profile in profiles),
        tuple(alarm for alarm in found if alarm.label == "honest"),
        tuple(stop for profile in profiles for stop in _stops(profile, found)),
    )


def replay_log(entries: Iterable[ev.Entry]) -> Replay:
    """A recorded session; each subtask is watched by signals of its own, and its calls count on."""
    held = tuple(entries)

    def replay(watched: Iterable[Signal]) -> Iterator[Found]:
        fresh = tuple(watched)
        watch, calls = Watch(fresh), 0
        for branch in dict.fromkeys(entry.branch for entry in held):
            watch.reset()
            for entry in held:
                if entry.branch != branch:
                    continue
                calls += isinstance(entry.event, ev.ToolCallProposed)
                for alert in watch.feed(entry.event).alerts:
                    yield Found(calls, alert)

    return replay


def _plain(label: Label) -> Literal["honest", "wasteful", "runaway"]:
    return "honest" if label == "legitimate" else label


def _first_of_each(session: str, label: Label, profile: Profile, found: Iterable[Found]) -> list[Alarm]:
    first: dict[tuple[str, str], Alarm] = {}
    for call, alert in found:
        first.setdefault(
            (alert.signal, alert.severity),
            Alarm(session, label, profile, alert.signal, alert.severity, call, alert.reason),
        )
    return list(first.values())


def _rows(profile: Profile, found: list[Alarm], runaways: int) -> Iterator[Row]:
    severities: tuple[ev.Severity, ...] = ("critical", "warn")
    for name in NAMES:
        for severity in severities:
            ours = [
                alarm
                for alarm in found
                if (alarm.profile, alarm.signal, alarm.severity) == (profile, name, severity)
            ]
            if ours:
                by = [alarm.label for alarm in ours]
                hits = by.count("runaway")
                yield Row(
                    profile,
                    name,
                    severity,
                    by.count("honest"),
                    by.count("wasteful"),
                    hits,
                    runaways - hits,
                )


def _stops(profile: Profile, found: list[Alarm]) -> Iterator[Alarm]:
    """The first critical alert of each runaway."""
    ours = [alarm for alarm in found if alarm.profile == profile and alarm.severity == "critical"]
    for session in dict.fromkeys(alarm.session for alarm in ours if alarm.label == "runaway"):
        yield min((alarm for alarm in ours if alarm.session == session), key=lambda alarm: alarm.call)


def _missed(profile: Profile, found: list[Alarm], runaways: list[str]) -> tuple[str, ...]:
    stopped = {alarm.session for alarm in _stops(profile, found)}
    return tuple(session for session in runaways if session not in stopped)

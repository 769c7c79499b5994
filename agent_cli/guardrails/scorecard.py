"""What guardrails did in recorded sessions: how often, how fast, how far past the bound, and what became of it. Pure.

Every rate has the denominator of its decision point: turns that never could have reached it are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from agent_cli.guardrails.admission import percentile
from agent_cli.guardrails.budgets import NOT_SENT
from agent_cli.guardrails.turns import Run, Turn
from agent_cli.kernel import events as ev
from agent_cli.kernel.values import Plain

LEAST = 30
"""Turns under which a share says nothing."""
GENERIC = frozenset(
    {"step_ceiling", "tool_call_ceiling", "token_ceiling", "duration_ceiling", "cost_ceiling"}
)
"""Ceilings: they stop anything, so that what a signal saw before says more."""
Became: TypeAlias = Literal["resumed", "reset", "rerun", "abandoned"]


class Rate(Plain, frozen=True):
    """`count` of `of` decisions of the kind `what`. `per_10k` is None where there were too few of them."""

    guardrail: str
    signal: str
    severity: str
    count: int
    of: int
    what: str
    per_10k: float | None
    last: float
    alone: int


class Latency(Plain, frozen=True):
    """Seconds, of stops by one source: until nothing more could begin, and until all that had begun had ended."""

    source: str
    count: int
    dispatch: tuple[float, float, float]
    full: tuple[float, float, float]


class Overshoot(Plain, frozen=True):
    """The worst of a ceiling, in its unit."""

    ceiling: str
    count: int
    limit: float
    actual: float
    excess: float
    share: float


class Cut(Plain, frozen=True):
    """One stopped turn, with its reason and what became of it. `masks` is a more specific reason, "" where none is."""

    session: str
    turn: int
    guardrail: str
    signal: str
    masks: str
    became: Became


class Part(Plain, frozen=True):
    """Turns of one kind, and how many were stopped; `share` is None where there are too few."""

    by: str
    name: str
    turns: int
    stopped: int
    share: float | None


class Question(Plain, frozen=True):
    """A question that nobody answered yet: about what, and since when (seconds since the epoch).

    `calls` are those of its turn that cannot go on before, beside the ones that are asked about themselves, and
    `messages` what the operator sent meanwhile.
    """

    session: str
    about: str
    since: float
    calls: int
    messages: int


class Waits(Plain, frozen=True):
    """Approvals that were answered (seconds: p50, p95, most), and those that nobody answered yet."""

    count: int
    seconds: tuple[float, float, float]
    open: tuple[Question, ...]


class Checked(Plain, frozen=True):
    """What a check did and took: milliseconds, on average and at most. `missing` could not be looked at: no passes."""

    check: str
    surface: str
    runs: int
    found: int
    missing: int
    average_ms: float
    longest_ms: float


class Scorecard(Plain, frozen=True):
    """`missing` counts subjects that no check could look at, over all of them."""

    sessions: int
    turns: int
    rates: tuple[Rate, ...]
    latencies: tuple[Latency, ...]
    overshoots: tuple[Overshoot, ...]
    cuts: tuple[Cut, ...]
    specific: int
    became: tuple[tuple[Became, int], ...]
    parts: tuple[Part, ...]
    waits: Waits
    checks: tuple[Checked, ...]
    missing: int


def score(runs: Sequence[Run], since: float = 0.0) -> Scorecard:
    """Of turns that began at `since` or later."""
    turns = [turn for run in runs for turn in run.turns if turn.began >= since]
    cuts = tuple(
        Cut(
            turn.session, turn.number, trip.guardrail, trip.signal, _masked(turn, trip), became(runs, run, at)
        )
        for run in runs
        for at, turn in enumerate(run.turns)
        if turn.began >= since and (trip := turn.stopped) is not None
    )
    kinds: tuple[Became, ...] = ("resumed", "reset", "rerun", "abandoned")
    return Scorecard(
        sessions=len({turn.session for turn in turns}),
        turns=len(turns),
        rates=_rates(turns),
        latencies=_latencies(turns),
        overshoots=_overshoots(turns),
        cuts=cuts,
        specific=sum(not cut.masks for cut in cuts),
        became=tuple((kind, sum(cut.became == kind for cut in cuts)) for kind in kinds),
        parts=_parts(turns),
        waits=_waits(runs, turns),
        checks=_checks(turns),
        missing=sum(row.missing for turn in turns for row in turn.checked),
    )


def became(runs: Sequence[Run], run: Run, at: int) -> Became:
    """What followed a stopped turn: a reset, another turn that got its answer, the same question elsewhere, or nothing."""
    turn = run.turns[at]
    if at + 1 in run.resets:
        return "reset"
    if any(isinstance(later.ending, ev.TurnCompleted) for later in run.turns[at + 1 :]):
        return "resumed"
    again = (
        later.asked == turn.asked and later.began > turn.began
        for other in runs
        if other is not run and other.cwd == run.cwd
        for later in other.turns
    )
    return "rerun" if turn.asked and any(again) else "abandoned"


def _masked(turn: Turn, trip: ev.GuardrailTrip) -> str:
    """The critical signal that had told before a ceiling stopped the turn: it would have been the better reason."""
    if trip.guardrail not in GENERIC:
        return ""
    found = [finding.check for finding in turn.findings if finding.severity in ("critical", "halt")]
    return found[0] if found else ""


# ── rates ──

REACH: dict[str, tuple[str, int]] = {
    "repeated-tool-call": ("turns with 3 calls", 3),
    "alternating-tool-cycle": ("turns with 3 calls", 3),
    "dominant-tool-call": ("turns with 8 calls", 8),
    "stuck-interaction": ("turns with 5 calls", 5),
    "no-news": ("turns with 8 calls", 8),
    "no-op-streak": ("turns with 3 calls", 3),
    "null-result-streak": ("turns with 8 calls", 8),
    "repeated-tool-name": ("turns with 8 calls", 8),
    "tool-failure-streak": ("turns with 5 calls", 5),
    "no-new-state": ("turns with 5 calls", 5),
    "tools-without-text": ("turns with 8 calls", 8),
}
"""By signal, the least calls with which a turn can have reached it."""


def _decisions(guardrail: str, signal: str, surface: str, turns: Sequence[Turn]) -> tuple[str, int]:
    """What it decided about, and how often."""
    if signal in REACH:
        what, least = REACH[signal]
        return what, sum(turn.calls >= least for turn in turns)
    match surface or guardrail:
        case "output":
            return "answers", sum(isinstance(turn.ending, ev.TurnCompleted) for turn in turns)
        case "action" | "tool_call_ceiling":
            return "calls", sum(turn.calls for turn in turns)
        case "input":
            return "results", sum(turn.executed for turn in turns)
        case "step_ceiling" | "token_ceiling" | "cost_ceiling" | "duration_ceiling":
            return "turns with a request", sum(turn.steps > 0 for turn in turns)
        case _:
            return "turns", len(turns)


def _rates(turns: Sequence[Turn]) -> tuple[Rate, ...]:
    seen: dict[tuple[str, str, str, str], list[tuple[Turn, float]]] = {}
    for turn in turns:
        told = {trip.guardrail for trip, _ in turn.trips}
        own = [
            pair for pair in turn.below if pair[0].guardrail not in told
        ]  # what stops the turn stops them, too
        for trip, time in (*turn.trips, *own):
            seen.setdefault((trip.guardrail, trip.signal, trip.severity, ""), []).append((turn, time))
        for finding in turn.findings:
            key = finding.surface, finding.check, finding.severity, finding.surface
            seen.setdefault(key, []).append((turn, turn.ended or turn.began))
    return tuple(
        _rate(key, found, turns) for key, found in sorted(seen.items(), key=lambda pair: -len(pair[1]))
    )


def _rate(key: tuple[str, str, str, str], found: list[tuple[Turn, float]], turns: Sequence[Turn]) -> Rate:
    guardrail, signal, severity, surface = key
    what, of = _decisions(guardrail, signal, surface, turns)
    alone = sum(_sources(turn) == {signal} for turn in {id(turn): turn for turn, _ in found}.values())
    per = len(found) / of * 10_000 if of >= LEAST else None
    return Rate(guardrail, signal, severity, len(found), of, what, per, max(time for _, time in found), alone)


def _sources(turn: Turn) -> set[str]:
    return {trip.signal for trip, _ in turn.trips} | {finding.check for finding in turn.findings}


# ── the way of a stop ──


def _latencies(turns: Sequence[Turn]) -> tuple[Latency, ...]:
    by: dict[str, list[tuple[float, float]]] = {}
    for turn in turns:
        trip = turn.stopped
        if trip is not None and trip.since and turn.ended:
            by.setdefault(trip.guardrail, []).append((trip.dispatch_s, max(turn.ended - trip.since, 0.0)))
    return tuple(
        Latency(
            source, len(times), _spread([time for time, _ in times]), _spread([time for _, time in times])
        )
        for source, times in sorted(by.items())
    )


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    """p50, p95 and the most."""
    return percentile(values, 0.5), percentile(values, 0.95), max(values, default=0.0)


def _overshoots(turns: Sequence[Turn]) -> tuple[Overshoot, ...]:
    by: dict[str, list[tuple[float, float]]] = {}
    for turn in turns:
        for trip, _ in turn.trips:
            if trip.guardrail in GENERIC and trip.limit and trip.used is not None:
                late = max(turn.ended - trip.since, 0.0) if trip.since and turn.ended else 0.0
                used = trip.used if trip.guardrail != "duration_ceiling" else trip.used + late
                used = min(used, trip.limit) if NOT_SENT in trip.reason else used
                by.setdefault(trip.guardrail, []).append((used, trip.limit))
    worst = {name: max(pairs, key=lambda pair: pair[0] / pair[1]) for name, pairs in by.items()}
    return tuple(
        Overshoot(name, len(by[name]), limit, used, max(used - limit, 0.0), max(used / limit - 1, 0.0))
        for name, (used, limit) in sorted(worst.items())
    )


# ── slices, and people ──


def _parts(turns: Sequence[Turn]) -> tuple[Part, ...]:
    found: dict[tuple[str, str], list[Turn]] = {}
    for turn in turns:
        names = [
            ("task", turn.task or "(none)"),
            ("model", turn.model),
            ("guards", turn.guards or "(not recorded)"),
        ]
        names += [("tool", name) for name in dict.fromkeys(turn.tools)]
        for key in names:
            found.setdefault(key, []).append(turn)
    return tuple(
        Part(by, name, len(held), stopped, stopped / len(held) if len(held) >= LEAST else None)
        for (by, name), held in sorted(found.items())
        for stopped in (sum(turn.stopped is not None for turn in held),)
    )


def _checks(turns: Sequence[Turn]) -> tuple[Checked, ...]:
    by: dict[tuple[str, str], list[ev.CheckRow]] = {}
    for turn in turns:
        for row in turn.checked:
            by.setdefault((row.check, row.surface), []).append(row)
    return tuple(
        Checked(
            check,
            surface,
            runs,
            sum(row.found for row in rows),
            sum(row.missing for row in rows),
            sum(row.seconds for row in rows) / max(runs, 1) * 1e3,
            max(row.longest for row in rows) * 1e3,
        )
        for (check, surface), rows in sorted(by.items())
        for runs in (sum(row.runs for row in rows),)
    )


def _waits(runs: Sequence[Run], turns: Sequence[Turn]) -> Waits:
    answered = [seconds for turn in turns for seconds in turn.approvals]
    still = [
        Question(
            run.session,
            f"{asked.tool} {asked.subject}".strip(),
            time,
            len(run.undone - run.waiting.keys()),
            len(run.queued),
        )
        for run in runs
        if run.turns and run.turns[-1].ending is None
        for asked, time in run.waiting.values()
    ]
    return Waits(len(answered), _spread(answered), tuple(still))

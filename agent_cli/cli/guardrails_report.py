"""`agent-cli guardrails report`: what guardrails did, measured on the recorded sessions."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated

import typer

from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.cli.values import UsageError
from agent_cli.headless.plain import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_cli.compose.scorecard import Report
    from agent_cli.guardrails.scorecard import Scorecard

AGO = {"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
FEW = "too few"


def report(
    ctx: typer.Context,
    since: Annotated[
        str,
        typer.Option(
            help="Only what began since then: 12h, 7d, 2w, or a day like 2026-11-30.", metavar="WHEN"
        ),
    ] = "",
    as_object: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Print how often guardrails stopped turns, how fast, how far past the bound, and what became of the work.

    Rates are of those turns, calls or answers that could have reached the guardrail, and are left out where there are
    fewer than 30 of them. Both latencies are from when the condition became true: until nothing more could begin, and
    until all that had begun had ended.
    """
    from agent_cli.compose.scorecard import report as measured

    found = measured(options_of(ctx), loaded(ctx), _moment(since))
    if as_object:
        from agent_cli.kernel.records import whole

        typer.echo(
            as_json(
                whole(found.card)
                | {
                    "pools": [each._asdict() for each in found.pools],
                    "kill_switches": [whole(each) for each in found.switches],
                    "costs": [each._asdict() for each in found.costs],
                }
            )
        )
        return
    typer.echo("\n".join(_lines(found)))


def _moment(since: str) -> float:
    if not since:
        return 0.0
    if found := re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", since):
        return time.time() - float(found[1]) * AGO[found[2]]
    try:
        return time.mktime(time.strptime(since, "%Y-%m-%d"))
    except ValueError:
        raise UsageError(f"--since {since}: it takes 30m, 12h, 7d, 2w, or a day like 2026-11-30.") from None


def _lines(found: Report) -> Iterator[str]:
    card = found.card
    yield f"{card.turns:,} turns in {card.sessions:,} sessions, {len(card.cuts):,} of them stopped."
    yield from _section("Told and stopped", _rates(card))
    yield from _section("From the condition, in seconds (p50 / p95 / most)", _latencies(card))
    yield from _section("Past the ceiling, at worst", _overshoots(card))
    if card.cuts:
        yield from ("", f"Most specific reason: {card.specific} of {len(card.cuts)} stops.")
        yield from (
            f"  {cut.session} turn {cut.turn}: {cut.guardrail} stopped it, {cut.masks} had told before"
            for cut in card.cuts
            if cut.masks
        )
        yield (
            "What became of them: "
            + ", ".join(f"{count} {kind}" for kind, count in card.became if count)
            + "."
        )
    yield from _section("Checks, and what they took", _checks(card))
    yield from _section("Turns by kind", _parts(card))
    yield from _rest(found)


def _section(title: str, shown: str) -> Iterator[str]:
    if shown:
        yield from ("", title, shown)


def _rates(card: Scorecard) -> str:
    head = ("guardrail", "signal", "severity", "count", "of", "", "in 10,000", "alone", "last")
    rows = [
        (
            rate.guardrail, rate.signal, rate.severity, f"{rate.count:,}", f"{rate.of:,}", rate.what,
            FEW if rate.per_10k is None else f"{rate.per_10k:,.1f}", str(rate.alone), _day(rate.last),
        )
        for rate in card.rates
    ]  # fmt: skip
    return table(head, rows, frozenset({3, 4, 6, 7})) if rows else ""


def _latencies(card: Scorecard) -> str:
    rows = [
        (row.source, str(row.count), _three(row.dispatch), _three(row.full))
        for row in card.latencies
    ]  # fmt: skip
    return table(("stopped by", "stops", "nothing more begins", "all has ended"), rows) if rows else ""


def _overshoots(card: Scorecard) -> str:
    rows = [
        (
            row.ceiling,
            str(row.count),
            f"{row.limit:,.6g}",
            f"{row.actual:,.6g}",
            f"{row.excess:,.4g}",
            f"{row.share:.1%}",
        )
        for row in card.overshoots
    ]
    head = ("ceiling", "trips", "bound", "at stop", "over", "share")
    return table(head, rows, frozenset({1, 2, 3, 4, 5})) if rows else ""


def _checks(card: Scorecard) -> str:
    head = ("check", "surface", "asked", "found", "missing", "ms", "longest")
    rows = [
        (
            row.check, row.surface, f"{row.runs:,}", f"{row.found:,}", str(row.missing), f"{row.average_ms:.3f}",
            f"{row.longest_ms:.3f}",
        )
        for row in card.checks
    ]  # fmt: skip
    return table(head, rows, frozenset(range(2, 7))) if rows else ""


def _parts(card: Scorecard) -> str:
    rows = [
        (row.by, row.name, str(row.turns), str(row.stopped), FEW if row.share is None else f"{row.share:.1%}")
        for row in card.parts
    ]
    return table(("by", "name", "turns", "stopped", "share"), rows, frozenset({2, 3, 4})) if rows else ""


def _rest(found: Report) -> Iterator[str]:
    waits = found.card.waits
    if waits.count or waits.open:
        yield ""
    if waits.count:
        yield f"Approvals: {waits.count} answered, after {_three(waits.seconds)} s."
    now = time.time()
    for asked in waits.open:
        held = [f"{asked.calls} more call{'s' * (asked.calls != 1)}"] * bool(asked.calls)
        held += [f"{asked.messages} message{'s' * (asked.messages != 1)}"] * bool(asked.messages)
        yield (
            f"  {asked.session} still waits for an answer about {one_line(asked.about, 100)}, {now - asked.since:,.0f} s by now"
            f"{', and holds up ' if held else ''}{' and '.join(held)}"
        )
    for pool in found.pools:
        rate = FEW if pool.per_10k is None else f"{pool.per_10k:,.1f} in 10,000"
        yield f"Pool {pool.pool}: {pool.rejected} of {pool.requests} requests refused ({rate}), {pool.queued} waited."
    if found.switches:
        on = sum(not switch.restored for switch in found.switches)
        yield f"Kill switches: {len(found.switches)} turned on, {on} of them on now (agent-cli kill-switch list --all)."
    if found.costs:
        shown = ", ".join(f"{cost.signal} {cost.microseconds:.1f}" for cost in found.costs)
        yield f"What signals cost, in microseconds a recorded fact: {shown}."


def _three(values: tuple[float, float, float]) -> str:
    return " / ".join(f"{value:.3f}" for value in values)


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if seconds else ""

"""`agent-cli guardrails eval`: how often the watchdog and the checks are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.cli.values import UsageError
from agent_cli.headless.plain import one_line

if TYPE_CHECKING:
    from agent_cli.compose.labelled import Counted
    from agent_cli.guardrails.checks.known import Fed
    from agent_cli.guardrails.known import Known
    from agent_cli.guardrails.measure import Alarm, Report
    from agent_cli.kernel.watching import Profile

HEAD = ("profile", "signal", "severity", "false positives", "wasteful", "found", "false negatives")
PROFILES: tuple[Profile, ...] = ("default", "seed", "strict")
SHOWN = 20
TEXTS = ".tsv"
"""Labelled texts, for checks of contents and actions."""


def evaluate(
    ctx: typer.Context,
    corpus: Annotated[
        Path | None,
        typer.Argument(
            help="A directory of cases (.jsonl, .jsonl.gz; labels.json), one such file, a session database, or labelled "
            "texts for the checks (.tsv). Default: the recorded sessions.",
            metavar="CORPUS",
        ),
    ] = None,
    profile: Annotated[
        str, typer.Option(help="Only this one: default, seed or strict.", metavar="PROFILE")
    ] = "",
    polls: Annotated[
        bool, typer.Option("--polls", help="Count calls that wait for something like all others.")
    ] = False,
    known_positive: Annotated[
        bool,
        typer.Option(
            "--known-positive",
            help="Feed each signal and check, as it is set here, a case that it must catch. Exit 1 where one does not.",
        ),
    ] = False,
    as_object: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Replay recorded sessions or labelled cases through every signal of the watchdog.

    Prints, for each profile and signal, the honest sessions that it alarms in (false positives) and the runaways that
    it does not find (false negatives). Of recorded sessions nobody has said anything: all count as honest.
    """
    from agent_cli.compose.corpus import evaluate as measured

    if known_positive:
        _feed_known(ctx, corpus, _profiles(profile)[0] if profile else None, as_object=as_object)
        return
    if corpus is not None and corpus.suffix == TEXTS:
        _count_texts(ctx, corpus, as_object=as_object)
        return
    report = measured(options_of(ctx), loaded(ctx), corpus, _profiles(profile), polls=polls)
    typer.echo(as_json(_whole(report)) if as_object else _shown(report))


def _feed_known(ctx: typer.Context, corpus: Path | None, profile: Profile | None, *, as_object: bool) -> None:
    from agent_cli.compose.checks import fed
    from agent_cli.compose.watchdog import tuned
    from agent_cli.guardrails.known import known_positives

    if corpus is not None:
        raise UsageError("--known-positive brings its own cases: leave CORPUS out.")
    read = loaded(ctx)
    settings = read.settings
    found = known_positives(profile or settings.watchdog.profile, tuned(settings))
    checks = fed(read)
    if as_object:
        typer.echo(as_json([_whole(one) for one in (*found, *checks)]))
    else:
        rows = [
            (one.signal, one.verdict, one.severity or "", str(one.call or ""), one.reason) for one in found
        ]
        rows += [(one.check, one.verdict, one.severity or "", "", one.reason) for one in checks]
        typer.echo(table(("guardrail", "verdict", "severity", "call", "reason"), rows, frozenset({3})))
    if any(one.verdict == "missed" for one in (*found, *checks)):
        raise typer.Exit(1)


def _count_texts(ctx: typer.Context, texts: Path, *, as_object: bool) -> None:
    from agent_cli.compose.armed import armed
    from agent_cli.compose.labelled import cases, counted

    counts = counted(cases(texts), armed(loaded(ctx)))
    if as_object:
        typer.echo(as_json([_whole(count) for count in counts]))
        return
    head = ("check", "attacks", "false negatives", "honest", "false positives")
    rows = [
        (one.check, str(one.attacks), str(len(one.missed)), str(one.honest), str(len(one.wrong)))
        for one in counts
    ]
    typer.echo(table(head, rows, frozenset({1, 2, 3, 4})) if rows else f"{texts} has no labels of attacks.")
    for one in counts:
        for told, found in (("missed", one.missed), ("found all the same", one.wrong)):
            for case in found[:SHOWN]:
                typer.echo(f"  {one.check} {told}: {one_line(case.text, 100)}")


def _whole(value: Report | Known | Fed | Counted) -> Any:
    from agent_cli.kernel.records import whole

    return whole(value)


def _profiles(named: str) -> tuple[Profile, ...]:
    found: tuple[Profile, ...] = tuple(profile for profile in PROFILES if named in ("", profile))
    if not found:
        raise UsageError(f"There is no profile '{named}'; the profiles are {', '.join(PROFILES)}.")
    return found


def _shown(report: Report) -> str:
    counted = (
        f"{report.honest:,} honest sessions, {report.wasteful} wasteful ones, {report.runaways} runaways."
    )
    rows = [
        (
            row.profile,
            row.signal,
            row.severity,
            str(row.false_positives),
            str(row.wasteful),
            str(row.found),
            str(row.false_negatives),
        )
        for row in report.rows
    ]
    lines = [counted, "", table(HEAD, rows, frozenset({3, 4, 5, 6})) if rows else "No signal told anything."]
    for missed in report.missed:
        if report.runaways:
            named = f": {', '.join(missed.sessions)}" if missed.sessions else ""
            lines.append(
                f"Profile {missed.profile} stops {report.runaways - len(missed.sessions)} of {report.runaways} runaways"
                f"{'; not' + named if named else ''}."
            )
    critical = [alarm for alarm in report.alarms if alarm.severity == "critical"]
    if critical:
        lines += ["", "Critical false positives:", *(_alarm(alarm) for alarm in critical[:SHOWN])]
        if len(critical) > SHOWN:
            lines.append(f"… and {len(critical) - SHOWN} more; --json has them all")
    return "\n".join(lines)


def _alarm(alarm: Alarm) -> str:
    return f"  {alarm.session}  {alarm.profile}  {alarm.signal}  call {alarm.call}: {alarm.reason}"

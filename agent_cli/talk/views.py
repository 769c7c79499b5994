"""What the commands of the screen answer: reports made from where the session stands."""

from __future__ import annotations

from collections.abc import Sequence
from time import time

from agent_cli.context.breakdown import Share
from agent_cli.engine.standing import lines, standing
from agent_cli.engine.state import ModelRow, State
from agent_cli.kernel import events as ev
from agent_cli.talk.amounts import dollars, gauge, money, tokens
from agent_cli.talk.answers import Filling, Table
from agent_cli.talk.ledger import Ledger

LATEST = 12
"""Requests that /stats lists."""
COLUMNS = "▁▂▃▄▅▆▇█"
CELLS = 16
"""Of the gauge in /context: it does not wrap at 40 columns."""


def context(state: State, shares: Sequence[Share] = (), *, elsewhere: bool = False) -> Table | Filling:
    """What fills the window, and how it was and will be reduced: by settings that are not known `elsewhere`."""
    window, used, limit = state.card.window, state.context_tokens, state.context_limit
    about = "~" if state.context_estimated else ""
    if not state.boundaries.measured and shares:  # no service has counted anything
        used, about = sum(share.tokens for share in shares), "~"
    rows = [
        ("next prompt", f"{about}{used:,} tokens" + (" (part of it estimated)" if about else "")),
        ("window", f"{window:,} tokens of {state.card.id}" if window else f"unknown for {state.card.id}"),
    ]
    if window:
        rows.append(("filled", f"{''.join(gauge(used, window, limit, CELLS))} {about}{used / window:.1%}"))
        rows.append(("left", f"{about}{max(window - used, 0):,} tokens"))
    away = "as it is set where the session runs; /compact reduces the conversation now"
    rows.append(("compaction", away if elsewhere else _compaction(state, used, about)))
    rows.append(("so far", _reduced(state)))
    rows.extend(boundaries(state, time()))
    rows.append(("session", f"turn {state.turn}, {_requests(state.total)}, {state.calls} tool calls"))
    if shares and used:
        return Filling("Context", rows, shares, used, window, limit)
    return Table("Context", rows)


def boundaries(state: State, now: float) -> list[tuple[str, str]]:
    """Compactions and checkpoints with their age and focus or note, subtasks, and models where there are several."""
    made, rows = state.boundaries.made, list[tuple[str, str]]()
    for kind, word in (("compaction", "focus"), ("checkpoint", "note")):
        of_kind = [boundary for boundary in made if boundary.kind == kind]
        if of_kind:
            last = of_kind[-1]
            told = f", {word}: {last.note}" if last.note else ""
            rows.append((f"{kind}s", f"{len(of_kind)} (last {_age(now - last.time)} ago{told})"))
    if characters := sum(boundary.characters for boundary in made):
        rows.append(("summarized", f"{characters:,} characters across all boundaries"))
    if state.subtasks:
        usage, count = state.below.usage, len(state.subtasks)
        rows.append(
            (
                "subtasks",
                f"{count} ({usage.prompt:,} in, {usage.output:,} out, {money(state.below)} of the session)",
            )
        )
    if len(state.models) > 1:
        rows.append(
            ("models", "\n".join(map(_model, sorted(state.models.values(), key=lambda row: -row.cost))))
        )
    return rows


def _model(row: ModelRow) -> str:
    return f"{row.model} ({_requests(row)}, {row.usage.prompt:,} in, {row.usage.output:,} out, {money(row)})"


def _requests(row: ModelRow) -> str:
    return f"{row.requests} request{'s' * (row.requests != 1)}"


def _age(seconds: float) -> str:
    whole = max(0, int(seconds))
    hours, minutes = whole // 3_600, whole // 60 % 60
    return f"{hours}h{minutes}m" if hours else f"{minutes}m{whole % 60}s" if minutes else f"{whole}s"


def _compaction(state: State, used: int, about: str) -> str:
    window, limit = state.card.window, state.context_limit
    if limit is None:
        return "off; /compact reduces the conversation now"
    share = f" ({limit / window:.0%} of the window)" if window else " (of an assumed window)"
    left = limit - used
    when = f"{about}{left:,} tokens from here" if left > 0 else "before the next request"
    return f"at {limit:,} tokens{share}, {when}"


def _reduced(state: State) -> str:
    last = state.counts.last
    if last is None:
        return "not compacted yet"
    count = len(state.counts.cleared)
    cleared = f"; {count} tool result{'s' * (count != 1)} cleared" if count else ""
    sizes = f"{tokens(last.tokens_before)} → {tokens(last.tokens_after)} tokens"
    times = "once" if state.counts.reductions == 1 else f"{state.counts.reductions} times"
    return f"compacted {times}, last by {last.mode}: {sizes}{cleared}"


def stats(state: State, ledger: Ledger) -> Table:
    """Tokens and money, a model at a time, and of the latest requests one by one."""
    rows = [(row.model, _spent(row)) for row in sorted(state.models.values(), key=lambda row: -row.cost)]
    if len(state.models) != 1:
        rows.append(("all models", _spent(state.total)))
    limits = state.limits
    ceilings = [
        f"{name} {limit:g}"
        for name, limit in (
            ("steps", limits.max_steps),
            ("calls", limits.max_tool_calls),
            ("tokens", limits.max_tokens),
            ("seconds", limits.max_duration),
            ("USD a turn", limits.max_turn_cost),
            ("USD a session", limits.max_session_cost),
        )
        if limit is not None
    ]
    rows.append(("ceilings", ", ".join(ceilings) or "none"))
    if ledger.turns:
        rows += [("", ""), ("Turn by turn, the latest", "")]
        rows.append(("tokens", sparkline([row.usage.total for row in ledger.turns.values()])))
        rows += [(row.model, _spent(row)) for row in ledger.turns.values()]
    if ledger.spent:
        rows += [("", ""), ("Request by request, the latest", "")]
    rows.extend(filter(None, map(_request, list(ledger.spent)[-LATEST:])))
    return Table("Tokens and cost", rows)


def sparkline(values: Sequence[int]) -> str:
    """A column for each value, the highest in full; anything over zero shows. The highest is said, too."""
    most = max(values, default=0)
    columns = (COLUMNS[-(-value * len(COLUMNS) // most) - 1] if value and most else " " for value in values)
    return f"{''.join(columns)}  at most {tokens(most)} in one" if most else ""


def _request(entry: ev.Entry) -> tuple[str, str] | None:
    """One request: how much of its prompt came from a cache, and what it cost."""
    match entry.event:
        case ev.UsageReported(_, usage, cost, purpose):
            name = f"turn {entry.turn} step {entry.step}" if purpose == "step" else purpose
            price = "unpriced" if cost is None else dollars(cost)
            cached = f"{usage.cached_share:.0%} cached"
            return name, f"{tokens(usage.prompt)} in, {cached}, {tokens(usage.output)} out, {price}"
        case _:
            return None


def permissions(state: State, rules: Sequence[str] | None, gates: Sequence[tuple[str, str]] = ()) -> Table:
    """`rules` is None where nobody knows them; `gates` are what else decides."""
    rows = [("mode", f"{state.mode}  (/mode changes it)")]
    if rules is not None:
        rows.append(("rules", "\n".join(rules) or "none of your own"))
    own = [*(f"deny {rule}" for rule in state.denials), *(f"allow {rule}" for rule in state.grants)]
    rows.append(("this session", "\n".join(own) or "no rules or grants yet (/allow RULE, /deny RULE)"))
    rows.extend(gates)
    if state.pending:
        rows.append(
            ("waiting", "\n".join(f"{asked.tool}  {asked.subject}" for asked in state.pending.values()))
        )
    return Table("Permissions", rows)


def guardrails(state: State, watchdog: str, halted: str) -> Table:
    """What is armed, what tripped, why, and what a reset has to add. `watchdog` is its mode, "" where nobody knows it."""
    first, *rows = lines(standing(state, watchdog))
    return Table("Guardrails", [("halted", halted) if halted else first, *rows])


def _spent(row: ModelRow) -> str:
    used = row.usage
    parts = [
        f"{money(row)} in {_requests(row)}",
        f"in {tokens(used.input)}",
        f"out {tokens(used.output)}",
        f"cache read {tokens(used.cache_read)}",
        f"cache write {tokens(used.cache_write)}",
    ]
    if used.prompt:
        parts.append(f"{used.cached_share:.0%} of the prompts cached")
    if row.saved:
        parts.append(
            f"caches saved {dollars(row.saved)}"
            if row.saved > 0
            else f"caches cost {dollars(-row.saved)} more"
        )
    return ", ".join(parts)

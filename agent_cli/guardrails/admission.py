"""Admission: whether one more run fits into an account that many share, and what it is expected to take. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from agent_cli.guardrails.gate import Room
from agent_cli.guardrails.ledger import Children
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.values import Plain

PERCENTILE = 0.90
CONTINGENCY = 1.20
LEAST_RUNS = 5
"""Runs of a kind of work before their figures say anything."""
MINUTE = 60.0
WhenFull: TypeAlias = Literal["queue", "degrade", "reject"]
Kind: TypeAlias = Literal[
    "reserved", "topped-up", "consumed", "released", "expired", "queued", "throttled", "degraded", "rejected"
]


class Pool(Plain, frozen=True):
    """What runs share: how many at once, the dollars that they may still spend, tool calls a minute. None means none."""

    name: str
    runs: int | None = None
    usd: float | None = None
    calls: float | None = None


class Tree(Plain, frozen=True):
    """What a run with all its subtasks is expected to take: USD, and tool calls a minute. `why` says from what."""

    usd: float
    calls: float = 0.0
    why: str = ""


class Committed(Plain, frozen=True):
    """What admitted runs hold now."""

    runs: int = 0
    usd: float = 0.0
    calls: float = 0.0


class Lacking(Plain, frozen=True):
    """One dimension that has no room: `used` and `asked` together pass `limit`."""

    dimension: Literal["runs", "dollars", "tool calls a minute"]
    used: float
    asked: float
    limit: float

    @property
    def excess(self) -> float:
        return self.used + self.asked - self.limit

    def __str__(self) -> str:
        if self.dimension == "dollars":
            return (
                f"${self.used:.2f} of ${self.limit:.2f} are reserved and this run needs ${self.asked:.2f}, "
                f"${self.excess:.2f} too much"
            )
        return f"{self.used:g} of {self.limit:g} {self.dimension} are taken and this run needs {self.asked:g}"


class Past(Plain, frozen=True):
    """A run that ended: what was reserved for it, what it spent (USD), its tool calls, and its seconds."""

    reserved: float
    spent: float
    calls: int
    seconds: float


def room(limit: float | None, begun: Sequence[tuple[float, float]], asked: int, now: float) -> Room:
    """How many of the calls may begin. `begun` are when calls of the pool began and how many, the oldest first.

    In no minute more begin than `limit`, wherever the minute begins.
    """
    if limit is None:
        return Room(asked)
    recent = [(at, count) for at, count in begun if now - at < MINUTE]
    over = sum(count for _, count in recent) - math.floor(limit)
    if over < 0:
        return Room(min(asked, int(-over)))
    opens, left = now + MINUTE, over
    for at, count in recent:
        left -= count
        if left < 0:
            opens = at + MINUTE
            break
    told = f"{over + math.floor(limit):g} of {limit:g} tool calls of this minute were made"
    return Room(0, max(opens - now, 0.0), told)


def lacking(pool: Pool, committed: Committed, tree: Tree) -> tuple[Lacking, ...]:
    """Every dimension without room, not only the first. Nobody makes more calls a minute than the whole pool may."""
    asked = (
        Lacking("runs", committed.runs, 1, pool.runs) if pool.runs is not None else None,
        Lacking("dollars", committed.usd, tree.usd, pool.usd) if pool.usd is not None else None,
        Lacking("tool calls a minute", committed.calls, min(tree.calls, pool.calls), pool.calls)
        if pool.calls is not None
        else None,
    )
    return tuple(each for each in asked if each is not None and each.excess > 1e-9)


def percentile(values: Iterable[float], share: float) -> float:
    """By nearest rank: a value that was there."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else 0.0


def cents(usd: float) -> float:
    """Up to whole cents."""
    return math.ceil(round(usd * 100, 6)) / 100


def estimate(past: Sequence[Past], most: Tree) -> Tree:
    """The ninetieth percentile of earlier runs of this kind plus a fifth; `most` where there are too few of them."""
    if len(past) < LEAST_RUNS:
        return most
    usd = percentile((run.spent for run in past), PERCENTILE) * CONTINGENCY
    rates = (run.calls / max(run.seconds / MINUTE, 1.0) for run in past)
    calls = math.ceil(percentile(rates, PERCENTILE) * CONTINGENCY)
    why = f"the 90th percentile of {len(past)} runs plus 20 %"
    return Tree(cents(usd), calls, why)


def worst_tree(limits: Limits, children: Children, default: float, pace: float = 0.0) -> Tree:
    """The most that the ceilings let a run and its subtasks take; `default` USD and `pace` calls a minute where they
    bound nothing.

    A turn could make all of its calls within one minute.
    """
    count = limits.max_tool_calls or 0
    calls = count or pace
    ceilings = [value for value in (limits.max_turn_cost, limits.max_session_cost) if value]
    if not ceilings:
        return Tree(
            default, calls, "admission.estimate_usd: no run of this kind is known and no ceiling is set"
        )
    parent = min(ceilings)
    each = children.max_cost if children.budget == "additive" else None
    if each and not count:
        return Tree(
            max(default, parent + each),
            calls,
            why="the ceiling and one subtask: nothing bounds how many there are",
        )
    return Tree(cents(parent + count * (each or 0.0)), calls, "the ceilings of the run and its subtasks")


def misjudged(past: Sequence[Past]) -> tuple[str, ...]:
    """What of the estimates has to be looked into, in sentences."""
    ratios = [run.spent / run.reserved for run in past if run.reserved > 0]
    if len(ratios) < LEAST_RUNS:
        return ()
    over = sum(ratio > 1 for ratio in ratios) / len(ratios)
    idle = sum(ratio < 0.4 for ratio in ratios) / len(ratios)
    told: list[str] = []
    if over >= 0.18:
        told.append(
            f"{over:.0%} of {len(ratios)} runs spent more than was reserved for them: tell kinds of work apart"
        )
    if idle >= 0.9:
        told.append(
            f"{idle:.0%} of {len(ratios)} runs spent under 40 % of what was reserved: capacity stands idle"
        )
    return tuple(told)

"""What children may spend beside their parent, and the most that a full fan-out can come to. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

from agent_cli.guardrails.ledger import SHARE, Children
from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.values import Plain


class Row(Plain, frozen=True):
    """One ceiling of the parent beside that of one child; None means none. `equal` flags a child with as much."""

    dimension: str
    unit: str
    parent: float | None
    child: float | None
    equal: bool


class WorstCase(Plain, frozen=True):
    """`most_usd` and `most_tokens` are of one turn with all its children, None where nothing bounds them.

    `session_usd` is the same of the session. `most_steps` are model requests of one turn, children's included.
    `children` is how many a turn can start, None where nothing bounds them. `warnings` are sentences.
    """

    rows: tuple[Row, ...]
    side_by_side: int
    children: int | None
    most_steps: int | None
    most_tokens: int | None
    most_usd: float | None
    session_usd: float | None
    warnings: tuple[str, ...] = ()


def worst_case(limits: Limits, children: Children, side_by_side: int) -> WorstCase:
    """`side_by_side` is how many calls of one batch run at once (`tools.concurrency`)."""
    usd = _least(limits.max_turn_cost, limits.max_session_cost)
    rows = (
        _row("steps", "requests", limits.max_steps, children.max_steps),
        _row("duration", "seconds", limits.max_duration, children.max_duration),
        _row("tool calls", "calls", limits.max_tool_calls, math.ceil(SHARE * (limits.max_tool_calls or 0))),
        _row("tokens", "tokens", limits.max_tokens, _slice(children.max_tokens, limits.max_tokens)),
        _row("cost", "USD", usd, _child_usd(children, usd)),
    )
    count = limits.max_tool_calls or None
    additive = children.budget == "additive"
    each = children.max_cost or None
    return WorstCase(
        rows=rows,
        side_by_side=side_by_side,
        children=count,
        most_steps=_sum(limits.max_steps, count, children.max_steps),
        most_tokens=limits.max_tokens or None,
        most_usd=_sum_usd(usd, count, each) if additive else usd,
        session_usd=None if additive else limits.max_session_cost or None,
        warnings=_warnings(rows, limits, children, usd),
    )


class AgentRow(Plain, frozen=True):
    """The most that one run of an agent can take: its own budgets, as far as those of children let it. None: none."""

    name: str
    steps: int | None
    seconds: float | None
    calls: int | None
    tokens: int | None
    usd: float | None


def agent_rows(found: WorstCase, agents: Iterable[AgentDefinition]) -> tuple[AgentRow, ...]:
    """Of the agents that there are, beside what a child may at most."""
    most = {row.dimension: row.child for row in found.rows}
    return tuple(
        AgentRow(
            agent.name,
            _count(_least(most["steps"], agent.max_steps)),
            _least(most["duration"], agent.max_duration),
            _count(_least(most["tool calls"], agent.max_tool_calls)),
            _count(_least(most["tokens"], agent.max_tokens)),
            _least(most["cost"], agent.max_cost_usd),
        )
        for agent in agents
    )


def _count(value: float | None) -> int | None:
    return None if value is None else int(value)


def admitted(parent: float, children: tuple[float, ...]) -> float:
    """USD that are reserved at admission where children's budgets add to the parent's."""
    return parent + sum(children)


def _row(dimension: str, unit: str, parent: float | None, child: float | None) -> Row:
    parent, child = parent or None, child or None
    return Row(dimension, unit, parent, child, parent is not None and child is not None and child >= parent)


def _child_usd(children: Children, usd: float | None) -> float | None:
    return (children.max_cost or None) if children.budget == "additive" else _slice(children.max_cost, usd)


def _slice(own: float | None, ceiling: float | None) -> float | None:
    """The largest slice that a child gets without asking for more."""
    return _least(own, ceiling * SHARE if ceiling else None)


def _least(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value]
    return min(known) if known else None


def _sum(parent: int | None, count: int | None, each: int | None) -> int | None:
    return parent + count * each if parent and count and each else None


def _sum_usd(parent: float | None, count: int | None, each: float | None) -> float | None:
    return parent + count * each if parent and count and each else None


def _warnings(
    rows: tuple[Row, ...], limits: Limits, children: Children, usd: float | None
) -> tuple[str, ...]:
    told = [
        f"a child may use as many {row.unit} as its parent ({row.child:,.6g}): give children smaller budgets"
        for row in rows
        if row.equal
    ]
    if usd is None:
        told.append("no cost ceiling is set: nothing bounds the dollars of a turn and its children")
    if children.max_steps is None:
        told.append("children have no step ceiling of their own")
    if children.budget == "additive" and not limits.max_tool_calls:
        told.append(
            "children's budgets add to the parent's and nothing bounds how many there are: "
            "set budgets.max_tool_calls"
        )
    return tuple(told)

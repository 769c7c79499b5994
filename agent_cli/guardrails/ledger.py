"""The shared ledger of a run: what of its ceilings is promised to the subtasks that run now. Pure values."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from agent_cli.guardrails.budgets import Spent
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.values import Plain

SHARE = 0.10
"""Of what is left: the slice of a child that does not ask for more."""


class Allowance(Plain, frozen=True):
    """USD, tokens of input + output, and tool calls. None means no ceiling."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    @property
    def is_empty(self) -> bool:
        """Nothing can be done with it."""
        none_left = self.tokens is not None and self.tokens < 1
        return (
            (self.usd is not None and self.usd <= 0)
            or none_left
            or (self.calls is not None and self.calls < 1)
        )

    def within(self, other: Allowance) -> Allowance:
        """What both of them allow."""
        return Allowance(
            _least(self.usd, other.usd),
            _least_count(self.tokens, other.tokens),
            _least_count(self.calls, other.calls),
        )


class Children(Plain, frozen=True):
    """What the operator said about children. None means no ceiling of their own.

    "shared" takes what they spend from the ceilings of the run; "additive" adds their own `max_cost` to them.
    """

    budget: Literal["shared", "additive"] = "shared"
    max_steps: int | None = 30
    max_duration: float | None = 1_800.0
    max_tokens: int | None = None
    max_cost: float | None = None

    @property
    def own(self) -> Allowance:
        return Allowance(self.max_cost, self.max_tokens)


class Held(Plain, frozen=True):
    """A slice that is reserved, and what of it was spent. `beside` says that the parent goes on meanwhile."""

    name: str
    slice: Allowance
    beside: bool = False
    usd: float = 0.0
    tokens: int = 0
    calls: int = 0

    @property
    def open_usd(self) -> float:
        return max(0.0, (self.slice.usd or 0.0) - self.usd)

    @property
    def open_tokens(self) -> int:
        return max(0, (self.slice.tokens or 0) - self.tokens)

    @property
    def open_calls(self) -> int:
        return max(0, (self.slice.calls or 0) - self.calls)


class Ledger(Plain, frozen=True):
    """The children that run now. Each change gives a new ledger.

    What a child spends counts in the run at once; so only the unspent part of its slice is still reserved.
    """

    held: tuple[Held, ...] = ()

    def left(self, free: Allowance) -> Allowance:
        """Of what the ceilings leave (`free`), the part that is promised to nobody."""
        usd = None if free.usd is None else max(0.0, free.usd - sum(held.open_usd for held in self.held))
        return Allowance(
            usd,
            _rest(free.tokens, sum(held.open_tokens for held in self.held)),
            _rest(free.calls, sum(held.open_calls for held in self.held)),
        )

    def slice(self, free: Allowance, own: Allowance, asked: float | None = None) -> Allowance:
        """What a new child may spend: its own policy, and at most a tenth of what is left, or `asked` USD of it."""
        left = self.left(free)
        usd = left.usd
        if usd is not None:
            usd = min(usd, asked) if asked is not None else usd * SHARE
        elif asked is not None:
            usd = asked
        tokens = None if left.tokens is None else int(left.tokens * SHARE)
        calls = None if left.calls is None else math.ceil(left.calls * SHARE)
        return Allowance(
            _least(own.usd, usd), _least_count(own.tokens, tokens), _least_count(own.calls, calls)
        )

    def reserve(self, name: str, allowance: Allowance, *, beside: bool = False) -> Ledger:
        return Ledger((*self.held, Held(name, allowance, beside)))

    @property
    def calls_beside(self) -> int:
        """Tool calls that the parent cannot make itself, since they are promised to children that run beside it."""
        return sum(held.open_calls for held in self.held if held.beside)

    def spend(self, name: str, usd: float = 0.0, tokens: int = 0, calls: int = 0) -> Ledger:
        return Ledger(
            tuple(
                msgspec.structs.replace(
                    held, usd=held.usd + usd, tokens=held.tokens + tokens, calls=held.calls + calls
                )
                if held.name == name
                else held
                for held in self.held
            )
        )

    def release(self, name: str) -> Ledger:
        """The child ended: what it did not spend is free again."""
        return Ledger(tuple(held for held in self.held if held.name != name))


def free(limits: Limits, spent: Spent) -> Allowance:
    """What the ceilings of a run leave after what was spent."""
    money = ((limits.max_turn_cost, spent.turn_cost), (limits.max_session_cost, spent.session_cost))
    left = [ceiling - used for ceiling, used in money if ceiling]
    return Allowance(
        max(0.0, min(left)) if left else None,
        _rest(limits.max_tokens or None, spent.tokens),
        _rest(limits.max_tool_calls or None, spent.calls),
    )


def _rest(most: int | None, used: int) -> int | None:
    return None if most is None else max(0, most - used)


def _least(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return min(known) if known else None


def _least_count(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return min(known) if known else None

"""Hard budgets: what a call can cost at worst is set aside before it is sent, so that no ceiling is passed."""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec

from agent_cli.kernel.usage import MILLION, ModelCard, Price, price_at


class Account(NamedTuple):
    """One ceiling and what counts against it, in USD. No ceiling takes everything."""

    name: str
    spent: float
    ceiling: float | None


def worst_case(card: ModelCard, day: str, prompt_tokens: int, max_output: int | None) -> float | None:
    """The most USD that one request can cost: every prompt token at its dearest, every allowed output token.

    `max_output` None means the model's own limit. None comes back where the price or the longest answer is
    unknown, so that nothing can be promised.
    """
    if card.free:
        return 0.0
    most = max_output if max_output is not None else (card.max_output or card.window)
    rows = [
        price_at(card.prices, day, size) for size in {0, prompt_tokens, *(row.over for row in card.prices)}
    ]
    priced = [row for row in rows if row is not None and row.over <= prompt_tokens]
    if most is None or not priced:
        return None
    dearest = max(max(_input(row) for row in priced) * prompt_tokens + row.output * most for row in priced)
    return dearest / MILLION


def _input(price: Price) -> float:
    rates = (price.input, price.cache_read, price.cache_write, price.cache_write_1h)
    return max(rate for rate in rates if rate is not None)


class Reserve(msgspec.Struct):
    """What is set aside for calls that are under way, shared by all that draw on the same ceilings; `lost` is what stays
    so of those that are over, since nobody could say what they cost.
    """

    held: dict[str, float] = msgspec.field(default_factory=dict)
    lost: float = 0.0

    @property
    def total(self) -> float:
        return math.fsum((self.lost, *self.held.values()))

    def lacking(self, worst: float, accounts: tuple[Account, ...]) -> Account | None:
        """The first account that cannot take a call of that cost beside all that is set aside, None if all can."""
        for account in accounts:
            if account.ceiling and math.fsum((account.spent, self.total, worst)) > account.ceiling:
                return account
        return None

    def take(self, key: str, worst: float, accounts: tuple[Account, ...]) -> Account | None:
        """Sets `worst` aside under `key`, or says which account lacks it; then nothing is set aside."""
        lacking = self.lacking(worst, accounts)
        if lacking is None:
            self.held[key] = self.held.get(key, 0.0) + worst
        return lacking

    def give_back(self, key: str) -> float:
        """What was set aside is free again: its call was paid for, or never sent. Returns how much it was."""
        return self.held.pop(key, 0.0)

    def lose(self, key: str) -> None:
        """The call is over, and what was set aside for it may be spent."""
        self.lost += self.held.pop(key, 0.0)

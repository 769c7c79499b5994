"""Tokens and money."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.values import Plain

Tier: TypeAlias = Literal["frontier", "mid", "small"]

MILLION = 1_000_000


class Usage(Plain, frozen=True):
    """Tokens of one request. `input` is uncached input: the prompt is input + cache_read + cache_write.

    `output` includes `reasoning`. `cache_write_1h` is the part of `cache_write` that was written for an hour.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    cache_write_1h: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        return self.prompt + self.output

    @property
    def cached_share(self) -> float:
        """Part of the prompt that was read from a cache, 0 to 1."""
        return self.cache_read / self.prompt if self.prompt else 0.0

    @property
    def sound(self) -> Usage:
        """The same without counts below zero: nobody gives tokens back."""
        counts = (
            self.input,
            self.cache_read,
            self.cache_write,
            self.output,
            self.reasoning,
            self.cache_write_1h,
        )
        return self if min(counts) >= 0 else Usage(*(max(0, count) for count in counts))

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.cache_write_1h + other.cache_write_1h,
        )


class Price(Plain, frozen=True):
    """USD per million tokens, valid from the day `start` (ISO date) for prompts over `over` tokens."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None
    start: str = ""
    over: int = 0


class ModelCard(Plain, frozen=True):
    """What is known of one model. None means unknown, never zero.

    `prices` holds one row for each start date and prompt size; empty means unpriced. `free` models cost $0.
    `profile` is "compact" for small local models: short prompt, few tools. `delegated` is one that keeps its
    own conversation, in a program of its vendor's: it reduces that by itself.
    """

    id: str
    provider: str
    window: int | None = None
    max_output: int | None = None
    tier: Tier | None = None
    prices: tuple[Price, ...] = ()
    free: bool = False
    aliases: tuple[str, ...] = ()
    cache_minimum: int = 0
    thinking: str = ""
    efforts: tuple[str, ...] = ()
    sampling: bool = True
    images: bool = False
    documents: bool = False
    profile: Literal["full", "compact"] = "full"
    delegated: bool = False


def price_at(prices: tuple[Price, ...], day: str, prompt_tokens: int) -> Price | None:
    """The row in force on `day` (ISO date) for a prompt of that size: the latest start, then the highest tier."""
    begun = [row for row in prices if row.start <= day]
    if not begun:
        return None
    latest = max(row.start for row in begun)
    fitting = [row for row in begun if row.start == latest and (row.over == 0 or prompt_tokens > row.over)]
    return max(fitting, key=lambda row: row.over, default=None)


def saved_of(usage: Usage, card: ModelCard, day: str) -> float | None:
    """USD that caches saved on that request: what it would have cost without them, less what it did.

    Less than 0 where more was paid for writing than reading saved; None where the model has no price.
    """
    cost = cost_of(usage, card, day)
    if cost is None:
        return None
    whole = cost_of(Usage(input=usage.prompt, output=usage.output), card, day)
    return (whole or 0.0) - cost


def cost_of(usage: Usage, card: ModelCard, day: str) -> float | None:
    """USD of one request on that day; None where the model has no price."""
    if card.free:
        return 0.0
    price = price_at(card.prices, day, usage.prompt)
    if price is None:
        return None
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    hour = write if price.cache_write_1h is None else price.cache_write_1h
    dollars = (
        usage.input * price.input
        + usage.cache_read * read
        + (usage.cache_write - usage.cache_write_1h) * write
        + usage.cache_write_1h * hour
        + usage.output * price.output
    )
    return dollars / MILLION

"""How much of a model's window may be used before the conversation is reduced."""

from __future__ import annotations

from typing import Literal

from agent_cli.kernel.usage import ModelCard, Tier
from agent_cli.kernel.values import Plain

ASSUMED_WINDOW = 128_000
"""Of a model whose window is unknown. Only the compactor assumes it; people are told "unknown"."""
ASSUMED_RATIO = 0.80
BY_TIER: dict[Tier, float] = {"frontier": 0.85, "mid": 0.65, "small": 0.35}
UNKNOWN_TIER = 0.85
RESERVED_SHARE = 0.20
FULL_SHARE = 0.95

Mode = Literal["prune-then-summarize", "summarize-only"]


class Compaction(Plain, frozen=True):
    """What the operator said. `threshold` is the flag's, for every model; `by_tier` is config's, and `unknown_tier` for
    models of no known tier. `of_task` is that of a task class, for tiers that config names none for.

    `limit` is an absolute number of tokens and wins over every share; `keep_recent` are tokens of the protected tail.
    """

    enabled: bool = True
    mode: Mode = "prune-then-summarize"
    threshold: float | None = None
    by_tier: tuple[tuple[Tier, float], ...] = ()
    unknown_tier: float | None = None
    of_task: float | None = None
    limit: int | None = None
    keep_recent: int = 20_000
    model: str = ""


class Budget(Plain, frozen=True):
    """`limit` is where reduction begins, `full` where a request is no longer sent; tokens. `origin` says whose
    threshold it is; `assumed` that the window is a guess.
    """

    window: int
    limit: int
    full: int
    ratio: float
    origin: str
    assumed: bool = False

    def kept(self, wanted: int) -> int:
        """Tokens of the protected tail: never more than 30 % of the budget."""
        return min(wanted, self.limit * 3 // 10)


def budget_of(card: ModelCard, compaction: Compaction, *, counted: bool = True) -> Budget:
    """The budget in force for a model. `counted` says that its service reports usage: else all is estimated."""
    assumed = card.window is None
    window = card.window or ASSUMED_WINDOW
    ratio, origin = _threshold(card.tier, compaction)
    if assumed or not counted:
        ratio = min(ratio, ASSUMED_RATIO)
    reserve = min(card.max_output or window, int(window * RESERVED_SHARE))
    full = int(window * FULL_SHARE)
    wanted = int(window * ratio)
    if compaction.limit:
        wanted, origin = compaction.limit, "compaction.limit"
    return Budget(window, min(wanted, window - reserve, full), full, ratio, origin, assumed)


def _threshold(tier: Tier | None, compaction: Compaction) -> tuple[float, str]:
    if compaction.threshold is not None:
        return compaction.threshold, "--compaction-threshold"
    said = dict(compaction.by_tier)
    if tier is not None and tier in said:
        return said[tier], f"compaction.threshold_by_tier.{tier}"
    general = compaction.unknown_tier if tier is None else compaction.of_task
    if general is not None:
        return general, "compaction.threshold"
    if tier is None:
        return UNKNOWN_TIER, "default of models of no known tier"
    return BY_TIER[tier], f"default of {tier} models"

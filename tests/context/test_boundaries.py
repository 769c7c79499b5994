"""What people are told of a reduction that went another way."""

from __future__ import annotations

import pytest

from agent_cli.context.boundaries import degraded
from agent_cli.kernel import events as ev


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (ev.ContextReductionDegraded("assumed-window", "odd", window=128_000), ("odd", "128,000", "--context-window")),
        (ev.ContextReductionDegraded("mechanical", "m", 9_000, 10_000), ("without a summary", "calls and last words are left")),
        (ev.ContextReductionDegraded("turn-cut", "m", 9_600, 10_000), ("9,600 of the 10,000 tokens of m", "cut")),
    ],
)  # fmt: skip
def test_it_says_what_happened_and_what_can_be_done(
    event: ev.ContextReductionDegraded, told: tuple[str, ...]
):
    for words in told:
        assert words in degraded(event)

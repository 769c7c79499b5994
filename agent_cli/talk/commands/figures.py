"""Tokens and money."""

from __future__ import annotations

import time

from agent_cli.kernel.usage import price_at
from agent_cli.talk import views
from agent_cli.talk.answers import Answer, Note, Table
from agent_cli.talk.commands.command import Command, Host, not_yet


def _stats(host: Host, _rest: str) -> Answer:
    return views.stats(host.session.state, host.ledger) if host.session else not_yet()


def _pricing(host: Host, _rest: str) -> Answer:
    """The row in force today, for a prompt of the present size."""
    if host.session is None:
        return not_yet()
    card, day = host.session.state.card, time.strftime("%Y-%m-%d")
    row = price_at(card.prices, day, host.session.state.context_tokens)
    if card.free:
        return Note(f"{card.id} costs nothing.")
    if row is None:
        return Note(
            f"{card.id} has no price here: its requests count as unpriced, and no cost ceiling sees them."
        )
    amounts = (
        ("input", row.input), ("output", row.output), ("cache read", row.cache_read),
        ("cache write", row.cache_write), ("cache write, 1 h", row.cache_write_1h),
    )  # fmt: skip
    rows = [(name, f"${amount:g}") for name, amount in amounts if amount is not None]
    rows.append(
        (
            "in force",
            f"since {row.start or 'ever'}" + (f", prompts over {row.over:,} tokens" if row.over else ""),
        )
    )
    return Table(f"{card.id}: USD for a million tokens", rows)


COMMANDS: tuple[Command, ...] = (
    Command("stats", "tokens and cost of each model", _stats, ("usage", "cost")),
    Command("pricing", "what the model costs", _pricing),
)

"""Tokens, money and shares in few characters."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.engine.state import ModelRow
from agent_cli.kernel.todo import TodoItem


def money(row: ModelRow) -> str:
    """USD of a row; says where part of it, or all, has no price, and with a "~" that part of it is estimated."""
    told = f"{'~' * row.estimated}{dollars(row.cost)}"
    if row.unpriced:
        return f"{told} + unpriced" if row.cost else "unpriced"
    return told


def dollars(amount: float) -> str:
    if amount == 0:
        return "$0"
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.3f}" if amount >= 0.01 else f"${amount:.4f}"


def gauge(used: int, window: int, limit: int | None, cells: int) -> tuple[str, str]:
    """The full and the empty cells of a window; a notch marks where compaction begins."""
    share = min(used / window, 1.0)
    full = round(share * cells)
    if share >= 1 / cells / 2:
        full = max(1, full)
    marks = ["━" if cell < full else "╌" for cell in range(cells)]
    if limit is not None and limit < window:
        marks[limit * cells // window] = "┿"
    return "".join(marks[:full]), "".join(marks[full:])


def tokens(count: int) -> str:
    if count < 1_000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1_000:.1f}k" if count < 10_000 else f"{count / 1_000:.0f}k"
    return f"{count / 1_000_000:.1f}M"


def counted(items: Sequence[TodoItem]) -> str:
    """`2 of 5 done`."""
    return f"{sum(item.status == 'done' for item in items)} of {len(items)} done"

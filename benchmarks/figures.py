"""What a benchmark yields, and the table it is printed in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any, NamedTuple

HEAD = ("figure", "budget", "median", "min", "max", "n", "verdict")


class Figure(NamedTuple):
    """Measured values of one thing; less is better unless `more` is set. `budget` None: for comparison only."""

    name: str
    unit: str
    budget: float | None
    values: Sequence[float]
    more: bool = False

    def verdict(self) -> str:
        if self.budget is None:
            return ""
        middle = median(self.values)
        if (middle >= self.budget) if self.more else (middle <= self.budget):
            return "ok"
        more, less = (self.budget, middle) if self.more else (middle, self.budget)
        if not less:
            return "over"
        worse = more / less
        return f"over, x{worse:.2f}"

    def plain(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "values": list(self.values),
            "median": median(self.values),
            "verdict": self.verdict(),
        }


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Columns under their heads, figures to the right."""
    lines = [HEAD, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in (0, len(HEAD) - 1) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def row(figure: Figure) -> tuple[str, ...]:
    values = figure.values
    budget = "" if figure.budget is None else amount(figure.budget, figure.unit)
    low, middle, high = (amount(value, figure.unit) for value in (min(values), median(values), max(values)))
    return (figure.name, budget, middle, low, high, str(len(values)), figure.verdict())


def amount(value: float, unit: str) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".strip()

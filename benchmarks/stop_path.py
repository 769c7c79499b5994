"""How fast a stop takes hold: what stops, crossed with what is under way, each cell drilled several times.

Two figures a source: seconds from the condition until nothing more can begin, and until all that had begun has ended.
A write that is under way is finished, which takes 150 ms here.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import Bench
from figures import Figure

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.drills.cells import CELLS, SOURCES
from tests.drills.stage import Came

BUDGET_MS = 100


def measure(bench: Bench) -> Iterator[Figure]:
    logging.getLogger("agent_cli").addHandler(logging.NullHandler())  # checks that are down are part of it
    came: dict[tuple[str, str], list[Came]] = {}
    for _ in range(bench.runs * 2):
        for cell in CELLS:
            with tempfile.TemporaryDirectory() as directory:
                found = asyncio.run(cell.drill(Path(directory)))
            came.setdefault((cell.source, cell.phase), []).append(found)
    for source in SOURCES:
        mine = [one for (stopped, _), many in came.items() if stopped == source for one in many]
        yield _figure(f"{source}: nothing more begins, p95", [one.dispatch for one in mine], BUDGET_MS)
        yield _figure(f"{source}: all has ended, p95", [one.full for one in mine], None)
    every = [one.dispatch for many in came.values() for one in many]
    yield _figure(f"all {len(CELLS)} cells: nothing more begins, p95", every, BUDGET_MS)


def _figure(name: str, seconds: list[float], budget: int | None) -> Figure:
    """The median of a figure is what is shown: so it is given the 95th percentile alone."""
    ordered = sorted(seconds)
    return Figure(name, "ms", budget, [ordered[int(len(ordered) * 0.95)] * 1e3])

"""Answers that need no model: `--version`, which is given before anything heavy is imported, and `--help`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from bench import COMMAND, Bench
from figures import Figure

BUDGETS = {"--version": 0.020, "--help": 0.150}


def measure(bench: Bench) -> Iterator[Figure]:
    things = {flag: lambda flag=flag: bench.run([str(COMMAND), flag]) for flag in BUDGETS}
    things["bare interpreter"] = lambda: bench.run([sys.executable, "-c", ""])
    for name, runs in bench.interleaved(things).items():
        budget = BUDGETS.get(name)
        yield Figure(f"{name}, wall", "ms", budget and budget * 1e3, [1e3 * ran.wall for ran in runs])
        yield Figure(f"{name}, CPU", "ms", None, [1e3 * ran.cpu for ran in runs])

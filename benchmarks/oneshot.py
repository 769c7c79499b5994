"""`-p hello`, the whole process against a server that answers at once: what a run costs beyond the model."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from bench import MODELS, Bench, Ran
from figures import Figure

WALL_MS, CPU_MS, RSS_MB = 300, 280, 65


def measure(bench: Bench) -> Iterator[Figure]:
    things = {
        family: lambda family=family: bench.run(bench.ours("-p", "hello", family=family), expect="Hello.")
        for family in MODELS
    }
    for name, command in bench.peers:
        things[name] = lambda command=command: bench.run(bench.peer(command, "hello", "say"), expect="Hello.")
    got = bench.interleaved(things)
    for name, runs in got.items():
        yield from _figures(name, runs, ours=name in MODELS)
    for name, _ in bench.peers:
        for family in MODELS:
            yield from _ratios(f"{family} / {name}", got[family], got[name])


def _figures(name: str, runs: list[Ran], *, ours: bool) -> Iterator[Figure]:
    yield Figure(f"hello, {name}, wall", "ms", WALL_MS if ours else None, [1e3 * ran.wall for ran in runs])
    yield Figure(f"hello, {name}, CPU", "ms", CPU_MS if ours else None, [1e3 * ran.cpu for ran in runs])
    first = [1e3 * ran.first_request for ran in runs if ran.first_request is not None]
    yield Figure(f"hello, {name}, to the first request", "ms", None, first)
    yield Figure(f"hello, {name}, peak memory", "MB", RSS_MB if ours else None, [ran.rss for ran in runs])


def _ratios(name: str, ours: list[Ran], theirs: list[Ran]) -> Iterator[Figure]:
    """Run by run, since neighbours in time share the machine's mood."""
    pairs = list(zip(ours, theirs, strict=True))
    yield Figure(f"hello, {name}, wall", "x", 1.0, [a.wall / b.wall for a, b in pairs])
    yield Figure(f"hello, {name}, CPU", "x", 1.0, [a.cpu / b.cpu for a, b in pairs])
    memory = median(ran.rss for ran in ours) / median(ran.rss for ran in theirs)
    yield Figure(f"hello, {name}, peak memory", "x", 1.0, [memory])

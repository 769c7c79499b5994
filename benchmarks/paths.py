"""Completing files in a tree of 100,000: the first list, and what each further key takes."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from bench import Bench
from figures import Figure

FILES = 100_000
FIRST_MS, KEY_MS = 150, 16
TYPED = ("parser_123", "src/tree", "prsr77", "readme", "zzzzqq", "pyyp")


def measure(bench: Bench) -> Iterator[Figure]:
    from agent_cli.tui.paths import Paths

    paths = _paths()
    first: list[float] = []
    keys: list[float] = []
    for _ in range(bench.runs):
        begun = time.perf_counter()
        tree = Paths(paths)
        tree.find("p")
        first.append(1e3 * (time.perf_counter() - begun))
        for typed in TYPED:
            for end in range(1, len(typed) + 1):
                begun = time.perf_counter()
                tree.find(typed[:end])
                keys.append(1e3 * (time.perf_counter() - begun))
    yield Figure(f"@ in {FILES:,} files, to the first list", "ms", FIRST_MS, first)
    yield Figure(f"@ in {FILES:,} files, per key", "ms", KEY_MS, keys)
    yield Figure(f"@ in {FILES:,} files, slowest key", "ms", None, [max(keys)])


def _paths() -> list[str]:
    dice = random.Random(3)
    words = [
        "parser",
        "lexer",
        "token",
        "node",
        "tree",
        "build",
        "test",
        "index",
        "core",
        "main",
        "view",
        "item",
        "page",
        "data",
        "file",
        "read",
        "write",
    ]
    found: set[str] = set()
    while len(found) < FILES:
        where = "/".join(f"{dice.choice(words)}{dice.randint(0, 30)}" for _ in range(dice.randint(1, 5)))
        found.add(f"src/{where}/{dice.choice(words)}_{dice.randint(0, 99_999)}.py")
    return sorted(found)

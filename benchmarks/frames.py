"""The same long answer on a screen without a terminal, where each frame can be timed; with `--full` also after
500 earlier answers and as one block of code, which should cost little more."""

from __future__ import annotations

from collections.abc import Iterator

from bench import Bench
from figures import Figure

TOKENS = 20_000
CPU_S, FRAME_MS, MORE = 8, 100, 1.3


def measure(bench: Bench) -> Iterator[Figure]:
    plain = bench.inside("tui_stream.py", "--tokens", TOKENS)
    yield from _figures("plain", plain, CPU_S)
    if bench.full:
        for name, words in (
            ("after 500 answers", ("--history", 500)),
            ("one block of code", ("--shape", "fence")),
        ):
            other = bench.inside("tui_stream.py", "--tokens", TOKENS, *words)
            yield from _figures(name, other, None)
            yield Figure(f"{name} / plain, CPU", "x", MORE, [other["cpu_s"] / plain["cpu_s"]])


def _figures(name: str, ran: dict[str, float], budget: float | None) -> Iterator[Figure]:
    yield Figure(f"{TOKENS:,} tokens, no terminal, {name}, CPU", "s", budget, [ran["cpu_s"]])
    yield Figure(
        f"{TOKENS:,} tokens, no terminal, {name}, worst frame", "ms", FRAME_MS, [1e3 * ran["worst_frame_s"]]
    )
    yield Figure(
        f"{TOKENS:,} tokens, no terminal, {name}, longest deaf", "ms", None, [1e3 * ran["worst_lag_s"]]
    )

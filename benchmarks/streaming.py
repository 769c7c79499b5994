"""A long answer as it is streamed to a real pseudo-terminal: what drawing it costs, and how long a key waits
meanwhile. Keys are pressed in a run of their own, which the processor time leaves out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import quantiles

from bench import Bench
from figures import Figure
from terminal import GLYPHS, Terminal

TOKENS, TOKENS_FULL, TOKENS_TYPED = 10_000, 20_000, 8_000
CPU_S_FULL, KEY_MS = 8, 30
KEYS = 60
"""At most as many as fit on one line: taking them back would be keys that nobody waits for."""


def measure(bench: Bench) -> Iterator[Figure]:
    yield from _at(bench, 1000, bench.runs)
    if bench.full:
        yield from _at(bench, 200, 1)


def _at(bench: Bench, rate: int, runs: int) -> Iterator[Figure]:
    tokens = TOKENS_FULL if bench.full else TOKENS
    got = [_stream(bench, f"stream-{tokens}-{rate}", keys=False) for _ in range(runs)]
    name = f"{tokens:,} tokens at {rate:,}/s"
    yield Figure(f"{name}, CPU", "s", CPU_S_FULL * tokens / TOKENS_FULL, [cpu for cpu, _, _, _ in got])
    yield Figure(f"{name}, behind the server at the end", "ms", None, [1e3 * late for _, late, _, _ in got])
    yield Figure(f"{name}, written", "kB", None, [size / 1e3 for _, _, size, _ in got])
    keys = _stream(bench, f"stream-{TOKENS_TYPED}-{rate}", keys=True)[3]
    yield Figure(f"{name}, key to screen, p95", "ms", KEY_MS, [1e3 * quantiles(keys, n=20)[-1]])
    yield Figure(f"{name}, key to screen", "ms", None, [1e3 * key for key in keys])


def _stream(bench: Bench, plan: str, *, keys: bool) -> tuple[float, float, int, list[float]]:
    """CPU seconds, seconds from the last token to the last output, bytes, and the waits of keys."""
    _, tokens, rate = plan.split("-")
    bench.server.arrivals()
    with Terminal(bench.ours(), bench.cwd, bench.env(plan)) as terminal:
        terminal.await_key()
        terminal.drain(1.0)
        before, size = terminal.cpu(), len(terminal.written)
        terminal.press("go\r")
        while not (arrivals := bench.server.arrivals()):
            terminal.drain(0.02)
        ends = arrivals[0] + int(tokens) / int(rate)
        waits = list(_keys(terminal, ends)) if keys else []
        last = _until_quiet(terminal, ends)
        return terminal.cpu() - before, last - ends, len(terminal.written) - size, waits


def _keys(terminal: Terminal, ends: float) -> Iterator[float]:
    """How long each key takes to show, while the stream lasts."""
    apart = (ends - time.monotonic()) / KEYS
    for glyph in GLYPHS[:KEYS]:
        if time.monotonic() > ends:
            return
        since = len(terminal.written)
        pressed = terminal.press(glyph)
        yield terminal.await_text(glyph, since=since, timeout=10.0) - pressed
        terminal.drain(apart)


def _until_quiet(terminal: Terminal, ends: float) -> float:
    """The time of the last output: when a second has passed without any, after the stream's end."""
    last = time.monotonic()
    while time.monotonic() < max(ends, last) + 1.0:
        if terminal.read(0.5):
            last = time.monotonic()
    return last

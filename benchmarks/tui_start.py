"""The screen, in a real pseudo-terminal: from exec to a key that shows, from exec to the first request where a
message was given, and the memory of one that waits."""

from __future__ import annotations

from collections.abc import Iterator

from bench import Bench, BenchmarkFailed
from figures import Figure
from terminal import Terminal

KEY_MS, REQUEST_MS, IDLE_MB = 400, 600, 80


def measure(bench: Bench) -> Iterator[Figure]:
    got = bench.interleaved({"prompt": lambda: _prompt(bench), "message": lambda: _message(bench)})
    prompts, messages = got["prompt"], got["message"]
    yield Figure("screen, exec to the first output", "ms", None, [1e3 * first for first, _, _, _ in prompts])
    yield Figure("screen, exec to a key that shows", "ms", KEY_MS, [1e3 * key for _, key, _, _ in prompts])
    yield Figure("screen, CPU to a key that shows", "ms", None, [1e3 * cpu for _, _, cpu, _ in prompts])
    yield Figure(
        "screen, exec to the first request", "ms", REQUEST_MS, [1e3 * first for first, _ in messages]
    )
    yield Figure("screen, exec to the answer", "ms", None, [1e3 * shown for _, shown in messages])
    yield Figure("screen, memory when idle", "MB", IDLE_MB, [memory for _, _, _, memory in prompts])


def _prompt(bench: Bench) -> tuple[float, float, float, float]:
    """Seconds to the first output and to a key that shows, CPU until then, and memory after a second."""
    with Terminal(bench.ours(), bench.cwd, bench.env("say")) as terminal:
        first = terminal.await_output() - terminal.began
        key = terminal.await_key() - terminal.began
        cpu = terminal.cpu()
        terminal.drain(1.0)
        return first, key, cpu, terminal.memory()


def _message(bench: Bench) -> tuple[float, float]:
    """Seconds to the first request at the server, and to its answer on the screen."""
    bench.server.arrivals()
    with Terminal(bench.ours("hello"), bench.cwd, bench.env("say")) as terminal:
        shown = terminal.await_text("Hello.") - terminal.began
        arrivals = bench.server.arrivals()
        if not arrivals:
            raise BenchmarkFailed("an answer without a request")
        return arrivals[0] - terminal.began, shown

"""Processor time of a screen on which nothing moves: after an answer, with the session open. Several at once,
since what is idle disturbs nobody."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench import Bench
from figures import Figure
from terminal import Terminal

BUDGET_MS = 200
BUDGET_WAKES = 6
SECONDS, SECONDS_FULL = 20.0, 60.0


def measure(bench: Bench) -> Iterator[Figure]:
    seconds = SECONDS_FULL if bench.full else SECONDS
    with ExitStack() as stack:
        terminals: list[Terminal] = []
        for _ in range(bench.runs):
            terminal = stack.enter_context(Terminal(bench.ours("hello"), bench.cwd, bench.env("say")))
            terminal.await_text("Hello.")
            terminals.append(terminal)
        _drain(terminals, 2.0)
        before = [_nanoseconds(terminal.pid) for terminal in terminals]
        slept = [_wakes(terminal.pid) for terminal in terminals]
        written = [len(terminal.written) for terminal in terminals]
        _drain(terminals, seconds)
        used = [
            _grown(_nanoseconds(terminal.pid), then) for terminal, then in zip(terminals, before, strict=True)
        ]
        woke = [_grown(_wakes(terminal.pid), then) for terminal, then in zip(terminals, slept, strict=True)]
        said = [len(terminal.written) - then for terminal, then in zip(terminals, written, strict=True)]
    yield Figure(
        f"idle screen, CPU a minute (over {seconds:.0f} s)",
        "ms",
        BUDGET_MS,
        [n / 1e6 * 60 / seconds for n in used],
    )
    yield Figure(
        "idle screen, wake-ups of all its threads a minute",
        "",
        BUDGET_WAKES,
        [60 / seconds * count for count in woke],
    )
    yield Figure(f"idle screen, bytes written in {seconds:.0f} s", "B", 0, said)


def _drain(terminals: list[Terminal], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for terminal in terminals:
            terminal.drain(0.05)


def _wakes(pid: int) -> dict[str, int]:
    """How often each thread has slept and woken."""
    stati = {task.name: task / "status" for task in Path(f"/proc/{pid}/task").iterdir()}
    return {
        name: int(status.read_text(encoding="utf-8").partition("\nvoluntary_ctxt_switches:")[2].split()[0])
        for name, status in stati.items()
    }


def _nanoseconds(pid: int) -> dict[str, int]:
    """Of each thread that still runs: finer than the ticks of /proc/PID/stat."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {
        task.name: int((task / "schedstat").read_text(encoding="utf-8").split(maxsplit=1)[0])
        for task in tasks
    }


def _grown(now: dict[str, int], then: dict[str, int]) -> int:
    """Of threads that are still there: one that has ended takes its count with it."""
    return sum(count - then.get(name, 0) for name, count in now.items())

"""A session of 100,000 facts, opened again on the screen: until its last answer shows, and the memory it takes.
The first opening reads all of it and keeps what it came to; the budget is for those after it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import Bench
from figures import Figure
from terminal import Terminal

OPEN_S, MEMORY_MB = 1, 150
CALLS = 16_000
"""Which leave about 100,000 facts."""
SESSION = "long"


def measure(bench: Bench) -> Iterator[Figure]:
    path = bench.place / "long.db"
    count = bench.inside("resume.py", path, bench.cwd)
    command = bench.ours("--session-db", str(path), "--resume", SESSION)
    first, *_ = _open(bench, command)
    yield Figure(f"resume of {count:,} facts for the first time, to its last answer", "s", None, [first])
    got = [_open(bench, command) for _ in range(bench.runs)]
    yield Figure(
        f"resume of {count:,} facts, to its last answer", "s", OPEN_S, [seconds for seconds, _ in got]
    )
    yield Figure(f"resume of {count:,} facts, memory", "MB", MEMORY_MB, [memory for _, memory in got])


def _open(bench: Bench, command: list[str]) -> tuple[float, float]:
    with Terminal(command, bench.cwd, bench.env("say")) as terminal:
        shown = terminal.await_text("it reads well") - terminal.began
        terminal.drain(1.0)
        return shown, terminal.memory()


def write(path: Path, cwd: str) -> int:
    """How many facts the session then has."""
    from made import session

    from agent_cli.kernel.events import Entry
    from agent_cli.store.sqlite import open_store

    store = open_store(path)
    log = store.create(SESSION, cwd)
    turn, number = 0, 0
    for number, fact in enumerate(session(CALLS), 1):
        turn += type(fact).__name__ == "TurnStarted"
        log.append(Entry(SESSION, number, 1_790_000_000.0 + number, turn, 0, fact))
    store.close()
    return number


if __name__ == "__main__":
    print(json.dumps(write(Path(sys.argv[1]), sys.argv[2])))

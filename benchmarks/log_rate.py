"""How fast facts are recorded (the hub over the session database, one transaction each) and what they take on disk."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import MEGABYTE, Bench
from figures import Figure

EVENTS_A_SECOND, DISK_MB = 5_000, 3
CALLS = 1_000


def measure(bench: Bench) -> Iterator[Figure]:
    got = [bench.inside("log_rate.py") for _ in range(bench.runs)]
    yield Figure("facts recorded a second", "/s", EVENTS_A_SECOND, [ran["rate"] for ran in got], more=True)
    yield Figure("disk for 1,000 calls beyond their results", "MB", DISK_MB, [ran["disk"] for ran in got])


def record(path: Path) -> dict[str, float]:
    from made import RESULT, session

    from agent_cli.engine.clock import SystemClock
    from agent_cli.engine.hub import Hub
    from agent_cli.store.sqlite import open_store

    facts = list(session(CALLS))
    store = open_store(path)
    hub = Hub(store.create("s1", "/project"), SystemClock(), lambda entry: None)
    began = time.perf_counter()
    for fact in facts:
        hub.record(fact)
    seconds = time.perf_counter() - began
    hub.close()
    store.close()
    size = sum(file.stat().st_size for file in path.parent.rglob("*") if file.is_file())
    return {"rate": len(facts) / seconds, "disk": (size - CALLS * len(RESULT)) / MEGABYTE}


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print(json.dumps(record(Path(place) / "sessions.db")))

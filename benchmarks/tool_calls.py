"""What a call costs: a run with twenty, less a run with none, divided by twenty. One call a step, so each
figure holds a request, its answer, the permission, the log and the tool; of `bash` also a shell's start,
which is measured beside it and taken off."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from bench import MODELS, Bench, BenchmarkFailed, Ran
from figures import Figure

CALLS = 20
BUDGET_MS = 5


def measure(bench: Bench) -> Iterator[Figure]:
    things = {f"none, {family}": lambda family=family: _run(bench, "say", 0, family) for family in MODELS}
    for tool in ("read", "bash"):
        for family in MODELS:
            things[f"{tool}, {family}"] = lambda tool=tool, family=family: _run(
                bench, f"{tool}-{CALLS}", CALLS, family
            )
    things["shells"] = lambda: bench.run(["bash", "-c", f"for i in {{1..{CALLS}}}; do bash -c true; done"])
    got = bench.interleaved(things)
    shell = median(ran.cpu for ran in got["shells"])
    for family in MODELS:
        none = got[f"none, {family}"]
        for tool in ("read", "bash"):
            runs, less = got[f"{tool}, {family}"], shell if tool == "bash" else 0.0
            cpu = [(some.cpu - idle.cpu - less) / CALLS * 1e3 for some, idle in zip(runs, none, strict=True)]
            wall = [(some.wall - idle.wall) / CALLS * 1e3 for some, idle in zip(runs, none, strict=True)]
            yield Figure(f"a call of {tool}, {family}, CPU", "ms", BUDGET_MS, cpu)
            yield Figure(f"a call of {tool}, {family}, wall", "ms", None, wall)
    yield Figure("a shell's start, CPU", "ms", None, [ran.cpu / CALLS * 1e3 for ran in got["shells"]])


def _run(bench: Bench, plan: str, calls: int, family: str) -> Ran:
    words = ("-p", "hello", "--permission-mode", "yolo")
    ran = bench.run(bench.ours(*words, family=family), plan, expect="Done." if calls else "Hello.")
    if ran.requests != calls + 1:
        raise BenchmarkFailed(
            f"{plan}: {ran.requests} requests instead of {calls + 1}:\n{ran.output[-2000:]}"
        )
    return ran

"""Ten small jobs through the real command, with the embedded model.

    python -m benchmarks.local_tasks [--model 1.5b] [--model 0.5b] [--task NAME]

Each job runs `agent-cli -p` in a scratch directory of its own, so every figure includes the start of the
process and of the model. A job counts only if the check by code in `tasks.py` says so. Writes results.md
unless only some of the jobs were run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.local_tasks.tasks import TASKS, Ran, Task, prepare

RESULTS = Path(__file__).parent / "results.md"
ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS = 600


class Row(NamedTuple):
    """`seconds` are of the whole process. `ending` is how the turn ended, or why it did not."""

    task: str
    ok: bool
    steps: int
    seconds: float
    tools: list[str]
    ending: str
    answer: str


def run(task: Task, model: str) -> Row:
    with tempfile.TemporaryDirectory(prefix="local-task-") as scratch:
        root = Path(scratch).resolve()
        prepare(root)
        started = time.monotonic()
        events, failure = ask(task.prompt, model, root)
        seconds = time.monotonic() - started
        tools = [event["tool"] for event in events if event["type"] == "tool-call-started"]
        result = next((event for event in events if event["type"] == "result"), {})
        answer = result.get("answer") or ""
        ok = task.check(Ran(root, tools, answer))
    ending = failure or str(result.get("outcome", "no result"))
    return Row(task.name, ok, result.get("steps", 0), seconds, tools, ending, answer)


def ask(prompt: str, model: str, root: Path) -> tuple[list[dict], str]:
    """The events of one run of the command, and what went wrong with the process ("": nothing)."""
    command = [sys.executable, "-m", "agent_cli", "-p", prompt, "--provider", "local", "--model", model]
    command += ["--permission-mode", "yolo", "--ephemeral", "--output-format", "stream-json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        ended = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [], f"over {MOST_SECONDS} s"
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    return events, "" if ended.returncode == 0 else f"exit {ended.returncode}: {ended.stderr.strip()[-200:]}"


def table(model: str, rows: list[Row], load: float) -> str:
    passed, seconds = sum(row.ok for row in rows), sum(row.seconds for row in rows)
    lines = [
        f"## {model}: {passed} of {len(rows)}, {seconds / len(rows):.1f} s each",
        "",
        f"Load while it ran: {load:.1f}.",
        "",
        "| task | ok | steps | seconds | tool calls |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        how = "" if row.ending == "completed" else f" ({row.ending})"
        mark = "yes" if row.ok else "**no**"
        lines.append(
            f"| {row.task} | {mark}{how} | {row.steps} | {row.seconds:.1f} | {', '.join(row.tools)} |"
        )
    wrong = [f"- {row.task} answered: {row.answer[:200]!r}" for row in rows if not row.ok]
    return "\n".join([*lines, *(["", *wrong] if wrong else [])])


def about() -> str:
    """What was run, when, and on which machine."""
    from agent_cli import __version__

    return (
        f"agent-cli {__version__}, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} CPUs ({platform.machine()}), "
        f"Python {platform.python_version()}."
    )


def head() -> str:
    return (
        "# Ten small jobs with the embedded model\n\n"
        f"{about()} Greedy sampling; one run of each job by `python -m "
        "benchmarks.local_tasks`: the real command, a process and a model start for each job. The jobs and "
        "their checks: tasks.py. The prompt of the small-model profile was tuned with these jobs in view, so "
        "they show that it works, not how it compares."
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.local_tasks")
    parser.add_argument(
        "--model", action="append", help="1.5b (the default), 0.5b, or a .gguf file; repeatable"
    )
    parser.add_argument("--task", action="append", choices=[task.name for task in TASKS], help="repeatable")
    options = parser.parse_args()
    sections = [head()]
    for model in options.model or ["1.5b"]:
        rows: list[Row] = []
        loads: list[float] = []
        for task in TASKS:
            if options.task and task.name not in options.task:
                continue
            rows.append(run(task, model))
            loads.append(os.getloadavg()[0])
            print(f"{model} {'ok  ' if rows[-1].ok else 'FAIL'} {rows[-1]}", flush=True)
        sections.append(table(model, rows, sum(loads) / len(loads)))
        print(f"\n{sections[-1]}\n", flush=True)
    if not options.task:
        RESULTS.write_text("\n\n".join(sections) + "\n")


if __name__ == "__main__":
    main()

"""One job that does not fit the window of the embedded model: it has to be reduced five times at least.

    python -m benchmarks.local_tasks.long [--model 1.5b] [--model 0.5b] [--files 8] [--length 5200] [--window 8192]

Text files are read one after the other until one holds a password. Two of them fill what a conversation in 8,192 tokens
may take before it is reduced, so that every file from the second on is followed by a reduction. Writes long.md, unless
length or window are other ones.

The model is shown 2,400 characters of each file at most, so that no results overfill its own window. With
`--files 18 --length 1000 --window 4096` all of what is read is shown, and is more than the window.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.local_tasks.__main__ import ROOT, about

RESULTS = Path(__file__).parent / "long.md"
PASSWORD = "marzipan-4711"
LENGTH = 5_200
WINDOW = 8_192
MOST_SECONDS = 7_200
ENOUGH = 5
REQUEST = (
    "One of the files part01.txt, part02.txt and so on holds a password. Read them one after the other, in order, "
    "until you find it, and tell me the password. Do not use grep."
)
NOTES = [
    "harbour",
    "engine",
    "lantern",
    "meadow",
    "copper",
    "river",
    "ladder",
    "orchard",
    "signal",
    "castle",
    "window",
    "bridge",
    "garden",
    "pepper",
]
DOES = [
    "carries",
    "follows",
    "answers",
    "mirrors",
    "forgets",
    "measures",
    "paints",
    "repairs",
    "guards",
    "counts",
]


class Job(NamedTuple):
    """So many files of so many characters, in a window of so many tokens."""

    files: int = 8
    length: int = LENGTH
    window: int = WINDOW


class Row(NamedTuple):
    """`largest` is the largest prompt in tokens, `refused` how many requests were not answered."""

    model: str
    solved: bool
    outcome: str
    steps: int
    reductions: Counter[str]
    largest: int
    refused: int
    seconds: float
    answer: str


def prose(chance: random.Random, length: int) -> str:
    """Lines that say nothing of any use."""
    text = ""
    while len(text) < length:
        one, two, three = (chance.choice(NOTES) for _ in range(3))
        text += f"The {one} {chance.choice(DOES)} the {two} by the {three}. "
    return "\n".join(text[at : at + 90] for at in range(0, len(text), 90)) + "\n"


def prepare(root: Path, job: Job) -> None:
    chance = random.Random(5)
    for number in range(1, job.files + 1):
        last = number == job.files
        told = (
            f"The password is {PASSWORD}."
            if last
            else f"There is no password in this file. Look in part{number + 1:02}.txt next."
        )
        (root / f"part{number:02}.txt").write_text(f"{prose(chance, job.length - len(told))}{told}\n")


def run(model: str, job: Job) -> Row:
    with tempfile.TemporaryDirectory(prefix="local-long-") as scratch:
        root = Path(scratch).resolve()
        prepare(root, job)
        out = root.with_suffix(".jsonl")
        command = [sys.executable, "-m", "agent_cli", "-p", REQUEST, "--provider", "local", "--model", model]
        command += ["--permission-mode", "yolo", "--ephemeral", "--output-format", "stream-json"]
        command += ["--context-window", str(job.window)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        started = time.monotonic()
        with out.open("w") as events:
            subprocess.run(
                command, cwd=root, env=environment, stdout=events, timeout=MOST_SECONDS, check=False
            )
        seconds = time.monotonic() - started
        found = [json.loads(line) for line in out.read_text().splitlines()]
        out.unlink()
    return row_of(model, found, seconds)


def row_of(model: str, events: list[dict[str, Any]], seconds: float) -> Row:
    result = next((event for event in events if event["type"] == "result"), {})
    usages = [event["usage"] for event in events if event["type"] == "usage"]
    answer = result.get("answer") or ""
    return Row(
        model,
        PASSWORD in answer,
        str(result.get("outcome", "no result")),
        sum(event["type"] == "step-started" for event in events),
        Counter(event["mode"] for event in events if event["type"] == "compaction-performed"),
        max((usage["input"] + usage["cache_read"] for usage in usages), default=0),
        sum(event["type"] == "retry" for event in events),
        seconds,
        answer,
    )


def table(rows: list[Row], job: Job) -> str:
    lines = [
        "# A job that does not fit the window, with the embedded model",
        "",
        (
            f"{about()} `python -m benchmarks.local_tasks.long`: {job.files} files of {job.length:,} characters are "
            f"read one after the other until one holds a password; the window has {job.window:,} tokens, and a conversation is reduced at 35 % of it."
        ),
        "",
        "| model | password found | how the turn ended | steps | reductions | largest prompt | requests refused | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        made = ", ".join(f"{count} {mode}" for mode, count in sorted(row.reductions.items()))
        lines.append(
            f"| {row.model} | {'yes' if row.solved else 'no'} | {row.outcome} | {row.steps} | "
            f"{row.reductions.total()} ({made}) | {row.largest:,} | {row.refused} | {row.seconds:.0f} |"
        )
    wrong = [f"- {row.model} answered: {row.answer[:200]!r}" for row in rows if not row.solved]
    return "\n".join([*lines, *(["", *wrong] if wrong else [])]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.local_tasks.long")
    parser.add_argument("--model", action="append", help="1.5b, 0.5b, or a .gguf file; repeatable")
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--length", type=int, default=LENGTH, help="characters of each file")
    parser.add_argument("--window", type=int, default=WINDOW, help="tokens")
    options = parser.parse_args()
    job = Job(options.files, options.length, options.window)
    rows: list[Row] = []
    for model in options.model or ["1.5b", "0.5b"]:
        rows.append(run(model, job))
        print(rows[-1], flush=True)
    if (job.length, job.window) == (LENGTH, WINDOW):
        RESULTS.write_text(table(rows, job))
    else:
        print(table(rows, job))
    short = [row.model for row in rows if row.reductions.total() < ENOUGH]
    if short:
        sys.exit(f"fewer than {ENOUGH} reductions with {', '.join(short)}: give more --files")


if __name__ == "__main__":
    main()

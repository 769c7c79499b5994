"""Streams Markdown into the screen, headless, and prints what that cost as one JSON object.

    python benchmarks/tui_stream.py [--tokens 20000] [--rate 1000] [--history 0] [--shape mixed|fence] [--keys]

A token is four characters, a piece is five tokens. `cpu_s` is the CPU time of the process while it streams;
`worst_frame_s` the longest time that a frame took, with Textual's layout and painting; `worst_lag_s` the longest
time that the event loop did not answer; `key_p95_s` the time from a key to its frame. The text is the same in
every run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text
from agent_cli.talk.door import Welcome
from agent_cli.tui.app import AgentApp
from tests.fakes.session import FakeSession

WORDS = [
    "the",
    "parser",
    "reads",
    "a",
    "token",
    "and",
    "builds",
    "the",
    "tree",
    "while",
    "every",
    "node",
    "keeps",
    "its",
    "place",
    "in",
    "the",
    "source",
    "so",
    "that",
    "errors",
    "name",
    "the",
    "line",
    "where",
    "they",
    "were",
    "found",
    "and",
    "the",
    "caller",
    "can",
    "show",
    "it",
    "to",
    "the",
    "person",
    "who",
    "wrote",
    "the",
    "text",
]
CODE = """\
def load(path: str, *, strict: bool = False) -> dict[str, int]:
    \"\"\"Reads one file.\"\"\"
    counts: dict[str, int] = {}
    for number, line in enumerate(open(path), 1):
        name, _, value = line.partition("=")
        if strict and not value:
            raise ValueError(f"line {number}: no value")  # told to the operator
        counts[name.strip()] = int(value or 0)
    return counts
"""


def mixed(characters: int) -> str:
    """Headings, paragraphs, lists, fences and tables in turn."""
    dice = random.Random(7)
    parts: list[str] = []
    size = 0

    def sentence(count: int) -> str:
        return " ".join(dice.choice(WORDS) for _ in range(count))

    while size < characters:
        number = len(parts)
        part = (
            f"## Part {number}: {sentence(4)}",
            f"{sentence(30)}, **{sentence(3)}** and `{sentence(1)}()`; {sentence(25)} *{sentence(2)}*.",
            "\n".join(f"- {sentence(9)} with `{sentence(1)}`" for _ in range(5)),
            f"```python\n{CODE}```",
            f"{sentence(60)}.",
            "\n".join(f"{at}. {sentence(12)}" for at in range(1, 5)),
            "| name | meaning | count |\n|---|---|--:|\n"
            + "\n".join(f"| {sentence(1)} | {sentence(6)} | {dice.randint(1, 999)} |" for _ in range(5)),
            f"> {sentence(20)}",
        )[number % 8]
        parts.append(part)
        size += len(part) + 2
    return "\n\n".join(parts)[:characters]


def fence(characters: int) -> str:
    return ("```python\n" + CODE * (characters // len(CODE) + 1))[: characters - 4] + "\n```"


async def lag(worst: list[float]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        before = loop.time()
        await asyncio.sleep(0.002)
        worst.append(loop.time() - before - 0.002)


async def typing(app: AgentApp, took: list[float]) -> None:
    """One key after the other, each timed until the frame behind it."""
    composer = app.conversation.composer
    while True:
        await asyncio.sleep(0.05)
        done = asyncio.Event()
        begun = time.perf_counter()
        composer.insert("x")
        composer.call_after_refresh(done.set)
        await done.wait()
        took.append(time.perf_counter() - begun)


async def measure(options: argparse.Namespace) -> dict[str, float]:
    session = FakeSession()
    earlier = mixed(4_000)
    for _ in range(options.history):
        session.play(
            ev.OperatorMessage((Text("go on"),)),
            ev.AssistantMessage((Text(earlier),), "fake", "fake", "stop"),
        )
    text = (mixed if options.shape == "mixed" else fence)(options.tokens * 4)

    async def opened() -> FakeSession:
        return session

    app = AgentApp(opened, welcome=Welcome())
    async with app.run_test(size=(120, 40)) as pilot:
        while app.session is None or app.conversation.feed.frames < 1 + bool(options.history):
            await pilot.pause()
        await asyncio.sleep(1.5)  # the renderers are being imported
        session.play(ev.TurnStarted("fake"), ev.OperatorMessage((Text("begin"),)), ev.StepStarted("fake"))
        await pilot.pause()
        lags: list[float] = []
        keys: list[float] = []
        watching = [asyncio.create_task(lag(lags))]
        if options.keys:
            watching.append(asyncio.create_task(typing(app, keys)))
        frames, cpu, begun = app.conversation.feed.frames, time.process_time(), time.perf_counter()
        worst = 0.0
        for number, at in enumerate(range(0, len(text), 20)):
            session.play(ev.TextDelta(text[at : at + 20]))
            due = begun + (number + 1) * 5 / options.rate
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            worst = max(worst, app.conversation.feed.cost)
        session.play(
            ev.AssistantMessage((Text(text),), "fake", "fake", "stop"), ev.TurnCompleted("completed", "stop")
        )
        await asyncio.sleep(0.3)
        worst = max(worst, app.conversation.feed.cost)
        result = {
            "tokens": options.tokens,
            "history": options.history,
            "cpu_s": round(time.process_time() - cpu, 2),
            "wall_s": round(time.perf_counter() - begun, 2),
            "frames": app.conversation.feed.frames - frames,
            "worst_frame_s": round(worst, 4),
            "worst_lag_s": round(max(lags), 4),
            "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        }
        if keys:
            result["key_p95_s"] = round(sorted(keys)[int(len(keys) * 0.95)], 4)
        for task in watching:
            task.cancel()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=1_000, help="tokens a second")
    parser.add_argument("--history", type=int, default=0, help="earlier answers of 4,000 characters")
    parser.add_argument("--shape", choices=("mixed", "fence"), default="mixed")
    parser.add_argument("--keys", action="store_true", help="type while it streams")
    print(json.dumps(asyncio.run(measure(parser.parse_args()))))


if __name__ == "__main__":
    main()

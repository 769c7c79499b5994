"""Hours on one screen, without a terminal: turns of text and tools, one after the other, and what each tenth of them cost.

    python benchmarks/tui_soak.py [--items 10000] [--tokens 2000000] [--rate 10000]

Prints one JSON object: for every tenth of the run the CPU seconds a thousand tokens took, the 95th percentile of
the time of a frame (CPU), and the memory at its end. Three hours of work are 10,000 items of the transcript and
2 million tokens; the rate only says how fast they are played.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import msgspec
from prose import mixed_markdown, pieces

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.talk.door import Welcome
from agent_cli.tui.app import AgentApp
from tests.fakes.session import FakeSession

TENTHS = 10
CALLS = 6
"""In a turn; with the operator's message and two of the model's that makes nine items, and a rule between turns."""


class Shelf:
    """The facts of the session as a database has them: on disk, not in the memory of the screen."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places = array("Q", [0])

    def append(self, entry: ev.Entry, /) -> None:
        self._file.seek(0, os.SEEK_END)
        self._file.write(msgspec.json.encode(entry))
        self._places.append(self._file.tell())

    def __len__(self) -> int:
        return len(self._places) - 1

    def __iter__(self) -> Iterator[ev.Entry]:
        return iter(self[:])

    def __getitem__(self, part: slice, /) -> list[ev.Entry]:
        return [self._read(at) for at in range(*part.indices(len(self)))]

    def _read(self, at: int) -> ev.Entry:
        self._file.seek(self._places[at])
        return msgspec.json.decode(self._file.read(self._places[at + 1] - self._places[at]), type=ev.Entry)


def resident() -> float:
    """MB that the process holds now."""
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


async def turn(
    session: FakeSession, number: int, text: str, rate: float, costs: list[float], app: AgentApp
) -> None:
    session.play(
        ev.TurnStarted("fake"), ev.OperatorMessage((Text(f"Task {number}: go on"),)), ev.StepStarted("fake")
    )
    calls = tuple(
        ToolCall(f"c{number}-{at}", "grep", {"pattern": f"name_{number}_{at}"}) for at in range(CALLS)
    )
    session.play(ev.AssistantMessage((Text("I look at it first."), *calls), "fake", "fake", "tool_use"))
    for at, call in enumerate(calls):
        found = "\n".join(f"src/part_{line}.py:{line}: name_{number}_{at} = {line}" for line in range(40))
        session.play(
            ev.ToolCallProposed(call),
            ev.ToolCallStarted(call.call_id, call.name, f"name_{number}_{at}", "mode"),
            ev.ToolReturned(
                call.call_id, call.name, ev.Output((Text(found),)), executed=True, duration_s=0.1
            ),
        )
    session.play(ev.StepStarted("fake"))
    begun, frames = time.perf_counter(), app.conversation.feed.frames
    for count, piece in enumerate(pieces(text), 1):
        session.play(ev.TextDelta(piece))
        await asyncio.sleep(max(begun + count * 5 / rate - time.perf_counter(), 0))
        if app.conversation.feed.frames != frames:
            frames = app.conversation.feed.frames
            costs.append(app.conversation.feed.cost)
    session.play(
        ev.AssistantMessage((Text(text),), "fake", "fake", "stop"), ev.TurnCompleted("completed", "stop")
    )
    await asyncio.sleep(0)


async def measure(options: argparse.Namespace, session: FakeSession) -> dict[str, list[float]]:
    async def opened() -> FakeSession:
        return session

    turns = max(options.items // (CALLS + 4), TENTHS)
    text = mixed_markdown(options.tokens // turns)
    app = AgentApp(opened, welcome=Welcome())
    result: dict[str, list[float]] = {"cpu_s": [], "frame_p95_s": [], "rss_mb": []}
    async with app.run_test(size=(120, 40)) as pilot:
        while app.session is None:
            await pilot.pause()
        await asyncio.sleep(1.5)  # the renderers are being imported
        for tenth in range(TENTHS):
            cpu, costs = time.process_time(), [0.0]
            each = range(tenth * turns // TENTHS, (tenth + 1) * turns // TENTHS)
            for number in each:
                await turn(session, number, text, options.rate, costs, app)
            thousands = len(each) * options.tokens / turns / 1_000
            result["cpu_s"].append(round((time.process_time() - cpu) / thousands, 4))
            result["frame_p95_s"].append(round(sorted(costs)[int(len(costs) * 0.95)], 4))
            result["rss_mb"].append(round(resident(), 1))
            print(tenth, *(found[-1] for found in result.values()), file=sys.stderr, flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--tokens", type=int, default=2_000_000)
    parser.add_argument("--rate", type=float, default=10_000, help="tokens a second")
    with tempfile.TemporaryFile() as file:
        print(json.dumps(asyncio.run(measure(parser.parse_args(), FakeSession(log=Shelf(file))))))


if __name__ == "__main__":
    main()

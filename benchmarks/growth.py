"""What request n+1 costs: over 1,000 steps of one turn, the last 100 against the first 100.

The engine, the view, the session database and the encoding of Anthropic's requests, with a tool that returns 1 KB;
the bytes go nowhere, so sending them is not in it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import Bench
from figures import Figure

GROWTH = 1.5
STEPS, ENDS = 1_000, 100


def measure(bench: Bench) -> Iterator[Figure]:
    got = [bench.inside("growth.py") for _ in range(min(bench.runs, 3))]
    yield Figure(
        "CPU of the last 100 of 1,000 steps / the first 100", "", GROWTH, [ran["growth"] for ran in got]
    )
    yield Figure("CPU a step, the last 100", "ms", None, [ran["step_ms"] for ran in got])


def run(path: Path) -> dict[str, float]:
    from agent_cli.context.budget import Compaction
    from agent_cli.engine.clock import SystemClock
    from agent_cli.engine.parts import Parts
    from agent_cli.engine.session import Session
    from agent_cli.kernel.commands import Say
    from agent_cli.kernel.events import Finished, Output, Piece, SessionStarted
    from agent_cli.kernel.messages import Prompt, Text, ToolCall, ToolSpec
    from agent_cli.kernel.usage import ModelCard, Usage
    from agent_cli.kernel.wire import Arguments
    from agent_cli.ports import Facts, OpenModel, Ruling, Touches
    from agent_cli.providers.anthropic import Group, encode
    from agent_cli.providers.memo import Memo
    from agent_cli.store.sqlite import open_store

    card = ModelCard("claude-sonnet-5", "anthropic", window=10_000_000, max_output=8_000, free=True)
    times: list[float] = []

    class Encoding:
        name = "anthropic"
        memo: Memo[Group] = Memo()

        async def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
            encode(prompt, card, memo=self.memo)
            times.append(time.process_time())
            number = len(times)
            usage = Usage(input=number, output=5)
            if number > STEPS:
                yield Finished((Text("done"),), usage, card.id)
            else:
                yield Finished((ToolCall(f"c{number}", "look", {}),), usage, card.id, "tool-calls")

        async def close(self) -> None: ...

    class Look:
        spec = ToolSpec("look", "Looks.", {"type": "object", "properties": {}})
        arguments = Arguments
        read_only, bounded = True, False

        def touches(self, args: Any, /) -> Touches:
            return Touches("none", "")

        def preview(self, args: Any, /) -> None: ...

        async def run(self, args: Any, say: Any, /) -> Output:
            return Output((Text(f"{len(times)} " + "x" * 1_000),))

    class Only:
        def open(self, name: str, /) -> OpenModel:
            return OpenModel(Encoding(), card)

    store = open_store(path)
    parts = Parts(
        log=store.create("s1", "/p"),
        clock=SystemClock(),
        models=Only(),
        model=OpenModel(Encoding(), card),
        started=SessionStarted("/p", "0", "linux", "2026-11-30", "anthropic", card.id, "yolo"),
        system=lambda started, card: ("You look.",),
        tools=lambda card: {"look": Look()},
        judge=lambda proposal, facts: Ruling("allow", "all", ""),
        suggest=lambda proposal, scope: "",
        remember=lambda rule: None,
        facts=Facts("yolo", False, ()),
        compaction=Compaction(enabled=False),
        on_close=store.close,
    )

    async def turn() -> None:
        session = Session(parts)
        session.send(Say((Text("go"),)))
        await session.idle()
        await session.close()

    asyncio.run(turn())
    first, last = times[ENDS] - times[0], times[-1] - times[-1 - ENDS]
    return {"growth": last / first, "step_ms": last / ENDS * 1_000}


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print(json.dumps(run(Path(place) / "sessions.db")))

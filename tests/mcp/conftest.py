from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from agent_cli.guardrails.breaker import Breakers
from agent_cli.kernel.outputs import Output, as_text
from agent_cli.kernel.serving import Standing, asking
from agent_cli.mcp.hub import Hub
from agent_cli.mcp.servers import Server, Stdio

RAW = Path(__file__).parents[1] / "fakes" / "mcp_server.py"


def raw(way: str = "plain", file: str | Path = "", *, name: str = "raw", **more: Any) -> Server:
    """A server of ours that misbehaves in that way."""
    launch = Stdio(sys.executable, ("-I", "-S", str(RAW), way, str(file)), {"PATH": "/usr/bin:/bin"}, "/")
    return Server(name, launch, **more)


class Served:
    """A hub with what tests ask of it."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.shown: list[str] = []

    def standing(self, name: str = "raw") -> Standing:
        return next(one for one in self.hub.standings() if one.name == name)

    async def call(self, tool: str, ask: Any = None, window: int | None = None, **arguments: Any) -> Output:
        mark = asking.set(ask)
        try:
            return await self.hub.tools(window)[tool].run(arguments, self.shown.append)
        finally:
            asking.reset(mark)

    async def text(self, tool: str, **arguments: Any) -> str:
        return as_text(await self.call(tool, **arguments))

    async def until(self, there: Callable[[], bool]) -> None:
        async with asyncio.timeout(15):
            while not there():  # noqa: ASYNC110 - another thread brings it about
                await asyncio.sleep(0.01)


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Coroutine[Any, Any, Served]]]:
    """Starts servers, and waits until each is there or has failed."""
    hubs: list[Hub] = []

    async def start(
        *servers: Server, breakers: Breakers | None = None, settle: bool = True, **more: Any
    ) -> Served:
        hub = Hub(servers, wait=20, breakers=breakers or Breakers(), **more)
        hubs.append(hub)
        hub.start()
        if settle:
            await hub.settle()
        return Served(hub)

    yield start
    for hub in hubs:
        await hub.close()

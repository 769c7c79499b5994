"""Agents whose places a test decides, and a model that is played by what it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from agent_cli.engine.own_tools.book import AGENTS
from agent_cli.engine.session import Session
from agent_cli.engine.staff import Staff, Station
from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.messages import Prompt, text_of
from tests.fakes.clock import FakeClock
from tests.fakes.models import Playing, Reply, says, wants
from tests.fakes.sessions import open_session
from tests.fakes.tools import FakeTool

WRITER = AgentDefinition("writer", "writes", "You write.")
READER = AgentDefinition("reader", "reads", "You read.", tools=("read_file",), mode="plan")


class Answering(Playing):
    """Each conversation has a script of its own, found by what its first message holds; "" is the session's."""

    def __init__(self, **scripts: list[Reply]) -> None:
        super().__init__()
        self.scripts = scripts

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        said = text_of(prompt.messages[0].parts)
        name = next((name for name in self.scripts if name in said), "main")
        self.replies = self.scripts[name]
        async for piece in super().stream(prompt):
            yield piece

    def prompts(self, name: str) -> list[Prompt]:
        return [prompt for prompt in self.asked if name in text_of(prompt.messages[0].parts)]


class Gate:
    """Holds an answer until the test lets it go."""

    def __init__(self, reply: ev.Finished) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        self._reply = reply

    async def __call__(self, playing: Playing) -> AsyncGenerator[ev.Piece | ev.Finished, None]:
        self.reached.set()
        await self.open.wait()
        yield self._reply


class Places:
    """Stations: which were opened, and which were left."""

    def __init__(self, leaves: Callable[[str], str] = lambda name: "") -> None:
        self.opened: list[str] = []
        self.left: list[str] = []
        self._leaves = leaves

    async def station(self, agent: AgentDefinition, name: str) -> Station:
        self.opened.append(name)

        async def leave() -> str:
            self.left.append(name)
            return self._leaves(name)

        return Station(lambda card, base: base, leave)


def staff(*agents: AgentDefinition, places: Places | None = None, most: int = 4, depth: int = 1) -> Staff:
    return Staff(
        agents or (READER, WRITER),
        lambda agent, started, card: f"{agent.instructions} You are in {started.cwd}.",
        (places or Places()).station,
        most,
        depth,
    )


def session_with(provider: Playing, *tools: FakeTool, **changes: Any) -> Session:
    """The tools for agents, and those that are given."""
    changes = {"staff": staff(), "own_tools": frozenset(AGENTS), "clock": FakeClock(), **changes}
    return open_session(provider, *tools, **changes)


def spawns(*tasks: str, agent: str = "writer", **more: object) -> ev.Finished:
    return wants(*[("spawn_agent", {"agent": agent, "task": task, **more}) for task in tasks])


def sends(*tasks: str, agent: str = "writer") -> ev.Finished:
    """The same into the background."""
    return spawns(*tasks, agent=agent, background=True)


__all__ = [
    "READER",
    "WRITER",
    "Answering",
    "Gate",
    "Places",
    "says",
    "sends",
    "session_with",
    "spawns",
    "staff",
    "wants",
]

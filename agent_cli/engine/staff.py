"""The agents of a session as `compose` gives them: who there is, what they are told, and where they work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, TypeAlias

from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.events import SessionStarted
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import Tool

Tools: TypeAlias = Mapping[str, Tool]


async def _nothing() -> str:
    return ""


class Station(NamedTuple):
    """Where an agent works. `tools` makes its own of those that the session offers to that model: it has read nothing yet.

    `cwd` and `root` are "" for the session's own; else it may write in `root` alone. `leave` ends what runs there and
    gives what is to be told of it.
    """

    tools: Callable[[ModelCard, Tools], Tools]
    leave: Callable[[], Awaitable[str]] = _nothing
    cwd: str = ""
    root: str = ""


def _no_more(_name: str) -> str:
    return ""


class Staff(NamedTuple):
    """`most` agents work at once, `depth` deep: at 1 an agent starts none. `system` gives an agent's system prompt,
    `station` its place by the name that this run of it has; it raises AgentError. `after` leaves the place of one that
    ended with its process, and gives what is to be told of it, "" where nothing is known.
    """

    offered: tuple[AgentDefinition, ...]
    system: Callable[[AgentDefinition, SessionStarted, ModelCard], str]
    station: Callable[[AgentDefinition, str], Awaitable[Station]]
    most: int = 4
    depth: int = 1
    after: Callable[[str], str] = _no_more

    def find(self, name: str) -> AgentDefinition | None:
        return next((each for each in self.offered if each.name == name), None)

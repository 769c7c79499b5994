"""What servers of tools (MCP) are, as people see them, and how a tool asks a person while it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Literal, Protocol, TypeAlias

from agent_cli.kernel.messages import Block
from agent_cli.kernel.values import Plain

ServerState: TypeAlias = Literal["starting", "ready", "failed", "off"]

Ask: TypeAlias = Callable[[str, tuple[str, ...]], Awaitable[str | None]]
"""A question with answers to choose from; None where nobody answers, or does not want to."""

asking: ContextVar[Ask | None] = ContextVar("asking", default=None)
"""How the tool that runs asks the operator something, None where it cannot."""


class ServedPrompt(Plain, frozen=True):
    """`required` are those of its `arguments` that must be given."""

    server: str
    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


class ServedResource(Plain, frozen=True):
    server: str
    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""


class Standing(Plain, frozen=True):
    """One server now. `where` is its command line or address, `origin` the file that names it.

    `tools` are names as the model has them with what each does; `left_out` says of others why they are not offered.
    `problem` is the last thing that went wrong, "" for nothing; `log` the file of what it says by itself.
    """

    name: str
    state: ServerState
    where: str
    origin: str = ""
    tools: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()
    prompts: int = 0
    resources: int = 0
    restarts: int = 0
    problem: str = ""
    log: str = ""
    by_search: bool = False


class Served(Protocol):
    """The servers of a session, as front ends see them."""

    def standings(self) -> tuple[Standing, ...]: ...
    def prompts(self) -> tuple[ServedPrompt, ...]: ...
    def resources(self) -> tuple[ServedResource, ...]: ...

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str], /) -> tuple[Block, ...]:
        """What a prompt says, filled in. Raises AgentError."""
        ...

    async def read(self, server: str, uri: str, /) -> tuple[Block, ...]:
        """A resource. Raises AgentError."""
        ...

    def reconnect(self, server: str, /) -> None:
        """Starts it anew. Raises AgentError."""
        ...

"""What the engine asks of hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from agent_cli.hooks.hook import HookEvent
from agent_cli.hooks.said import Heard


class Hooks(Protocol):
    """The operator's hooks. Nothing here raises; who cancels `run` ends the programs."""

    def wants(self, event: HookEvent, tool: str = "", /) -> bool:
        """Whether any hook is about that."""
        ...

    async def run(self, event: HookEvent, facts: Mapping[str, Any], tool: str = "", /) -> Heard:
        """Asks one after the other, each with the arguments as the one before left them."""
        ...

    def later(self, facts: Mapping[str, Any], /) -> None:
        """A notification: nobody waits for it."""
        ...

    async def close(self) -> None:
        """Ends what still runs."""
        ...

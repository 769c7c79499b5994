"""A tool around another tool."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from agent_cli.kernel.events import Display, Output
from agent_cli.kernel.messages import ToolSpec
from agent_cli.ports import Say, Tool, Touches


@runtime_checkable
class Foreseeing(Protocol):
    """A tool that knows before it is run that a call cannot succeed as the world is now."""

    def foreseen(self, args: Any, /) -> str:
        """Why, in words for the model; "" where it may succeed. May read files, changes nothing."""
        ...


class Around:
    """A tool that stands around another one and is like it, but for what a subclass says otherwise."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    @property
    def spec(self) -> ToolSpec:
        return self._tool.spec

    @property
    def arguments(self) -> type[Any]:
        return self._tool.arguments

    @property
    def read_only(self) -> bool:
        return self._tool.read_only

    @property
    def bounded(self) -> bool:
        return self._tool.bounded

    def touches(self, args: Any, /) -> Touches:
        return self._tool.touches(args)

    def preview(self, args: Any, /) -> Display | None:
        return self._tool.preview(args)

    def foreseen(self, args: Any, /) -> str:
        return self._tool.foreseen(args) if isinstance(self._tool, Foreseeing) else ""

    async def run(self, args: Any, say: Say, /) -> Output:
        return await self._tool.run(args, say)

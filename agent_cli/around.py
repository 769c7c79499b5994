"""A tool around another tool."""

from __future__ import annotations

from typing import Any

from agent_cli.kernel.events import Display, Output
from agent_cli.kernel.messages import ToolSpec
from agent_cli.ports import Say, Tool, Touches


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

    async def run(self, args: Any, say: Say, /) -> Output:
        return await self._tool.run(args, say)

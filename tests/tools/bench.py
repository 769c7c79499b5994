"""The tools over a directory, called as the engine calls them: touches first, then run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_cli.kernel import wire
from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Output, as_text
from agent_cli.ports import Tool, Touches
from agent_cli.tools.builtin import builtin
from agent_cli.tools.workspace import Workspace


class Bench:
    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        self.workspace = Workspace(root)
        self.tools: dict[str, Tool] = {tool.spec.name: tool for tool in builtin(self.workspace, **options)}
        self.said: list[str] = []

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def args(self, name: str, **given: Any) -> Any:
        return wire.arguments(self.tools[name].arguments, given)

    def touches(self, name: str, **given: Any) -> Touches:
        return self.tools[name].touches(self.args(name, **given))

    async def call(self, name: str, **given: Any) -> Output:
        args = self.args(name, **given)
        self.tools[name].touches(args)
        return await self.tools[name].run(args, self.said.append)

    async def text(self, name: str, **given: Any) -> str:
        return as_text(await self.call(name, **given))

    async def refused(self, name: str, **given: Any) -> str:
        with pytest.raises(ToolError) as caught:
            await self.call(name, **given)
        return str(caught.value)

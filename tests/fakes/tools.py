"""Tools whose work a test decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from agent_cli.kernel.events import Display, Output, Shown
from agent_cli.kernel.messages import Text, ToolSpec
from agent_cli.kernel.wire import Arguments, describe, schema_of
from agent_cli.ports import PathUse, Say, Touches


class PathArguments(Arguments, frozen=True):
    path: Annotated[str, describe("a path")]
    note: str = ""


class FakeTool:
    """`work` is called with the path; its text is the result."""

    arguments = PathArguments

    def __init__(
        self,
        name: str,
        work: Callable[[str, Say], Awaitable[str]] | None = None,
        *,
        read_only: bool = True,
        bounded: bool = False,
    ) -> None:
        self.spec = ToolSpec(name, f"The {name} tool.", schema_of(PathArguments))
        self.read_only = read_only
        self.bounded = bounded
        self.ran: list[str] = []
        self.running = 0
        self.most_running = 0
        self._work = work

    def touches(self, args: PathArguments, /) -> Touches:
        effect = "read" if self.read_only else "write"
        return Touches(effect, args.path, (PathUse(f"/p/{args.path}", "r" if self.read_only else "w"),))

    def preview(self, args: PathArguments, /) -> Display | None:
        return Shown(f"{self.spec.name} {args.path}")

    async def run(self, args: PathArguments, say: Say, /) -> Output:
        self.ran.append(args.path)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            text = await self._work(args.path, say) if self._work else f"content of {args.path}"
        finally:
            self.running -= 1
        return Output((Text(text),), changed=() if self.read_only else (args.path,))


async def never(path: str, say: Say) -> str:
    """Work that ends only when it is cancelled."""
    await asyncio.Event().wait()
    return path

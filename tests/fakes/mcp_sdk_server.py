"""A server of tools made with the SDK, as most are."""

import asyncio
from typing import Annotated

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("made with the SDK")


class Who(BaseModel):
    name: str


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def grow(ctx: Context) -> str:
    """Offers one more tool from now on."""

    def more() -> str:
        """Says more."""
        return "more"

    server.add_tool(more)
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
async def count(ctx: Context) -> str:
    """Says how far it is."""
    for at in range(3):
        await ctx.report_progress(at, 3, f"step {at}")
        await asyncio.sleep(0)
    return "counted"


def who() -> Elicit[Who]:
    return Elicit("Who is there?", Who)


@server.tool()
def ask(answer: Annotated[ElicitationResult[Who], Resolve(who)]) -> str:
    """Asks who is there."""
    return f"{answer.action} {getattr(answer, 'data', None)}"


server.run()

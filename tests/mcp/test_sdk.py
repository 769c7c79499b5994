"""A server made with the SDK, which speaks the newest protocol."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_cli.kernel.outputs import as_text
from agent_cli.mcp.servers import Server, Stdio

MADE = Path(__file__).parents[1] / "fakes" / "mcp_sdk_server.py"


async def test_what_a_server_of_the_newest_protocol_does(serve: Callable[..., Any]) -> None:
    launch = Stdio(sys.executable, (str(MADE),), {"PATH": "/usr/bin:/bin"}, "/")
    served = await serve(Server("sdk", launch))
    assert served.standing("sdk").state == "ready", served.standing("sdk").problem
    assert await served.text("mcp__sdk__add", a=2, b=40) == "42"
    assert "validation error" in await served.text("mcp__sdk__add", a="x"), (
        "what a tool refuses is told to the model"
    )
    assert await served.text("mcp__sdk__count") == "counted"
    assert served.shown[:1] == ["step 0 (0 of 3)\n"]
    assert await served.text("mcp__sdk__grow") == "grown"
    await served.until(lambda: "mcp__sdk__more" in served.hub.tools(None))

    async def ask(question: str, options: tuple[str, ...]) -> str | None:
        assert "Who is there?" in question
        return "Ada"

    assert as_text(await served.call("mcp__sdk__ask", ask)) == "accept name='Ada'"
    assert as_text(await served.call("mcp__sdk__ask")) == "decline None"

"""A tool of a server as the engine knows tools."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any, Protocol

from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import ToolSpec
from agent_cli.kernel.serving import Ask, asking
from agent_cli.ports import Say, Touches

LONGEST_DESCRIPTION = 2_000
"""Characters; each request pays for them."""
SHOWN = 400


class Caller(Protocol):
    """Calls a tool by the name that its server gives it."""

    def __call__(
        self, tool: str, arguments: dict[str, Any], say: Say, ask: Ask | None, /
    ) -> Awaitable[Output]: ...


class ServedTool:
    """Leaves the machine as far as anybody can tell: it asks unless a rule allows it, and secrets are looked for in what
    it is given. `read_only` only where the operator takes the server's word for it.
    """

    arguments = dict[str, Any]
    bounded = False

    def __init__(self, spec: ToolSpec, own_name: str, host: str, call: Caller, *, read_only: bool) -> None:
        self.spec = spec
        self.read_only = read_only
        self._own_name = own_name
        self._hosts = (host,) if host else ()
        self._call = call

    def touches(self, args: dict[str, Any], /) -> Touches:
        return Touches(
            "network", json.dumps(args, ensure_ascii=False, sort_keys=True, default=str), hosts=self._hosts
        )

    def preview(self, args: dict[str, Any], /) -> Shown:
        return Shown(
            json.dumps(args, ensure_ascii=False, indent=2, default=str) if args else "(no arguments)"
        )

    async def run(self, args: dict[str, Any], say: Say, /) -> Output:
        return await self._call(self._own_name, args, say, asking.get())


def spec_of(name: str, description: str, schema: dict[str, Any], server: str) -> ToolSpec:
    """What a server says of its tool, without what steers terminals, and not endless."""
    plain = "".join(char for char in description if char.isprintable() or char in "\n\t").strip()
    cut = plain if len(plain) <= LONGEST_DESCRIPTION else plain[: LONGEST_DESCRIPTION - 1] + "…"
    told = cut or f"A tool of the server {server}."
    return ToolSpec(name, told, schema, told.partition("\n")[0][:SHOWN])

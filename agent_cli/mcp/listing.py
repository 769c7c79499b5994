"""What a server offers: asked page by page, and only what every service would take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agent_cli.kernel.messages import ToolSpec
from agent_cli.kernel.serving import ServedPrompt, ServedResource
from agent_cli.kernel.values import Plain
from agent_cli.mcp.names import tool_name, wanted
from agent_cli.mcp.schemas import Unusable, usable
from agent_cli.mcp.servers import Server
from agent_cli.mcp.tool import spec_of

if TYPE_CHECKING:
    from mcp.client.client import Client

PAGES = 100
MOST = 1_000
"""Things of one kind that are taken from one server."""


class Offered(Plain, frozen=True):
    """One tool: as a model has it, as its server calls it, and whether the server says that it changes nothing."""

    spec: ToolSpec
    own_name: str
    read_only: bool


class Listing(Plain, frozen=True):
    """`left_out` are lines about tools that are not offered. Tools are in the order of their names."""

    tools: tuple[Offered, ...] = ()
    prompts: tuple[ServedPrompt, ...] = ()
    resources: tuple[ServedResource, ...] = ()
    left_out: tuple[str, ...] = ()


async def listed(client: Client, server: Server) -> Listing:
    """Raises what the SDK raises where the tools cannot be listed; without prompts or resources a server is of use, too."""
    able = client.server_capabilities
    tools, left_out = (), ()
    if able.tools is not None:
        found = await _paged(lambda cursor: client.list_tools(cursor=cursor, cache_mode="bypass"), "tools")
        tools, left_out = _offered(found, server)
    prompts: list[Any] = []
    resources: list[Any] = []
    trouble: list[str] = []
    if able.prompts is not None:
        prompts = await _tried(lambda cursor: client.list_prompts(cursor=cursor), "prompts", trouble)
    if able.resources is not None:
        resources = await _tried(lambda cursor: client.list_resources(cursor=cursor), "resources", trouble)
    return Listing(
        tools,
        tuple(_prompt(server.name, prompt) for prompt in prompts),
        tuple(
            ServedResource(server.name, str(one.uri), one.name, one.description or "", one.mime_type or "")
            for one in resources
        ),
        (*left_out, *trouble),
    )


async def _paged(page: Callable[[str | None], Awaitable[Any]], what: str) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(PAGES):
        got = await page(cursor)
        found += getattr(got, what)
        cursor = got.next_cursor
        if not cursor or len(found) >= MOST:
            break
    return found[:MOST]


async def _tried(page: Callable[[str | None], Awaitable[Any]], what: str, trouble: list[str]) -> list[Any]:
    try:
        return await _paged(page, what)
    except Exception as problem:  # noqa: BLE001 - whatever goes wrong with these, the tools remain
        trouble.append(f"its {what} are not known: {str(problem)[:200]}")
        return []


def _offered(found: list[Any], server: Server) -> tuple[tuple[Offered, ...], tuple[str, ...]]:
    tools: dict[str, Offered] = {}
    left_out: list[str] = []
    for tool in found:
        if not wanted(tool.name, server.allow, server.deny):
            left_out.append(f"{tool.name}: turned off by the server's entry")
            continue
        name = tool_name(server.name, tool.name)
        if name in tools:
            left_out.append(f"{tool.name}: the server names two tools so, and the first counts")
            continue
        try:
            schema = usable(tool.input_schema)
        except Unusable as problem:
            left_out.append(f"{tool.name}: {problem}")
            continue
        hint = tool.annotations is not None and tool.annotations.read_only_hint is True
        spec = spec_of(name, tool.description or tool.title or "", schema, server.name)
        tools[name] = Offered(spec, tool.name, read_only=server.trusts_hints and hint)
    return tuple(tools[name] for name in sorted(tools)), tuple(left_out)


def _prompt(server: str, prompt: Any) -> ServedPrompt:
    arguments = prompt.arguments or ()
    return ServedPrompt(
        server,
        prompt.name,
        prompt.description or prompt.title or "",
        tuple(one.name for one in arguments),
        tuple(one.name for one in arguments if one.required),
    )

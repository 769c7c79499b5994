"""Opens the SDK's client for one server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from agent_cli import __version__
from agent_cli.mcp.journal import Journal
from agent_cli.mcp.pipe import Ward, connected
from agent_cli.mcp.servers import Http, Server, Stdio

if TYPE_CHECKING:
    import httpx2
    from mcp.client.client import Client

CONNECT_SECONDS = 10.0
READ_SECONDS = 3_600.0
"""A server may hold a stream open as long as it likes; each call has a time of its own."""
LARGEST_EVENT = 64_000_000
UNWANTED = frozenset({401, 403})


class Heard(Protocol):
    """Who is told of what a server says by itself."""

    async def elicited(self, context: Any, params: Any) -> Any: ...
    async def notified(self, message: Any) -> None: ...
    async def logged(self, params: Any) -> None: ...
    def ended(self, why: str, /) -> None: ...
    def refused(self, status: int, /) -> None:
        """Its answer to a request was 401 or 403, or, with 0, another one."""
        ...


class Means(Protocol):
    """What opening takes beside the server: where it writes, and who ends its processes."""

    @property
    def journal(self) -> Journal: ...
    @property
    def ward(self) -> Ward | None: ...
    @property
    def root(self) -> str: ...
    @property
    def login(self) -> Callable[[Server], Any] | None:
        """What signs requests to it, None where nobody logged in."""
        ...


@asynccontextmanager
async def opened(
    server: Server, heard: Heard, means: Means, mode: Literal["auto", "legacy"]
) -> AsyncGenerator[Client]:
    """Raises whatever the SDK, the system or the network raise."""
    from mcp.client.client import Client
    from mcp_types import Implementation, ListRootsResult, Root

    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=Path(means.root).as_uri())])  # pyright: ignore[reportArgumentType] - pydantic reads the text

    async with AsyncExitStack() as stack:
        transport = await _transport(server, heard, means, stack)
        client = Client(
            transport,
            mode=mode,
            client_info=Implementation(name="agent-cli", version=__version__),
            elicitation_callback=heard.elicited,
            list_roots_callback=roots,
            logging_callback=heard.logged,
            message_handler=heard.notified,
            cache=None,
        )
        yield await stack.enter_async_context(client)


async def _transport(server: Server, heard: Heard, means: Means, stack: AsyncExitStack) -> Any:
    match server.reached:
        case Stdio() as launch:
            return connected(launch, means.journal, heard.ended, means.ward)
        case Http(url, headers):
            from mcp.client.streamable_http import streamable_http_client

            client = await stack.enter_async_context(_http(server, headers, heard, means))
            return streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST_EVENT)


def _http(server: Server, headers: dict[str, str], heard: Heard, means: Means) -> httpx2.AsyncClient:
    import httpx2

    async def look(response: httpx2.Response) -> None:
        await asyncio.sleep(0)
        if str(response.request.url).partition("?")[0] == server.where:
            heard.refused(response.status_code if response.status_code in UNWANTED else 0)

    login = means.login(server) if means.login is not None and not _signed(headers) else None
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS)
    return httpx2.AsyncClient(headers=headers, timeout=timeout, auth=login, event_hooks={"response": [look]})


def _signed(headers: dict[str, str]) -> bool:
    return any(name.casefold() == "authorization" for name in headers)

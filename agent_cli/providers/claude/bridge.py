"""Our tools for one run of a vendor's program: an MCP server on loopback that lives as long as that run.

Nothing runs here. A call is handed on, and answered with what came of it.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from agent_cli.kernel.messages import ToolResult, ToolSpec
from agent_cli.providers.claude import http_in, rpc
from agent_cli.providers.claude.http_in import Head, Refused

PATH = "/mcp"
HOST = "127.0.0.1"
ALIVE_SECONDS = 15.0
"""Between two signs of life while a call runs, or waits for a person: clients give up on silence."""

Run = Callable[[rpc.Invocation], Awaitable[ToolResult]]
ACCEPTING = 4
"""Rounds of the loop that accepting a connection takes at most."""


class Bridge:
    """`run` gives the result of a call. The token opens the bridge once: a second client is refused."""

    def __init__(self, tools: Sequence[ToolSpec], run: Run) -> None:
        self.token = secrets.token_urlsafe(32)
        self.port = 0
        self._tools = tuple(tools)
        self._run = run
        self._opened = False
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}{PATH}"

    async def open(self) -> None:
        """Raises OSError."""
        self._server = await asyncio.start_server(self._serve, HOST, 0, limit=http_in.HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Idempotent. Calls that are open are cut."""
        server, self._server = self._server, None
        if server is None:
            return
        # A connection that is being accepted would lose its socket to a server that is closed.
        for each in server.sockets:
            asyncio.get_running_loop().remove_reader(each.fileno())
        for _ in range(ACCEPTING):
            await asyncio.sleep(0)
        server.close()
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if self._server is None:  # it came in while the bridge was closed
            writer.close()
            return
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            while await self._exchange(reader, writer):
                await writer.drain()
        except Refused as refused:
            writer.write(http_in.whole(refused.status, last=True))
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # the other end is gone, or `close` cuts it
        finally:
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; False where the connection ended."""
        head = await http_in.read_head(reader)
        if head is None:
            return False
        self._admit(head)
        if head.method != "POST":  # there is no stream of the server's own, and no session to end
            writer.write(http_in.whole(405))
            return True
        body = await http_in.read_body(reader, head)
        try:
            found = rpc.read(body, self._tools)
        except ValueError:
            raise Refused(400) from None
        match found:
            case rpc.Reply(answer, opens):
                if opens and self._opened:
                    raise Refused(401)
                self._opened = self._opened or opens
                writer.write(http_in.whole(202) if answer is None else http_in.whole(200, answer))
            case rpc.Invocation():
                if not self._opened:
                    raise Refused(401)
                await self._call(found, writer)
        return True

    def _admit(self, head: Head) -> None:
        """Raises Refused. A web page that reached us by a name of its own shows that name, or where it comes from."""
        if head.headers.get("host") != f"{HOST}:{self.port}" or "origin" in head.headers:
            raise Refused(403)
        given = head.headers.get("authorization", "").encode("latin-1")
        if not hmac.compare_digest(given, f"Bearer {self.token}".encode()):
            raise Refused(401)
        if head.path.partition("?")[0] != PATH:
            raise Refused(404)

    async def _call(self, invocation: rpc.Invocation, writer: asyncio.StreamWriter) -> None:
        """Answers with events, so that there can be signs of life before the result."""
        writer.write(http_in.STREAM)
        running = asyncio.ensure_future(self._run(invocation))
        try:
            while not running.done():
                writer.write(http_in.chunk(http_in.WAITING))
                await writer.drain()
                await asyncio.wait({running}, timeout=ALIVE_SECONDS)
        finally:
            running.cancel()
        told = rpc.answer(invocation.rpc_id, running.result())
        writer.write(http_in.chunk(http_in.event(told)) + http_in.chunk(b""))

"""All servers of a session: in a thread with an event loop of its own, so that neither the import of the SDK nor any
server holds up the session. What the session sees of them it reads from here; what it wants of them it hands over.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar

from agent_cli.guardrails.breaker import Breakers
from agent_cli.kernel.errors import AgentError, ToolError
from agent_cli.kernel.messages import Block
from agent_cli.kernel.outputs import Output
from agent_cli.kernel.serving import Ask, ServedPrompt, ServedResource, Standing
from agent_cli.mcp.connection import Around, Connection
from agent_cli.mcp.offer import Offer
from agent_cli.mcp.servers import Server
from agent_cli.mcp.tool import ServedTool
from agent_cli.ports import Say, Tool

T = TypeVar("T")
log = logging.getLogger("agent_cli.mcp")

CLOSE_SECONDS = 4.0
LOGGERS = ("mcp", "client")
"""Of the SDK: what it has to say goes to no screen."""
MISSING = "the package `mcp` cannot be imported ({problem}): install agent-cli again"


ALONE = Around()


def _nobody(doing: str, seconds: float) -> None:
    """Nobody is told what is waited for."""


class Hub:
    """`wait` is for how many seconds from the start on a session's first request waits for servers.

    `share` is the part of a window that the schemas of their tools may take; what is beyond is found by search.
    `withheld` are names of tools that the model is not to have.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        *,
        wait: float = 0.0,
        share: float = 0.1,
        withheld: frozenset[str] = frozenset(),
        breakers: Breakers | None = None,
        around: Around = ALONE,
    ) -> None:
        breakers = breakers or Breakers()
        self._wait = wait
        self._until = 0.0
        self._ward = around.ward
        self._connections = {
            server.name: Connection(
                server,
                breakers.of(f"mcp {server.name}"),
                breakers.of(f"mcp {server.name} calls"),
                self._changed,
                around,
            )
            for server in sorted(servers, key=lambda server: server.name)
        }
        self._offer = Offer(self._connections, self._tool, share, withheld)
        self._settled: Future[None] = Future()
        self._began = False
        self._told: dict[str, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._up = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="mcp", daemon=True)

    def start(self) -> None:
        self._until = time.monotonic() + self._wait
        self._thread.start()

    # ── what the engine asks ──

    async def settle(self, waits: Callable[[str, float], None] = _nobody) -> None:
        """Before the first request: waits until every server is there or has failed, but not for long after the start."""
        if self._began:
            return
        self._began = True
        left = self._until - time.monotonic()
        if self._settled.done() or left <= 0:
            return
        waits(f"waiting for MCP servers: {', '.join(self._starting())}", left)
        await asyncio.wait({asyncio.ensure_future(_held(self._settled))}, timeout=left)

    def tools(self, window: int | None) -> Mapping[str, Tool]:
        """In a fixed order; the same object as long as they are the same."""
        return self._offer.tools(window)

    def news(self) -> list[str]:
        """What went wrong since the last time: of each server once, until it is there again."""
        lines: list[str] = []
        for name, connection in self._connections.items():
            state, told = connection.state, self._told.get(name, "")
            late = state == "starting" and not connection.known
            if late and not told:
                lines.append(f"the MCP server {name} is still starting; its tools join when it is there")
            elif state in ("failed", "off") and connection.problem and told != "failed":
                lines.append(f"the MCP server {name} is not there: {connection.problem}. /mcp says more")
            elif state == "ready" and told == "failed":
                lines.append(f"the MCP server {name} is there again")
            if late or state != "starting":
                self._told[name] = {"starting": "late", "off": "failed"}.get(state, state)
        return lines

    async def close(self) -> None:
        """Ends every server, and waits for that, but not for long. Idempotent."""
        self._abandon()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, CLOSE_SECONDS)

    def _abandon(self) -> None:
        """Ends every server, and waits for nothing."""
        self._closed = True
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None:
            with suppress(RuntimeError):  # it ended by itself
                loop.call_soon_threadsafe(stop.set)

    # ── what front ends ask ──

    def standings(self) -> tuple[Standing, ...]:
        hidden = self._offer.hidden
        return tuple(_standing(connection, hidden) for connection in self._connections.values())

    def prompts(self) -> tuple[ServedPrompt, ...]:
        return tuple(prompt for each in self._connections.values() for prompt in each.listing.prompts)

    def resources(self) -> tuple[ServedResource, ...]:
        return tuple(resource for each in self._connections.values() for resource in each.listing.resources)

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str], /) -> tuple[Block, ...]:
        """What a prompt says, filled in. Raises AgentError."""
        return await self._there(self._of(server).prompt(name, dict(arguments)))

    async def read(self, server: str, uri: str, /) -> tuple[Block, ...]:
        """A resource. Raises AgentError."""
        return await self._there(self._of(server).read(uri))

    def reconnect(self, server: str, /) -> None:
        """Starts it anew. Raises AgentError."""
        connection = self._of(server)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(connection.reconnect)

    # ── between the threads ──

    def _of(self, server: str) -> Connection:
        found = self._connections.get(server)
        if found is None:
            names = ", ".join(self._connections) or "none"
            raise AgentError(f"there is no MCP server '{server}'; there are {names}")
        return found

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs it in the loop of the servers. Cancelled here, it is cancelled there."""
        if self._loop is None:
            await asyncio.to_thread(self._up.wait, CLOSE_SECONDS)
        if self._loop is None or self._closed:
            work.close()
            raise ToolError("the MCP servers of this session are gone")
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _call(
        self, server: str, tool: str, arguments: dict[str, Any], say: Say, ask: Ask | None
    ) -> Output:
        """Raises ToolError."""
        ours, over = asyncio.get_running_loop(), threading.Event()

        def shown(text: str) -> None:
            if not over.is_set():
                say(text)

        def progress(text: str) -> None:
            ours.call_soon_threadsafe(shown, text)

        async def asked(question: str, options: tuple[str, ...]) -> str | None:
            if ask is None:
                return None
            return await asyncio.wrap_future(
                asyncio.run_coroutine_threadsafe(_asking(ask, question, options), ours)
            )

        try:
            work = self._of(server).call(tool, arguments, progress, asked if ask is not None else None)
            return await self._there(work)
        finally:
            over.set()

    def _tool(self, server: Server, offered: Any) -> ServedTool:
        async def call(tool: str, arguments: dict[str, Any], say: Say, ask: Ask | None, /) -> Output:
            return await self._call(server.name, tool, arguments, say, ask)

        return ServedTool(offered.spec, offered.own_name, server.host, call, read_only=offered.read_only)

    def _starting(self) -> list[str]:
        return [name for name, each in self._connections.items() if each.state == "starting"]

    def _changed(self) -> None:
        self._offer.changed()
        if not self._settled.done() and not self._starting():
            self._settled.set_result(None)

    # ── in the thread ──

    def _run(self) -> None:
        for name in LOGGERS:
            logger = logging.getLogger(name)
            logger.propagate = False
            logger.addHandler(logging.NullHandler())
        try:
            import_module("mcp.client.client")  # more than half a second, here and not in anybody's way
        except ImportError as problem:
            for connection in self._connections.values():
                connection.state, connection.problem = "failed", MISSING.format(problem=problem)
            self._changed()
            return
        try:
            asyncio.run(self._main())
        except Exception:
            log.exception("the thread of the MCP servers broke")
        finally:
            self._closed = True
            self._up.set()
            if self._ward is not None:
                self._ward.close()

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._up.set()
        self._changed()
        keepers = [asyncio.create_task(each.keep()) for each in self._connections.values()]
        if not self._closed:
            await self._stop.wait()
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)


async def _held(settled: Future[None]) -> None:
    await asyncio.shield(asyncio.wrap_future(settled))


async def _asking(ask: Ask, question: str, options: tuple[str, ...]) -> str | None:
    return await ask(question, options)


def _standing(each: Connection, hidden: frozenset[str]) -> Standing:
    server, listing = each.server, each.listing
    return Standing(
        name=server.name,
        state=each.state,
        where=server.where,
        origin=server.origin,
        tools=tuple((one.spec.name, one.spec.brief) for one in listing.tools),
        left_out=listing.left_out,
        prompts=len(listing.prompts),
        resources=len(listing.resources),
        restarts=each.restarts,
        problem=each.problem,
        log=server.log,
        by_search=any(one.spec.name in hidden for one in listing.tools),
    )

"""One server: started, listed, asked, started again. Belongs to the event loop of the hub."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agent_cli.guardrails.breaker import Breaker
from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.messages import Block
from agent_cli.kernel.outputs import Output
from agent_cli.kernel.serving import Ask, ServerState
from agent_cli.mcp import forms
from agent_cli.mcp.journal import Journal
from agent_cli.mcp.listing import Listing, listed
from agent_cli.mcp.pipe import Ward
from agent_cli.mcp.reach import opened
from agent_cli.mcp.results import blocks_of, output_of, resource_blocks
from agent_cli.mcp.servers import Http, Server, Stdio
from agent_cli.mcp.troubles import Ended, is_lasting, leaf, told

if TYPE_CHECKING:
    from mcp.client.client import Client

log = logging.getLogger("agent_cli.mcp")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 600.0
SETTLED = 10.0
"""Seconds after which a server that lives counts as one that works."""
A_MOMENT = 0.3
CALM = 1.0
"""Seconds from one new listing to the next, whatever a server says of its lists."""
LOGIN = (
    "it wants a login ({status}): `agent-cli mcp login {name}`, or put its key into `headers` of its entry"
)
GONE = "{name} is gone in the middle of this call ({why}); whether the call did its work is not known"
OPEN = "the server {name} failed {count} times in a row and is not asked now: the next attempt is possible in {seconds:.0f} s"
LATE = "{name} did not answer within {seconds:g} s and was told to stop; whether the call did its work is not known"


class Around(NamedTuple):
    """What all servers of a session share: what ends their processes should this program die, the project's directory,
    and what signs requests to those that somebody logged in to.
    """

    ward: Ward | None = None
    root: str = "/"
    login: Callable[[Server], Any] | None = None


class Call:
    """One that runs: whom its server may ask meanwhile, and how long it still has."""

    def __init__(self, ask: Ask | None, seconds: float) -> None:
        self.ask = ask
        self.seconds = seconds
        self.limit = asyncio.timeout(seconds)

    def again(self) -> None:
        """There was a sign of life."""
        if self.limit.when() is not None:
            self.limit.reschedule(asyncio.get_running_loop().time() + self.seconds)

    @asynccontextmanager
    async def waiting(self) -> AsyncGenerator[None]:
        """A person thinks: that is not the server's time."""
        self.limit.reschedule(None)
        try:
            yield
        finally:
            self.limit.reschedule(asyncio.get_running_loop().time() + self.seconds)


class Connection:
    """`changed` is called whenever something of it is another one. `starts` and `calls` are its circuit breakers."""

    def __init__(
        self,
        server: Server,
        starts: Breaker,
        calls: Breaker,
        changed: Callable[[], None],
        around: Around,
    ) -> None:
        self.server = server
        self.journal = Journal(server.log)
        self.ward, self.root, self.login = around
        self.state: ServerState = "off" if server.refused else "starting"
        self.problem = server.refused
        self.restarts = 0
        self.listing = Listing()
        self.known = False  # whether it was ever ready
        self._starts, self._calls = starts, calls
        self._changed = changed
        self._client: Client | None = None
        self._mode: Literal["auto", "legacy"] = "auto"
        self._status = 0
        self._why = ""
        self._over = asyncio.Event()
        self._stale = asyncio.Event()
        self._again = asyncio.Event()
        self._moved = asyncio.Condition()
        self._running: list[Call] = []

    # ── its life ──

    async def keep(self) -> None:
        """Until it is cancelled."""
        pause = FIRST_PAUSE
        while not self.server.refused:
            now = asyncio.get_running_loop().time()
            if not self._starts.admit(now):
                await self._rest(
                    max(self._starts.probes_in(now), pause if pause > LONGEST_PAUSE / 20 else 0.1)
                )
                continue
            self._again.clear()
            lasting, lived = await self._once()
            if lasting:
                self._starts.abandoned()
                await self._rest(None)
                continue
            pause = FIRST_PAUSE if lived else pause
            self.restarts += 1
            await self._rest(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _once(self) -> tuple[bool, bool]:
        """One life of it. Whether to try again cannot help, and whether it lived long enough to count as working."""
        began = asyncio.get_running_loop().time()
        try:
            await self._live()
        except Exception as problem:  # noqa: BLE001 - whatever a server does, the session goes on
            if self._falls_back(problem):
                return await self._once()
            lived = self.state == "ready" and asyncio.get_running_loop().time() - began > SETTLED
            if not (lived or self._again.is_set()):
                self._starts.failed(asyncio.get_running_loop().time())
            await self._failed(problem)
            return is_lasting(problem) or self._status != 0, lived
        return False, True

    async def _rest(self, seconds: float | None) -> None:
        """Until then, or until somebody wants it again at once."""
        try:
            async with asyncio.timeout(seconds):
                await self._again.wait()
        except TimeoutError:
            return
        self._starts.succeeded()
        self._calls.succeeded()
        await self._become("starting", "")

    async def _live(self) -> None:
        """Returns only by raising why it is over."""
        self._over.clear()
        self._stale.clear()
        self._why, self._status = "", 0
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self.server.start_timeout):
                client = await stack.enter_async_context(opened(self.server, self, self, self._mode))
                self.listing = await listed(client, self.server)
            self._client, self.known = client, True
            await self._become("ready", "")
            listening = asyncio.create_task(self._listen(client))
            try:
                await self._watch(client)
            finally:
                self._client = None
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)

    async def _watch(self, client: Client) -> None:
        """Lists it again when it says that something changed. Once it has proved itself, nothing wakes by the clock."""
        since = asyncio.get_running_loop().time()
        calm, proving = since, True
        while True:
            waits = [asyncio.create_task(event.wait()) for event in (self._over, self._stale, self._again)]
            try:
                await asyncio.wait(
                    waits, timeout=SETTLED if proving else None, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                for task in waits:
                    task.cancel()
            if self._over.is_set():
                raise Ended(self._why)
            if self._again.is_set():
                raise Ended("it is started anew")
            if self._stale.is_set() and asyncio.get_running_loop().time() < calm:
                await asyncio.sleep(A_MOMENT)
            elif self._stale.is_set():
                self._stale.clear()
                async with asyncio.timeout(self.server.start_timeout):
                    self.listing = await listed(client, self.server)
                calm = asyncio.get_running_loop().time() + CALM
                self._changed()
            elif asyncio.get_running_loop().time() - since >= SETTLED:
                proving = False
                self._starts.succeeded()

    async def _listen(self, client: Client) -> None:
        """Newer servers say that their lists changed only to whoever listens."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        able = client.server_capabilities
        lists = [held for held in (able.tools, able.prompts, able.resources) if held is not None]
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not any(
            held.list_changed for held in lists
        ):
            return
        async with client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as subscription:
            async for _ in subscription:
                self._stale.set()

    async def _failed(self, problem: BaseException) -> None:
        if isinstance(leaf(problem), Ended) and self._again.is_set():
            await self._become("starting", "")
            return
        await asyncio.sleep(A_MOMENT if isinstance(self.server.reached, Stdio) and not self._why else 0)
        said = self.journal.last if isinstance(self.server.reached, Stdio) else ""
        if self._status:
            why = LOGIN.format(status=self._status, name=self.server.name)
        elif self._why and not isinstance(leaf(problem), Ended):
            why = told(Ended(self._why), said)
        else:
            why = told(problem, said)
        log.info("MCP server %s: %s", self.server.name, why)
        await self._become("failed", why)

    def _falls_back(self, problem: BaseException) -> bool:
        """Some older servers end, or say nothing, where the first word is not the one that they know."""
        old = self._mode == "auto" and not self.known and isinstance(self.server.reached, Stdio)
        if not old or is_lasting(problem):
            return False
        self._mode = "legacy"
        return True

    async def _become(self, state: ServerState, problem: str) -> None:
        self.state, self.problem = state, problem or self.problem if state == "ready" else problem
        async with self._moved:
            self._moved.notify_all()
        self._changed()

    # ── what it is asked ──

    def reconnect(self) -> None:
        self._again.set()

    async def call(
        self, tool: str, arguments: dict[str, Any], shows: Callable[[str], None], ask: Ask | None
    ) -> Output:
        """Raises ToolError."""

        async def came(progress: float, total: float | None, message: str | None) -> None:
            running.again()
            share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
            shows(f"{message} ({share})\n" if message else f"{share}\n")

        running = Call(ask, self.server.timeout)
        async with self._asked(running) as client:
            return output_of(await client.call_tool(tool, arguments, progress_callback=came))

    async def prompt(self, name: str, arguments: dict[str, str]) -> tuple[Block, ...]:
        """Raises ToolError."""
        async with self._asked(Call(None, self.server.timeout)) as client:
            got = await client.get_prompt(name, arguments)
            return tuple(block for message in got.messages for block in blocks_of([message.content]))

    async def read(self, uri: str) -> tuple[Block, ...]:
        """Raises ToolError."""
        async with self._asked(Call(None, self.server.timeout)) as client:
            return tuple(resource_blocks((await client.read_resource(uri)).contents))

    @asynccontextmanager
    async def _asked(self, running: Call) -> AsyncGenerator[Client]:
        """For one request. Raises ToolError for all that may go wrong."""
        client = await self.usable()
        now = asyncio.get_running_loop().time
        admitted = self._calls.admit(now())
        if admitted is None:
            raise ToolError(self._open(self._calls))
        self._running.append(running)
        try:
            async with running.limit:
                yield client
        except TimeoutError:
            self._calls.failed(now(), admitted)
            raise ToolError(LATE.format(name=self.server.name, seconds=running.seconds)) from None
        except Exception as problem:  # noqa: BLE001 - whatever a server does is data for the model
            if await self._is_gone(problem):
                self._calls.failed(now(), admitted)
                raise ToolError(GONE.format(name=self.server.name, why=self._why or told(problem))) from None
            self._calls.succeeded()
            raise ToolError(f"{self.server.name}: {told(problem)}") from None
        except BaseException:
            self._calls.abandoned(admitted)
            raise
        else:
            self._calls.succeeded()
            self._starts.succeeded()
        finally:
            self._running.remove(running)

    async def _is_gone(self, problem: BaseException) -> bool:
        """Whether it was the connection that broke, and not the call."""
        found = leaf(problem)
        closed = type(found).__name__ in (
            "ClosedResourceError",
            "BrokenResourceError",
            "ConnectError",
            "ReadError",
        )
        said = str(found)
        if "Connection closed" in said or closed:
            await asyncio.sleep(A_MOMENT)
            self.ended(self._why or "its connection was closed")
            return True
        if isinstance(self.server.reached, Http) and (
            self._status or said in ("Session terminated", "Server returned an error response")
        ):
            self.ended(LOGIN.format(status=self._status, name=self.server.name) if self._status else said)
            return True
        return False

    async def usable(self) -> Client:
        """Waits for one that is being started. Raises ToolError."""
        async with self._moved:
            try:
                async with asyncio.timeout(self.server.start_timeout):
                    await self._moved.wait_for(
                        lambda: (
                            self._client is not None or (self.state in ("off", "failed") and self._is_shut())
                        )
                    )
            except TimeoutError:
                raise ToolError(
                    f"the server {self.server.name} is not there: {self.problem or 'it is still starting'}"
                ) from None
        if self._client is None:
            is_open = self._starts.standing() == "open"
            raise ToolError(
                self._open(self._starts)
                if is_open
                else f"the server {self.server.name} is not there: {self.problem}"
            )
        return self._client

    def _is_shut(self) -> bool:
        """Whether nobody starts it now."""
        lasting = self.state == "off" or self._status != 0 or not self.known
        return lasting or self._starts.standing() == "open"

    def _open(self, breaker: Breaker) -> str:
        seconds = breaker.probes_in(asyncio.get_running_loop().time())
        told_why = f" ({self.problem})" if self.problem and breaker is self._starts else ""
        return OPEN.format(name=self.server.name, count=breaker.failures, seconds=seconds) + told_why

    # ── what it says by itself ──

    def ended(self, why: str) -> None:
        self._why = self._why or why
        self._over.set()

    def refused(self, status: int) -> None:
        self._status = status

    async def notified(self, message: Any) -> None:
        if type(message).__name__.endswith("ListChangedNotification"):
            self._stale.set()
        await asyncio.sleep(0)

    async def logged(self, params: Any) -> None:
        self.journal.note(f"[{params.level}] {params.data}")
        await asyncio.sleep(0)

    async def elicited(self, context: Any, params: Any) -> Any:
        """Asked while a call runs: that call's operator answers. Nobody there: declined."""
        from mcp_types import ElicitResult

        running = next((call for call in reversed(self._running) if call.ask is not None), None)
        if running is None or running.ask is None:
            return ElicitResult(action="decline")
        async with running.waiting():
            try:
                if params.mode == "url":
                    went = await forms.visited(self.server.name, params.message, params.url, running.ask)
                    return ElicitResult(action="accept" if went else "decline")
                answers = await forms.filled(
                    self.server.name, params.message, params.requested_schema, running.ask
                )
            except forms.Declined:
                return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=answers)

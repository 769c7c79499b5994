"""The attach server on a real socket, over a real database, with a client."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import SO_SNDBUF, SOL_SOCKET
from typing import Any

import httpx2

from agent_cli.compose.archive import Archive
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import prepare
from agent_cli.server.app import App
from agent_cli.server.counters import Counters
from agent_cli.server.door import Terms
from agent_cli.server.gate import Gate, Listening
from agent_cli.server.hosting import Hosting
from agent_cli.server.running import bound, serve
from agent_cli.server.tokens import Scope, Tokens

Json = dict[str, Any]


@dataclass
class Heard:
    """One server-sent event; `id` is 0 for a preview."""

    id: int
    type: str
    data: Json


@dataclass
class Attached:
    url: str
    client: httpx2.AsyncClient
    hosting: Hosting
    archive: Archive
    tokens: Tokens
    counters: Counters
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def get(self, path: str, **more: Any) -> Json:
        answer = await self.client.get(path, **more)
        return {**answer.json(), "status_code": answer.status_code}

    async def post(self, path: str, body: object = None, **more: Any) -> Json:
        answer = (
            await self.client.post(path, json=body, **more)
            if body is not None
            else await self.client.post(path, **more)
        )
        return {**answer.json(), "status_code": answer.status_code}

    async def begin(self, message: str | None = None, **more: Any) -> str:
        made = await self.post("/sessions", {**({"message": message} if message else {}), **more})
        assert made["status_code"] == 201, made
        return made["id"]

    async def heard(
        self, session: str, until: Callable[[Heard], bool], *, since: int = 0, headers: Json | None = None
    ) -> list[Heard]:
        """What comes on the stream, up to and with the first that is wanted."""
        seen: list[Heard] = []
        async for event in self.stream(session, since=since, headers=headers):
            seen.append(event)
            if until(event):
                return seen
        raise AssertionError(f"the stream ended without it: {[event.type for event in seen]}")

    async def stream(
        self, session: str, *, since: int | None = 0, headers: Json | None = None
    ) -> AsyncGenerator[Heard]:
        query = {} if since is None else {"since": since}
        async with self.client.stream(
            "GET", f"/sessions/{session}/events", params=query, headers=headers, timeout=20
        ) as answer:
            assert answer.status_code == 200, await answer.aread()
            held: dict[str, str] = {}
            async for line in answer.aiter_lines():
                if line.startswith(":"):
                    continue
                if line:
                    name, _, value = line.partition(": ")
                    held[name] = value
                elif held:
                    yield Heard(int(held.get("id", 0)), held["event"], json.loads(held["data"]))
                    held = {}

    def token(self, name: str, scope: Scope = "write", *sessions: str) -> Json:
        """Headers of somebody who has one."""
        return {"authorization": f"Bearer {self.tokens.add(name, scope, sessions, 0.0)}"}


def ended(heard: Heard) -> bool:
    return heard.type in ("turn-completed", "turn-error")


def is_type(name: str) -> Callable[[Heard], bool]:
    return lambda heard: heard.type == name


@asynccontextmanager
async def attached(
    project: Path,
    *,
    terms: Terms | None = None,
    environ: dict[str, str] | None = None,
    tokens: Path | None = None,
    hosts: tuple[str, ...] = (),
    origins: tuple[str, ...] = (),
    script: Path | None = None,
    send_buffer: int = 0,
    **flags: Any,
) -> AsyncGenerator[Attached]:
    """`flags` are config keys with __ for the dot; `send_buffer` bytes the system may keep of what nobody reads.

    Stopped at the end, as by a signal.
    """
    said = {key.replace("__", "."): value for key, value in flags.items()}
    if script is not None:
        said = {"model.provider": "scripted", **said}
    options = RunOptions(
        project, {**os.environ, **(environ or {})}, attended=False, answered=True, flags=said, script=script
    )
    settings, counters = prepare(options).settings, Counters()
    archive = Archive(options, settings, (project,))
    hosting = Hosting(archive, terms or Terms(), counters.feed)
    kept = Tokens(tokens or Path(os.environ["AGENT_CLI_HOME"]) / "serve-tokens.json")
    with bound("127.0.0.1", 0) as socket:
        if send_buffer:
            socket.setsockopt(SOL_SOCKET, SO_SNDBUF, send_buffer)
        listening = Listening("127.0.0.1", socket.getsockname()[1], hosts=hosts, origins=origins)
        gate = Gate(listening, kept, hosting.terms.requests_per_minute)
        async with httpx2.AsyncClient(base_url=listening.url, timeout=20) as client:
            made = Attached(listening.url, client, hosting, archive, kept, counters)
            running = asyncio.create_task(serve(hosting, App(hosting, gate, counters), socket, made.stop))
            try:
                yield made
            finally:
                made.stop.set()
                await running
                archive.close()


async def until(true: Callable[[], object]) -> None:
    """Returns when it is; fails after ten seconds."""
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110  what is waited for is told to nobody
            await asyncio.sleep(0.005)

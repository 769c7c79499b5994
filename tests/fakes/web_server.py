"""A small web server on loopback: what it answers is a table of paths."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field


@dataclass
class Page:
    """`headers` replace the ones that are made up. `stall` keeps the connection open without the last byte."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/html; charset=utf-8"})
    stall: bool = False


@dataclass
class Web:
    port: int
    pages: dict[str, Page]
    asked: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@contextlib.asynccontextmanager
async def serving(pages: dict[str, Page], tls: ssl.SSLContext | None = None) -> AsyncIterator[Web]:
    web = Web(0, pages)
    open_ended: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_ended.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await _answer(web, reader, writer)
        writer.close()
        open_ended.discard(task)

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        for task in open_ended:
            task.cancel()


async def _answer(web: Web, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    path = head.split(" ")[1]
    web.asked.append(path)
    web.heads.append(head)
    web.was_asked.set()
    page = web.pages.get(path, Page(b"<h1>nothing here</h1>", 404))
    lines = [
        f"HTTP/1.1 {page.status} x",
        f"content-length: {len(page.body) + page.stall}",
        "connection: close",
    ]
    lines += [f"{name}: {value}" for name, value in page.headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode() + page.body)
    await writer.drain()
    if page.stall:
        await asyncio.Event().wait()

"""Connections that ask nothing."""

from __future__ import annotations

import asyncio

from agent_cli.server import connection, running
from tests.fakes.attached import attached, is_type


async def opened(url: str, *, said: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(said)
    await writer.drain()
    return reader, writer


async def is_cut(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(), 10) == b""
    except ConnectionError:
        return True


async def test_whoever_asks_nothing_keeps_nobody_out(project, script, monkeypatch):
    monkeypatch.setattr(running, "CONNECTIONS", 8)
    async with attached(project, script=script({"text": "Hi."})) as server:
        session = await server.begin()
        following = asyncio.create_task(server.heard(session, is_type("turn-completed")))
        await server.heard(session, is_type("session-started"))
        silent = [await opened(server.url, said=b"GET /healthz HTTP/1.1\r\nX: " * (n % 2)) for n in range(40)]
        reader, writer = await opened(
            server.url, said=b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        )
        assert b" 200 " in await reader.readline()
        assert await is_cut(silent[0][0])
        assert (await server.post(f"/sessions/{session}/inject", {"message": "hi"}))["status_code"] == 200
        assert (await following)[-1].id, "who follows is left alone"
        for _, each in (*silent, (reader, writer)):
            each.close()


async def test_the_head_of_a_request_has_to_be_here_in_time(project, script, monkeypatch):
    monkeypatch.setattr(connection, "HEAD_WITHIN", 0.2)
    async with attached(project, script=script({"text": "Hi."})) as server:
        nothing, one = await opened(server.url)
        half, two = await opened(server.url, said=b"GET /healthz HTTP/1.1\r\n")
        again, three = await opened(server.url, said=b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b" 200 " in await again.readline()
        three.write(b"GET /healthz HTTP/1.1\r\n")
        assert await is_cut(nothing)
        assert await is_cut(half)
        assert b"ok" in await asyncio.wait_for(again.read(), 10), "answered once, then cut in the second head"
        for each in (one, two, three):
            each.close()

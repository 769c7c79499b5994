"""The bridge, asked by clients that may not, and by ones that do not know how."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from agent_cli.kernel.messages import Image, Text, ToolResult, ToolSpec
from agent_cli.providers.claude import bridge as bridges
from agent_cli.providers.claude import http_in, rpc
from agent_cli.providers.claude.bridge import Bridge

SPEC = ToolSpec("read_file", "Reads.", {"type": "object", "properties": {}})
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "read_file", "arguments": {"a": 1}},
}


async def echo(asked: rpc.Invocation) -> ToolResult:
    return ToolResult("", "", (Text(f"{asked.name} {asked.arguments}"), Image("image/png", "aGk=")))


@asynccontextmanager
async def opened(run: bridges.Run = echo) -> AsyncGenerator[Bridge]:
    bridge = Bridge([SPEC], run)
    await bridge.open()
    try:
        yield bridge
    finally:
        await bridge.close()


async def ask(
    bridge: Bridge, message: Any, method: str = "POST", path: str = "/mcp", **headers: str | None
) -> tuple[int, str]:
    """Status and body. `headers` replace the good ones; None leaves one out."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    good: dict[str, str | None] = {
        "host": f"127.0.0.1:{bridge.port}",
        "authorization": f"Bearer {bridge.token}",
        "content_length": str(len(body)),
    }
    lines = [
        f"{name.replace('_', '-')}: {value}" for name, value in (good | headers).items() if value is not None
    ]
    reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port)
    try:
        writer.write("\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode() + body)
        return await answer(reader)
    finally:
        writer.close()
        await writer.wait_closed()


async def answer(reader: asyncio.StreamReader) -> tuple[int, str]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status = int(head.split(" ")[1])
    if "chunked" in head:
        return status, (await reader.readuntil(b"0\r\n\r\n")).decode()
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    return status, (await reader.readexactly(int(fields["Content-Length"]))).decode()


async def test_a_client_finds_the_tools_and_calls_them() -> None:
    async with opened() as bridge:
        _, hello = await ask(bridge, HELLO)
        assert json.loads(hello)["result"]["protocolVersion"] == "2025-06-18"
        assert await ask(bridge, {"jsonrpc": "2.0", "method": "notifications/initialized"}) == (202, "")
        _, listed = await ask(bridge, {"jsonrpc": "2.0", "id": 3, "method": "tools/list"})
        assert [tool["inputSchema"] for tool in json.loads(listed)["result"]["tools"]] == [SPEC.schema]
        assert (
            json.loads((await ask(bridge, {"jsonrpc": "2.0", "id": 4, "method": "ping"}))[1])["result"] == {}
        )
        status, told = await ask(bridge, CALL)
        result = json.loads(next(line for line in told.splitlines() if line.startswith("data: "))[6:])[
            "result"
        ]
        assert status == 200
        assert result == {
            "content": [
                {"type": "text", "text": "read_file {'a': 1}"},
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            ],
            "isError": False,
        }
        assert json.loads((await ask(bridge, {"jsonrpc": "2.0", "id": 5, "method": "resources/list"}))[1])[
            "error"
        ]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer guessed"}, 401),
        ({"authorization": None}, 401),
        ({"host": "evil.example"}, 403),
        ({"host": None}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"content_length": None}, 411),
        ({"content_length": "many"}, 411),
        ({"content_length": str(http_in.BODY_BYTES + 1)}, 413),
        ({"x_long": "x" * http_in.HEAD_BYTES}, 413),
        ({"path": "/other"}, 404),
        ({"method": "GET"}, 405),
        ({"method": "DELETE"}, 405),
    ],
)
async def test_who_may_not_is_refused(headers: dict[str, str], status: int) -> None:
    async with opened() as bridge:
        assert (await ask(bridge, HELLO, **headers))[0] == status
        assert (await ask(bridge, HELLO))[0] == 200  # the token is still good: nobody had used it


async def test_the_token_opens_the_bridge_once() -> None:
    async with opened() as bridge:
        assert (await ask(bridge, CALL))[0] == 401
        assert (await ask(bridge, HELLO))[0] == 200
        assert (await ask(bridge, HELLO))[0] == 401
        assert (await ask(bridge, CALL))[0] == 200


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b'{"id": 1}', b'{"id": 1, "method": 7}'])
async def test_what_is_no_message_is_refused(body: bytes) -> None:
    async with opened() as bridge:
        assert (await ask(bridge, body))[0] == 400


async def test_a_call_without_a_name_is_an_error() -> None:
    async with opened() as bridge:
        await ask(bridge, HELLO)
        for params in ({}, {"name": "read_file", "arguments": [1]}):
            _, told = await ask(bridge, {**CALL, "params": params})
            assert json.loads(told)["error"]["code"] == rpc.BAD_PARAMS


async def test_a_call_that_waits_shows_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridges, "ALIVE_SECONDS", 0.01)
    go_on = asyncio.Event()

    async def waits(asked: rpc.Invocation) -> ToolResult:
        await go_on.wait()
        return await echo(asked)

    async with opened(waits) as bridge:
        await ask(bridge, HELLO)
        reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port)
        body = json.dumps(CALL).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{bridge.port}\r\nAuthorization: Bearer {bridge.token}\r\n"
        )
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        for _ in range(3):
            await reader.readuntil(http_in.WAITING)
        go_on.set()
        assert b"read_file" in await reader.readuntil(b"0\r\n\r\n")
        writer.close()
        await writer.wait_closed()


async def test_closing_cuts_what_waits_and_the_port_is_free() -> None:
    called = asyncio.Event()

    async def never(asked: rpc.Invocation) -> ToolResult:
        called.set()
        await asyncio.Event().wait()
        return await echo(asked)

    async with opened(never) as bridge:
        await ask(bridge, HELLO)
        waiting = asyncio.create_task(ask(bridge, CALL))
        await called.wait()
        await bridge.close()
        with pytest.raises(EOFError):
            await waiting
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", bridge.port)


@pytest.mark.parametrize("moments", range(5))
async def test_a_connection_that_comes_in_while_it_is_closed_is_let_go(moments: int) -> None:
    """Whatever of accepting it has happened by then: nothing waits for it, and nothing of it stays open."""

    async def run(_: rpc.Invocation) -> ToolResult:
        raise AssertionError

    bridge = Bridge([SPEC], run)
    await bridge.open()
    with socket.create_connection((bridges.HOST, bridge.port)) as other:
        for _ in range(moments):
            await asyncio.sleep(0)
        await bridge.close()
        other.setblocking(False)
        with suppress(ConnectionResetError):
            async with asyncio.timeout(5):
                assert await asyncio.get_running_loop().sock_recv(other, 1) == b""

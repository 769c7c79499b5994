"""A small strict server on loopback that speaks the APIs of all families from a list of replies.

It refuses, with 400, what the services refuse: calls without results, empty text, misplaced cache marks,
unknown fields. `FakeService.requests` holds what came; a reply says how it is streamed and how it breaks.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from tests.fakes import gemini_wire, responses_wire, vertex_wire

Json = dict[str, Any]

MESSAGES_FIELDS = {
    "model", "max_tokens", "stream", "tools", "tool_choice", "system", "temperature", "thinking", "output_config",
    "messages",
}  # fmt: skip
CHAT_FIELDS = {
    "model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "reasoning_effort",
    "tools", "tool_choice", "messages",
}  # fmt: skip
ROUTER_FIELDS = CHAT_FIELDS | {"reasoning", "cache_control"}
THINKING = ("thinking", "redacted_thinking")


@dataclass
class Say:
    """A good answer. `calls` are (name, arguments as JSON text). `usage` holds native fields.

    How it is sent: `newline`, `size` characters a piece, `tear` cuts the bytes of each event in two inside a
    character, `comments` between events, `ascii` escapes; `cut` closes and `stall` falls silent after so many
    events, `fail` sends that event instead of the rest, `leave_out` drops events that hold one of these texts.
    """

    text: str = ""
    thinking: str = ""
    redacted: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str | None = None
    usage: Json = field(default_factory=dict)
    model: str = ""
    newline: str = "\n"
    size: int = 7
    tear: bool = False
    comments: bool = False
    ascii: bool = False
    cut: int | None = None
    stall: int | None = None
    fail: tuple[int, Json] | None = None
    leave_out: tuple[str, ...] = ()
    thought_field: str = "reasoning_content"


@dataclass
class Raw:
    """Any answer, byte for byte. `delay` seconds pass before its head. `reset` breaks the connection instead of it."""

    status: int = 200
    body: bytes | Json = b""
    headers: Json = field(default_factory=lambda: {"content-type": "application/json"})
    delay: float = 0.0
    reset: bool = False


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    raw: bytes
    body: Json
    connection: int


class FakeService:
    """`async with FakeService([...]) as service`; the last reply repeats. `url` has no path."""

    def __init__(self, replies: list[Say | Raw]) -> None:
        self.replies = list(replies)
        self.requests: list[Received] = []
        self.violations: list[str] = []
        self.gone = asyncio.Event()
        """Set when a client closes in the middle of an answer."""
        self.url = ""
        self._connections = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 22)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def stop_listening(self) -> None:
        """From now on connections are refused."""
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._connections += 1
        number = self._connections
        try:
            while (request := await _read(reader, number)) and await self._answer(request, reader, writer):
                pass
        except ConnectionError:
            self.gone.set()
        except asyncio.CancelledError:
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(
        self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """False where the connection is over."""
        self.requests.append(request)
        if request.path == "/token":
            await _send(writer, Raw(200, {"access_token": vertex_wire.TOKEN, "expires_in": 3600}))
            return True
        if not request.raw and request.path.partition("?")[0].endswith("/models"):
            await _send(writer, Raw(200, {"data": [], "models": []}))
            return True
        rules, events_of = wire_of(request.path)
        if broken := _broken(rules, request):
            self.violations += broken
            await _send(writer, Raw(400, {"error": {"type": "invalid_request_error", "message": broken[0]}}))
            return True
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Raw):
            await asyncio.sleep(reply.delay)
            if reply.reset:
                _reset(writer)
                return False
            await _send(writer, reply)
            return True
        return await self._stream(reply, list(events_of(reply, request)), reader, writer)

    async def _stream(
        self, reply: Say, events: list[str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for at, event in enumerate(events):
            if any(text in event for text in reply.leave_out):
                continue
            if reply.fail and at == reply.fail[0]:
                await _chunk(writer, f"data: {json.dumps(reply.fail[1])}\n\n".encode())
                break
            if at == reply.cut:
                return False
            if at == reply.stall:
                await writer.drain()
                await reader.read()  # comes back when the client is gone
                self.gone.set()
                return False
            if reply.comments:
                await _chunk(writer, f": still here{reply.newline}{reply.newline}".encode())
            data = event.replace("\n", reply.newline).encode()
            middle = next((n + 1 for n, byte in enumerate(data) if byte >= 0xC0), len(data) // 2)
            for part in (data[:middle], data[middle:]) if reply.tear else (data,):
                await _chunk(writer, part)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


def _broken(rules: Callable[[Received], Iterator[str]], request: Received) -> list[str]:
    """What is refused; a body in which a rule does not find its way is one of that."""
    try:
        return list(rules(request))
    except (TypeError, KeyError, AttributeError, ValueError, IndexError) as problem:
        return [f"Invalid JSON payload received: {problem!r}"]


def wire_of(
    path: str,
) -> tuple[Callable[[Received], Iterator[str]], Callable[[Say, Received], Iterator[str]]]:
    """What an API refuses, and how it answers."""
    if path.endswith("/v1/messages"):
        return messages_rules, messages_events
    if path.endswith(":streamRawPredict"):
        return claude_on_vertex_rules, messages_events
    if "/publishers/google/" in path:
        return gemini_on_vertex_rules, gemini_wire.events
    if path.endswith("/responses"):
        return responses_wire.rules, responses_wire.events
    if "GenerateContent" in path:
        return gemini_wire.rules, gemini_wire.events
    return chat_rules, chat_events


async def _read(reader: asyncio.StreamReader, connection: int) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    body = json.loads(raw) if headers.get("content-type", "").startswith("application/json") else {}
    return Received(first.split()[1], headers, raw, body, connection)


def _reset(writer: asyncio.StreamWriter) -> None:
    at_once = struct.pack("ii", 1, 0)  # closing does not wait for what is unsent: the other side sees a reset
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    writer.transport.abort()


async def _send(writer: asyncio.StreamWriter, reply: Raw) -> None:
    body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
    writer.write(f"HTTP/1.1 {reply.status} X\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()


async def _chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()
    await asyncio.sleep(0)


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def messages_events(reply: Say, request: Received) -> Iterator[str]:
    def event(kind: str, **rest: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **rest}, ensure_ascii=reply.ascii)}\n\n"

    usage = {"input_tokens": 10, "output_tokens": 5, **reply.usage}
    begun = {name: value for name, value in usage.items() if name != "output_tokens_details"} | {
        "output_tokens": 1
    }
    model = reply.model or request.body["model"]
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": model,
        "usage": begun,
    }
    yield event("message_start", message=message)
    yield event("ping")
    for index, (kind, value) in enumerate(_blocks(reply)):
        if kind == "redacted":
            block = {"type": "redacted_thinking", "data": value}
            yield event("content_block_start", index=index, content_block=block)
        elif kind == "thinking":
            yield event(
                "content_block_start", index=index, content_block={"type": "thinking", "thinking": ""}
            )
            for piece in _pieces(value, reply.size):
                delta = {"type": "thinking_delta", "thinking": piece}
                yield event("content_block_delta", index=index, delta=delta)
            delta = {"type": "signature_delta", "signature": f"signed:{value}"}
            yield event("content_block_delta", index=index, delta=delta)
        elif kind == "text":
            yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
            for piece in _pieces(value, reply.size):
                yield event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
        else:
            block = {
                "type": "tool_use",
                "id": f"toolu_{len(request.body['messages'])}_{index}",
                "name": kind,
                "input": {},
            }
            yield event("content_block_start", index=index, content_block=block)
            for piece in _pieces(value, reply.size):
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    stop = reply.finish or ("tool_use" if reply.calls else "end_turn")
    yield event("message_delta", delta={"stop_reason": stop}, usage=usage)
    yield event("message_stop")


def _blocks(reply: Say) -> Iterator[tuple[str, str]]:
    for kind in ("thinking", "redacted", "text"):
        if value := getattr(reply, kind):
            yield kind, value
    yield from reply.calls


def chat_events(reply: Say, request: Received) -> Iterator[str]:
    def chunk(delta: Json, finish: str | None = None, **rest: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        data = {"id": "chatcmpl-1", "model": model, "choices": [choice], "usage": None, **rest}
        return f"data: {json.dumps(data, ensure_ascii=reply.ascii)}\n\n"

    model = reply.model or request.body["model"]
    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.thinking, reply.size):
        yield chunk({reply.thought_field: piece})
    for piece in _pieces(reply.text, reply.size):
        yield chunk({"content": piece})
    for index, (name, arguments) in enumerate(reply.calls):
        call_id = f"call_{len(request.body['messages'])}_{index}"
        call = {
            "index": index,
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        yield chunk({"tool_calls": [call]})
        for piece in _pieces(arguments, reply.size):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, reply.finish or ("tool_calls" if reply.calls else "stop"))
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, **reply.usage}
    yield chunk({}, choices=[], usage=usage)
    yield "data: [DONE]\n\n"


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────


def messages_rules(request: Received) -> Iterator[str]:
    body, messages = request.body, request.body["messages"]
    if not request.headers.get("x-api-key") and not request.headers.get("authorization"):
        yield "x-api-key header is required"
    if "anthropic-version" not in request.headers:
        yield "anthropic-version: header is required"
    yield from (f"{name}: Extra inputs are not permitted" for name in body.keys() - MESSAGES_FIELDS)
    if body.get("tool_choice") and not body.get("tools"):
        yield "tool_choice may only be specified while providing tools."
    roles = [message["role"] for message in messages]
    if roles[:1] != ["user"] or roles[-1:] != ["user"] or any(a == b for a, b in itertools.pairwise(roles)):
        yield f"roles: {roles}"
    asked: set[str] = set()
    for message in messages:
        blocks = message["content"]
        if not blocks:
            yield "messages must have non-empty content"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if set(results) != asked or len(results) != len(asked):
            yield f"results {results} for calls {asked}"
        if any(block["type"] != "tool_result" for block in blocks[: len(results)]):
            yield "results have to stand first"
        if blocks[-1]["type"] in THINKING:
            yield "the final block cannot be thinking"
        asked = {block["id"] for block in blocks if block["type"] == "tool_use"}
    yield from _texts(messages)
    yield from _marks(body)


def claude_on_vertex_rules(request: Received) -> Iterator[str]:
    yield from vertex_wire.claude_rules(request.path, request.headers, request.body)
    request.headers.setdefault("anthropic-version", "said in the body")
    yield from messages_rules(request)


def gemini_on_vertex_rules(request: Received) -> Iterator[str]:
    yield from vertex_wire.gemini_rules(request.path, request.headers)
    request.headers.setdefault("x-goog-api-key", "signed in")
    yield from gemini_wire.rules(request)


def _texts(messages: list[Json]) -> Iterator[str]:
    for message in messages:
        for block in message["content"]:
            inner = block.get("content") if block["type"] == "tool_result" else None
            if inner == "":
                yield "text content blocks must be non-empty"
            for one in [block, *(inner if isinstance(inner, list) else [])]:
                if one["type"] == "text" and not one["text"].strip():
                    yield "text content blocks must contain non-whitespace text"


def _marks(body: Json) -> Iterator[str]:
    blocks = [*body.get("tools", ()), *body.get("system", ())]
    blocks += [block for message in body["messages"] for block in message["content"]]
    marked = [block for block in blocks if "cache_control" in block]
    if len(marked) > 4:
        yield "A maximum of 4 blocks with cache_control may be provided."
    for block in marked:
        if block.get("type") in THINKING:
            yield "thinking.cache_control: Extra inputs are not permitted"
        if block["cache_control"].get("type") != "ephemeral":
            yield "cache_control.type: Input should be 'ephemeral'"


def chat_rules(request: Received) -> Iterator[str]:
    body, messages = request.body, request.body["messages"]
    known = ROUTER_FIELDS if "openrouter" in request.path else CHAT_FIELDS
    yield from (f"Unrecognized request argument supplied: {name}" for name in body.keys() - known)
    if body.get("tools") == []:
        yield "Invalid 'tools': empty array."
    waiting: list[str] = []
    for message in messages:
        role, content = message["role"], message.get("content")
        calls = message.get("tool_calls")
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"tool message for no call: {message['tool_call_id']}"
            waiting = [one for one in waiting if one != message["tool_call_id"]]
        elif waiting:
            yield f"calls without results: {waiting}"
        if calls is not None:
            waiting = [call["id"] for call in calls]
            for call in calls:
                json.loads(call["function"]["arguments"])
                if len(call["id"]) > 40:
                    yield "string too long"
        if not content and not calls:
            yield "Invalid value for 'content': expected a string, got null."
        parts = content if isinstance(content, list) else []
        if role != "user" and any(part["type"] != "text" for part in parts):
            yield "Image URLs are only allowed for messages with role 'user'"
    if waiting:
        yield f"calls without results: {waiting}"


async def drained(stream: AsyncIterator[Any]) -> list[Any]:
    """Everything a stream yields."""
    return [piece async for piece in stream]

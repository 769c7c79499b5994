"""A model server on loopback for benchmarks: three APIs, streamed, no time to think, in a process of its own.

It prints its port, and ends when its standard input closes, so it never outlives whoever started it. What
it answers is the first part of the path, so runs side by side share one server:

    /say/...                 "Hello."
    /read-20/...             twenty steps that each call `read_file`, then "Done."; likewise /bash-20/
    /stream-20000-1000/...   20,000 tokens of mixed Markdown, 1,000 a second, five a piece

`GET /requests` gives the arrival times of the model requests since it was last asked, in seconds of
`time.monotonic`, which is one clock for all processes of a machine.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

from prose import mixed_markdown, pieces

TOOLS = {"read": "read_file", "bash": "bash"}
STOPPED = {"openai": ("stop", "tool_calls"), "anthropic": ("end_turn", "tool_use")}

arrivals: list[float] = []


class Reply(NamedTuple):
    """Text in pieces of which one is sent every `interval` seconds, or one call. `read` is how many tokens the prompt has."""

    pieces: tuple[str, ...]
    interval: float = 0.0
    call: tuple[str, str, str] | None = None
    read: int = 0


def reply(plan: str, results: int) -> Reply:
    """What the plan says after that many tool results."""
    kind, _, rest = plan.partition("-")
    if kind in TOOLS and results < int(rest):
        number = results + 1
        # Each call differs: the same one again and again is what a watchdog stops.
        arguments = (
            {"path": "notes.txt", "offset": number} if kind == "read" else {"command": f"echo {number}"}
        )
        return Reply((), call=(f"call_{number}", TOOLS[kind], json.dumps(arguments)))
    if kind == "stream":
        tokens, rate = map(int, rest.split("-"))
        return Reply(tuple(pieces(mixed_markdown(tokens))), 5 / rate)
    return Reply(("Done.",) if kind in TOOLS else ("Hel", "lo", "."))


def results_in(body: dict[str, Any]) -> int:
    if "input" in body:
        return sum(item.get("type") == "function_call_output" for item in body["input"])
    blocks = [block for message in body["messages"] for block in _blocks(message)]
    return sum(block.get("type") == "tool_result" for block in blocks)


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    if message["role"] == "tool":
        return [{"type": "tool_result"}]
    content = message.get("content")
    return content if isinstance(content, list) else []


# ── the three dialects: (event name, data) before, for a piece of text, and after ────────────────────────

Events = Iterator[tuple[str, Any]]


def chat_start(reply: Reply) -> Events:
    yield "", _chunk({"role": "assistant", "content": None if reply.call else ""})


def chat_piece(text: str) -> Events:
    yield "", _chunk({"content": text})


def chat_end(reply: Reply) -> Events:
    if reply.call:
        ident, name, arguments = reply.call
        function = {"name": name, "arguments": arguments}
        yield (
            "",
            _chunk({"tool_calls": [{"index": 0, "id": ident, "type": "function", "function": function}]}),
        )
    yield "", _chunk({}, STOPPED["openai"][reply.call is not None])
    usage = {"prompt_tokens": reply.read, "completion_tokens": 10, "total_tokens": reply.read + 10}
    yield "", {**_chunk({}), "choices": [], "usage": usage}
    yield "", "[DONE]"


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4.1",
        "choices": [choice],
    }


def messages_start(reply: Reply) -> Events:
    usage = {
        "input_tokens": reply.read,
        "output_tokens": 1,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
    }
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-sonnet-5", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    yield "message_start", {"type": "message_start", "message": message}
    block: dict[str, Any] = {"type": "text", "text": ""}
    if reply.call:
        block = {"type": "tool_use", "id": f"toolu_{reply.call[0]}", "name": reply.call[1], "input": {}}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}


def messages_piece(text: str) -> Events:
    yield _block_delta({"type": "text_delta", "text": text})


def messages_end(reply: Reply) -> Events:
    if reply.call:
        yield _block_delta({"type": "input_json_delta", "partial_json": reply.call[2]})
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    delta = {"stop_reason": STOPPED["anthropic"][reply.call is not None], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 10}}
    yield "message_stop", {"type": "message_stop"}


def _block_delta(delta: dict[str, Any]) -> tuple[str, Any]:
    return "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}


def responses_start(reply: Reply) -> Events:
    yield _response(
        "response.created", {"id": "r1", "object": "response", "status": "in_progress", "output": []}
    )
    if not reply.call:
        item = {"id": "i1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        yield _item("response.output_item.added", item)
        part = {"type": "output_text", "text": "", "annotations": []}
        yield _named("response.content_part.added", item_id="i1", output_index=0, content_index=0, part=part)


def responses_piece(text: str) -> Events:
    yield _named("response.output_text.delta", item_id="i1", output_index=0, content_index=0, delta=text)


def responses_end(reply: Reply) -> Events:
    if reply.call:
        ident, name, arguments = reply.call
        item = {"id": "i1", "type": "function_call", "call_id": ident, "name": name, "arguments": arguments}
        yield _item("response.output_item.added", {**item, "arguments": "", "status": "in_progress"})
    else:
        text = {"type": "output_text", "text": "".join(reply.pieces), "annotations": []}
        item = {"id": "i1", "type": "message", "role": "assistant", "content": [text]}
    item["status"] = "completed"
    yield _item("response.output_item.done", item)
    usage = {"input_tokens": reply.read, "output_tokens": 10, "total_tokens": reply.read + 10}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    done = {"id": "r1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    yield _response("response.completed", done)


def _named(name: str, **fields: Any) -> tuple[str, Any]:
    return name, {"type": name, **fields}


def _item(name: str, item: dict[str, Any]) -> tuple[str, Any]:
    return _named(name, output_index=0, item=item)


def _response(name: str, response: dict[str, Any]) -> tuple[str, Any]:
    return _named(name, response=response)


DIALECTS = {
    "chat/completions": (chat_start, chat_piece, chat_end),
    "messages": (messages_start, messages_piece, messages_end),
    "responses": (responses_start, responses_piece, responses_end),
}


async def events(dialect: str, reply: Reply) -> AsyncIterator[bytes]:
    """Server-sent events; a slow write is made up for, so the rate holds over the whole stream."""
    start, piece, end = DIALECTS[dialect]
    yield _sse(start(reply))
    began = time.monotonic()
    for number, text in enumerate(reply.pieces):
        ahead = began + number * reply.interval - time.monotonic()
        if ahead > 0:
            await asyncio.sleep(ahead)
        yield _sse(piece(text))
    yield _sse(end(reply))


def _sse(sent: Events) -> bytes:
    lines = [_line(name, data) for name, data in sent]
    return "".join(lines).encode()


def _line(name: str, data: Any) -> str:
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n"


# ── HTTP ─────────────────────────────────────────────────────────────────────────────────────────────────


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            arrived = time.monotonic()
            method, target, _ = head.split("\r\n", 1)[0].split(" ")
            body = await reader.readexactly(_length(head))
            await answer(method, target.partition("?")[0], body, arrived, writer)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client has gone
    finally:
        writer.close()


def _length(head: str) -> int:
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            return int(value)
    return 0


async def answer(method: str, path: str, body: bytes, arrived: float, writer: asyncio.StreamWriter) -> None:
    plan, _, rest = path.strip("/").partition("/")
    dialect = rest.removeprefix("v1/")
    if path == "/requests":
        await send(writer, "200 OK", json.dumps(arrivals))
        arrivals.clear()
    elif method == "POST" and dialect in DIALECTS:
        arrivals.append(arrived)
        content = json.loads(body)
        said = reply(plan, results_in(content))._replace(read=len(body) // 4)
        await send_events(writer, events(dialect, said))
    else:
        await send(writer, "404 Not Found", '{"error": {"message": "not here", "type": "not_found_error"}}')


async def send(writer: asyncio.StreamWriter, status: str, body: str) -> None:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write((head + body).encode())
    await writer.drain()


async def send_events(writer: asyncio.StreamWriter, sent: AsyncIterator[bytes]) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    async for data in sent:
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())

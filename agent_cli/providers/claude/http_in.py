"""The little of HTTP/1.1 that the bridge needs: requests with a length, answers whole or as events."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

HEAD_BYTES = 32 * 1024
BODY_BYTES = 16 * 1024 * 1024
REASONS = {
    200: "OK",
    202: "Accepted",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    411: "Length Required",
    413: "Content Too Large",
}
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
WAITING = b": waiting\n\n"


class Refused(Exception):
    """The request is answered with this status, and the connection closed."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Head(NamedTuple):
    """Names of headers are in lower case; of those that come twice the last one counts."""

    method: str
    path: str
    headers: dict[str, str]


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """None where the connection ended. Raises Refused."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise Refused(413) from None
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3:
        raise Refused(400)
    pairs = (line.partition(":") for line in lines)
    return Head(words[0], words[1], {name.strip().lower(): value.strip() for name, _, value in pairs})


async def read_body(reader: asyncio.StreamReader, head: Head) -> bytes:
    """Raises Refused, and EOFError where the connection ended in it."""
    length = head.headers.get("content-length", "")
    if not length.isdecimal():
        raise Refused(411)
    if int(length) > BODY_BYTES:
        raise Refused(413)
    return await reader.readexactly(int(length))


def whole(status: int, body: bytes = b"", *, last: bool = False) -> bytes:
    """An answer of known length; `last` says that the connection is closed behind it."""
    lines = [f"HTTP/1.1 {status} {REASONS[status]}", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json"] if body else []
    lines += ["Allow: POST"] if status == 405 else []
    lines += ["Connection: close"] if last else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunk(data: bytes) -> bytes:
    """A piece of an answer without a length; the empty one ends it."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(data: bytes) -> bytes:
    return b"event: message\ndata: " + data + b"\n\n"

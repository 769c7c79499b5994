"""The server as ASGI: a request in, its route asked, an answer or a stream out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote

import msgspec

from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.records import line_of
from agent_cli.server.bodies import LONGEST
from agent_cli.server.call import Answer, Call, Stream
from agent_cli.server.counters import Counters
from agent_cli.server.gate import Gate, Peer
from agent_cli.server.hosting import Hosting
from agent_cli.server.openapi import is_struct, optional
from agent_cli.server.problems import Refused, body_of, refusal
from agent_cli.server.routes import Route, routed
from agent_cli.server.tokens import Token

log = logging.getLogger("agent_cli.server")

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

BODY_WITHIN = 20.0
"""Seconds in which the body of a request has to be here."""
DRAINED = 16 * LONGEST
"""Bytes of a body that are taken at most, before the connection is closed on it."""
QUIET = 15.0
"""Seconds without an event after which a stream says that it is still there."""
STALLED = 30.0
"""Seconds in which whoever follows a stream has to take what was sent; then it is cut, and goes on behind its last id."""
PLAIN = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)
NOBODY = Token("nobody", "", "read")
"""Who asks for what is public."""


class App:
    """One callable for uvicorn."""

    def __init__(self, hosting: Hosting, gate: Gate, counters: Counters) -> None:
        self._hosting = hosting
        self._gate = gate
        self._counters = counters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        name = "-"
        try:
            headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
            self._gate.visit(headers)
            route, place = routed(scope["method"], _path(scope))
            name = f"{route.method} {route.path}"
            token = self._let_in(route, headers, scope)
            call = await self._call(route, token, place, headers, scope, receive)
            answer = await route.handler(call)
        except AgentError as problem:
            refused = refusal(problem)
            if name == "-" or refused.status == 401:
                self._counters.refused(refused.kind)
            answer = _told(refused)
        except Exception:
            log.exception("%s broke", name)
            answer = _told(Refused(500, "internal", "A fault of the server's own; its log says what."))
        if isinstance(answer, Stream):
            self._counters.answered(name, 200)
            await _stream(answer, receive, send, head=scope["method"] == "HEAD")
            return
        self._counters.answered(name, answer.status)
        await _send(answer, send)

    def _let_in(self, route: Route, headers: dict[str, str], scope: Scope) -> Token:
        if route.public:
            return NOBODY
        peer = Peer(_end(scope["client"]), _end(scope["server"])) if scope.get("client") else None
        return self._gate.admit(headers, peer, route.scope, f"{route.method} {route.path}")

    async def _call(
        self,
        route: Route,
        token: Token,
        place: dict[str, str],
        headers: dict[str, str],
        scope: Scope,
        receive: Receive,
    ) -> Call:
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        names = {key: unquote(value) for key, value in place.items()}
        body = await _body(route.body, headers, receive) if route.body is not None else None
        return Call(self._hosting, self._counters, token, names, query, headers, body)


def _path(scope: Scope) -> str:
    """As it was sent, so that a slash within a name is none between names."""
    raw = scope.get("raw_path")
    return raw.decode("latin-1").partition("?")[0] if isinstance(raw, bytes) else str(scope["path"])


def _end(pair: Any) -> tuple[str, int]:
    return str(pair[0]), int(pair[1])


async def _body(kind: Any, headers: dict[str, str], receive: Receive) -> Any:
    """Raises Refused where it is too long, comes too slowly, or is not what the route takes."""
    raw = await _raw(headers, receive)
    if not raw.strip():
        missing = optional(kind)
        if missing is None:
            raise Refused(422, "body", f"This needs a body: a JSON object with {_fields(kind)}.")
        return missing
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as problem:
        raise Refused(
            422, "body", f"The body does not fit: {problem}. It may hold {_fields(kind)}."
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise Refused(400, "json", f"The body is no JSON: {problem}.") from None


def _fields(kind: Any) -> str:
    """What it may hold, in words."""
    if not is_struct(kind):
        return "`type` and the fields of that order (/openapi.json)"
    return ", ".join(f"`{field.name}`" for field in msgspec.structs.fields(kind))


async def _raw(headers: dict[str, str], receive: Receive) -> bytes:
    said = headers.get("content-length", "")
    if said.isdigit() and int(said) > DRAINED:
        raise _too_long()
    try:
        async with asyncio.timeout(BODY_WITHIN):
            return await _whole(receive)
    except TimeoutError:
        raise Refused(408, "too-slow", f"The body was not here within {BODY_WITHIN:g} seconds.") from None


async def _whole(receive: Receive) -> bytes:
    """What is too long is still taken for a while: who is in the middle of sending does not hear the refusal."""
    held, length, more = bytearray(), 0, True
    while more and length <= DRAINED:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "disconnected", "The connection was closed before the body was here.")
        piece = message.get("body", b"")
        length += len(piece)
        more = bool(message.get("more_body", False))
        if length <= LONGEST:
            held += piece
    if length > LONGEST:
        raise _too_long()
    return bytes(held)


def _too_long() -> Refused:
    return Refused(413, "too-long", f"The body is longer than {LONGEST:,} bytes, which is the most.")


def _told(refused: Refused) -> Answer:
    headers = [("retry-after", str(refused.retry_after))] if refused.retry_after else []
    if refused.status == 401:
        headers.append(("www-authenticate", "Bearer"))
    if refused.status in (408, 413):
        headers.append(("connection", "close"))
    return Answer(body_of(refused), refused.status, headers=tuple(headers))


async def _send(answer: Answer, send: Send) -> None:
    is_json = answer.content_type == "application/json"
    body = (line_of(answer.body) if is_json else str(answer.body)).encode("utf-8", "replace")
    own = [(name.encode(), value.encode("latin-1", "replace")) for name, value in answer.headers]
    kind = (b"content-type", answer.content_type.encode())
    length = (b"content-length", str(len(body)).encode())
    said = {name for name, _ in own}
    plain = [pair for pair in PLAIN if pair[0] not in said]
    await send(
        {"type": "http.response.start", "status": answer.status, "headers": [kind, length, *plain, *own]}
    )
    await send({"type": "http.response.body", "body": body})


async def _stream(stream: Stream, receive: Receive, send: Send, *, head: bool) -> None:
    """Until there is no more, or nobody takes it any more; with `head` none of it."""
    kind = (b"content-type", stream.content_type.encode())
    buffering = (b"x-accel-buffering", b"no")
    await send({"type": "http.response.start", "status": 200, "headers": [kind, buffering, *PLAIN]})
    if head:
        await stream.frames.aclose()
        await send({"type": "http.response.body", "body": b""})
        return
    gone = asyncio.create_task(_gone(receive))
    try:
        await _frames(stream, gone, send)
    except TimeoutError:
        log.info("a follower took nothing for %g seconds and was cut", STALLED)
    except AgentError as problem:
        log.warning("an event stream ended: %s", problem)
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        await stream.frames.aclose()


async def _frames(stream: Stream, gone: asyncio.Task[None], send: Send) -> None:
    following = asyncio.create_task(_next(stream.frames))
    try:
        while True:
            done, _ = await asyncio.wait(
                {following, gone}, timeout=QUIET, return_when=asyncio.FIRST_COMPLETED
            )
            if gone in done:
                return
            frame = following.result() if following in done else stream.idle
            async with asyncio.timeout(STALLED):
                await send(
                    {"type": "http.response.body", "body": frame or b"", "more_body": frame is not None}
                )
            if frame is None:
                return
            if following in done:
                following = asyncio.create_task(_next(stream.frames))
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError, AgentError):
            await following


async def _next(frames: AsyncGenerator[bytes, None]) -> bytes | None:
    return await anext(frames, None)


async def _gone(receive: Receive) -> None:
    """Returns when whoever asked is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass

"""Fetches one resource: every hop is checked by name and by address, and connects to the address that was checked."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, urljoin, urlsplit

from agent_cli import __version__
from agent_cli.kernel.errors import ToolError
from agent_cli.tools.addresses import Reach, plain_host, refusal

SECONDS = 30.0
"""Of one fetch with all its redirects, and the conversion of what came."""
LARGEST = 5_000_000
"""Bytes that are read of one body."""
MOST_HOPS = 10
Unpack: TypeAlias = Callable[[bytes, int], bytes]
"""A piece of a body, and how many bytes of it are wanted at most."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ACCEPT = "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5"
_SAFE = "%/:=&?~#+!$,;'@()*[]"


class Target(NamedTuple):
    """An address in its parts; `url` is ASCII."""

    url: str
    host: str
    is_secure: bool


class Unreached(ToolError):
    """The host did not answer."""


class Fetched(NamedTuple):
    """`whole` is False where the body was longer than what is read."""

    url: str
    status: int
    content_type: str
    body: bytes
    whole: bool


def target_of(url: str) -> Target:
    """Raises ToolError for what is no plain http or https address."""
    if any(ord(letter) <= 32 or letter in '\\"<>^`{|}' or ord(letter) == 127 for letter in url):
        raise ToolError(f"{url!r} is no address: it holds a space or another character that must be escaped.")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = plain_host(parts.hostname) if parts.hostname else ""
    except (ValueError, UnicodeError) as problem:
        raise ToolError(f"{url!r} is no address: {problem}.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ToolError(f"{url!r} is no address of the web: give one that begins with http:// or https://.")
    if parts.username is not None or parts.password is not None:
        raise ToolError("The address holds a user name or a password: give it without them.")
    shown = f"[{host}]" if ":" in host else host
    where = f"{shown}:{port}" if port is not None else shown
    query = f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
    path = quote(parts.path, safe=_SAFE) or "/"
    return Target(f"{parts.scheme}://{where}{path}{query}", host, parts.scheme == "https")


async def fetch(target: Target, reach: Reach) -> Fetched:
    """Follows redirects. Raises ToolError; whoever calls limits the time.

    The first host was judged with the call, perhaps by a person; every other one that a redirect names is judged here.
    """
    judged = target.host
    for _ in range(MOST_HOPS + 1):
        if target.host != judged and not reach.allowed(target.host):
            raise ToolError(
                f"The redirect to {target.url} was not followed: the rules of the operator do not allow {target.host} "
                "unasked. Fetch that address itself if you need it."
            )
        answer = await _guarded(target, reach)
        if isinstance(answer, Fetched):
            return answer
        target = answer
    raise ToolError(f"More than {MOST_HOPS} redirects, the last to {target.url}: this address leads nowhere.")


async def _guarded(target: Target, reach: Reach) -> Fetched | Target:
    """One request behind the circuit breaker of its host. A host that answers, if only that it refuses, does not fail."""
    if reach.breakers is None:
        return await _request(target, reach)
    breaker = reach.breakers.of(target.host)
    admitted = breaker.admit(time.monotonic())
    if admitted is None:
        raise ToolError(f"{breaker.refusal(time.monotonic())}. Nothing was fetched; go on without it.")
    try:
        answer = await _request(target, reach)
    except Unreached:
        breaker.failed(time.monotonic(), admitted)
        raise
    except BaseException:
        breaker.abandoned(admitted)
        raise
    if isinstance(answer, Fetched) and answer.status >= 500:
        breaker.failed(time.monotonic(), admitted)
    else:
        breaker.succeeded()
    return answer


def hung(target: Target, reach: Reach) -> None:
    """It was given up: that counts as a failure of the host."""
    if reach.breakers is not None:
        reach.breakers.of(target.host).failed(time.monotonic())


async def _request(target: Target, reach: Reach) -> Fetched | Target:
    import httpcore2

    network: Any = _Checked(httpcore2.AnyIOBackend(), reach)
    pool = httpcore2.AsyncConnectionPool(
        ssl_context=_trust(target), network_backend=network, max_connections=1
    )
    headers: Any = {
        "accept": _ACCEPT,
        "accept-encoding": "gzip, deflate",
        "user-agent": f"agent-cli/{__version__}",
    }
    try:
        async with pool, pool.stream("GET", target.url, headers=headers) as response:
            given = _headers(response.headers)
            if response.status in _REDIRECTS and "location" in given:
                return _next(target, given["location"])
            body, whole = await _body(response.aiter_stream(), given.get("content-encoding", ""))
            return Fetched(target.url, response.status, given.get("content-type", ""), body, whole)
    except (ToolError, TimeoutError):
        raise
    except (OSError, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException) as problem:
        raise Unreached(
            f"Cannot fetch {target.url}: {_cause(problem)}. Proxies of the environment are not used here."
        ) from None


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


def _next(target: Target, location: str) -> Target:
    try:
        there = urljoin(target.url, location.encode("latin-1").decode("utf-8", errors="replace").strip())
    except ValueError as problem:
        raise ToolError(f"{target.url} leads to {location!r}, which is no address: {problem}.") from None
    try:
        return target_of(there.replace(" ", "%20"))
    except ToolError as problem:
        raise ToolError(f"{target.url} leads elsewhere. {problem}") from None


def _trust(target: Target) -> Any:
    """Loading the certificates takes 20 ms, which a plain address can do without."""
    if target.is_secure:
        import httpx2

        return httpx2.create_ssl_context()
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _cause(problem: BaseException) -> str:
    """The first exception that says something."""
    while not str(problem) and (problem.__cause__ or problem.__context__):
        problem = problem.__cause__ or problem.__context__ or problem
    return str(problem).rstrip(".") or type(problem).__name__


# ── bodies ──


async def _body(stream: AsyncIterator[bytes], coding: str) -> tuple[bytes, bool]:
    """At most LARGEST bytes, unpacked; a body that unpacks to more is not unpacked further."""
    unpack = _unpacking(coding)
    body = bytearray()
    async for chunk in stream:
        room = LARGEST - len(body) + 1
        body += unpack(chunk, room)
        if len(body) > LARGEST:
            return bytes(body[:LARGEST]), False
    return bytes(body), True


def _unpacking(coding: str) -> Unpack:
    """Raises ToolError for a coding that nobody asked for."""
    name = coding.strip().lower()
    if name in ("", "identity"):
        return _as_it_is
    if name not in ("gzip", "x-gzip", "deflate"):
        raise ToolError(f"The answer is packed as '{name}', which was not asked for and cannot be read.")
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(chunk: bytes, room: int) -> bytes:
        try:
            return inflate.decompress(chunk, room)
        except zlib.error as problem:
            raise ToolError(f"The answer is damaged: {problem}.") from None

    return unpack


def _as_it_is(chunk: bytes, room: int) -> bytes:
    return chunk[:room]


# ── connections ──


class _Checked:
    """Connects to an address of the host that may be connected to, so that no second look-up decides."""

    def __init__(self, network: Any, reach: Reach) -> None:
        self._network = network
        self._reach = reach

    async def connect_tcp(self, host: str, port: int, **options: Any) -> Any:
        problem: BaseException | None = None
        for address in await _addresses(host, port, private=self._reach.private(host.strip("[]"))):
            try:
                return await self._network.connect_tcp(address, port, **options)
            except Exception as failed:  # noqa: BLE001  the next address may answer; the last problem is raised
                problem = failed
        raise problem or OSError(f"{host} has no address")

    async def connect_unix_socket(self, path: str, **_: Any) -> Any:
        raise OSError(f"no socket of this machine: {path}")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


async def _addresses(host: str, port: int, *, private: bool) -> list[str]:
    """Those that may be connected to. Raises ToolError where there are only others."""
    import socket

    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
    except socket.gaierror as problem:
        raise Unreached(f"Cannot fetch from {host}: the name has no address ({problem.strerror}).") from None
    all_of_it = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    refused = {address: refusal(address, private=private) for address in all_of_it}
    good = [address for address, why in refused.items() if not why]
    if not good:
        address, why = next(iter(refused.items()), ("nothing", "no address"))
        raise ToolError(
            f"{host} was not asked: it leads to {address}, which is {why}. Only the operator can open such hosts."
        )
    return good

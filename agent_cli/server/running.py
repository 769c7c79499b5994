"""The server on its sockets, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain
from agent_cli.server import peers
from agent_cli.server.app import App
from agent_cli.server.connection import Patient
from agent_cli.server.hosting import Hosting

if TYPE_CHECKING:
    import uvicorn

log = logging.getLogger("agent_cli.server")

MISSING = (
    "The attach server needs uvicorn, which is not installed: pip install 'agent-cli[serve]' (with uv: "
    "uv tool install 'agent-cli[serve]')."
)
CONNECTIONS = 256
LAST_WORDS = 5
"""Seconds in which those who follow a session can take its last events when the server stops."""
DEAD_AFTER = 60
"""Seconds after which a connection is given up whose other end takes nothing and says nothing."""


class Secure(Plain, frozen=True):
    """Files in PEM: the certificate with its chain, and its key."""

    certificate: Path
    key: Path


def check_installed() -> None:
    """Raises ConfigError."""
    try:
        import uvicorn  # noqa: F401  # pyright: ignore[reportUnusedImport]  only whether it is there
    except ImportError:
        raise ConfigError(MISSING) from None


def check_width(host: str, *, tokens: bool) -> None:
    """Whether it may listen there. Raises ConfigError."""
    if tokens or peers.is_loopback(host):
        return
    raise ConfigError(
        f"{host} can be reached from other machines, and there is no token: whoever gets there could have the agent run "
        "commands. Make a token first (agent-cli serve token add NAME), or listen on 127.0.0.1."
    )


def bound(host: str, port: int) -> socket.socket:
    """Raises ConfigError where it cannot listen there."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.create_server((str(address[0]), port), family=family, backlog=128)
    except OSError as problem:
        raise ConfigError(
            f"Cannot listen on {host}:{port}: {problem.strerror or problem}. Another program may listen there; choose "
            "another with --listen HOST:PORT (port 0 takes any that is free)."
        ) from None
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each answer waits 40 ms for a receipt
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_AFTER * 1_000)
    return found


async def serve(
    hosting: Hosting, app: App, listening: socket.socket, stop: asyncio.Event, secure: Secure | None = None
) -> None:
    """Returns when `stop` is set and every turn was interrupted, every session let go. Raises ConfigError."""
    server = _server(app, secure)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    keeping = asyncio.create_task(hosting.keep_house())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({running, keeping, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (keeping, stopping):
            task.cancel()
        await hosting.close()
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await running
        if keeping.done() and not keeping.cancelled() and keeping.exception():
            log.error("what lets go of sessions broke", exc_info=keeping.exception())


def _server(app: App, secure: Secure | None) -> uvicorn.Server:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Connection(Patient, H11Protocol):
        pass

    class Quiet(uvicorn.Server):
        """Signals are heard by whoever runs it."""

        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None]:
            yield

    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        http=Connection,
        loop="asyncio",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=LAST_WORDS,
        ssl_certfile=None if secure is None else str(secure.certificate),
        ssl_keyfile=None if secure is None else str(secure.key),
    )
    try:
        config.load()
    except (OSError, ValueError) as problem:
        raise ConfigError(
            f"--tls-cert and --tls-key cannot be used: {problem}. They are files in PEM, the certificate with its chain."
        ) from None
    return Quiet(config)

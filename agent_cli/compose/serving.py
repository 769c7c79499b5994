"""The attach server with what it needs from the other rooms: sessions, tokens, settings, signals."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from agent_cli.compose.archive import Archive
from agent_cli.compose.attach_tokens import tokens_of
from agent_cli.compose.budgets import limits
from agent_cli.compose.discreet import Discreet, untold
from agent_cli.compose.known import log_to_file
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import prepare
from agent_cli.compose.watchdog import start_line
from agent_cli.config.sources import Loaded
from agent_cli.headless.signals import Stops
from agent_cli.kernel.commands import SetMode
from agent_cli.kernel.errors import ConfigError
from agent_cli.server import peers
from agent_cli.server.app import App
from agent_cli.server.counters import Counters
from agent_cli.server.door import Terms
from agent_cli.server.gate import Gate, Listening
from agent_cli.server.hosting import Hosting
from agent_cli.server.running import Secure, bound, check_installed, check_width, serve
from agent_cli.server.tokens import Tokens

OPERATOR = "agent_cli.operator"


class Order(msgspec.Struct, frozen=True):
    """Where to listen and for whom. `directories` are served beside the working directory.

    `own` says that the one session of the options is served, and `message` what is said in it at once.
    """

    host: str
    port: int
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    directories: tuple[Path, ...] = ()
    own: bool = False
    message: str = ""


def run(options: RunOptions, order: Order) -> int:
    """Until a signal stops it. Returns the exit code. Raises ConfigError and StoreError."""
    check_installed()
    tokens = tokens_of(options)
    check_width(order.host, tokens=bool(tokens.all()))
    secure = _secure(order)
    _log(options)
    options = replace(options, attended=False, answered=True)
    loaded = prepare(options)
    options = replace(options, trust=False)  # it was about the directory that the server is started in
    base = replace(
        options, trust=False, resume=None, resume_latest=False, fork=None, name=None
    )  # those words are about the directory and the session that the command line names
    with bound(order.host, order.port) as taken:
        listening = Listening(
            order.host, taken.getsockname()[1], secure is not None, order.hosts, order.origins
        )
        gc.freeze()
        gc.enable()
        return asyncio.run(_serve(options, base, order, loaded, Served(listening, tokens, secure, taken)))


class Served(NamedTuple):
    listening: Listening
    tokens: Tokens
    secure: Secure | None
    bound: socket.socket


async def _serve(options: RunOptions, base: RunOptions, order: Order, loaded: Loaded, served: Served) -> int:
    counters, terms = Counters(), Terms(**msgspec.structs.asdict(loaded.settings.serve))
    archive = Archive(base, loaded.settings, (options.cwd, *order.directories))
    hosting = Hosting(archive, terms, counters.feed)
    stop = asyncio.Event()
    try:
        own = await _own(options, order, archive, hosting) if order.own else ""
        app = App(hosting, Gate(served.listening, served.tokens, terms.requests_per_minute), counters)
        for line in _lines(served, loaded, own):
            _say(line)
        sys.stdout.write(f"{served.listening.url}\n")
        sys.stdout.flush()
        with Stops(stop.set):
            await serve(hosting, app, served.bound, stop, served.secure)
    finally:
        archive.close()
    _say("agent: the server was stopped; sessions can be gone on with")
    return 0


async def _own(options: RunOptions, order: Order, archive: Archive, hosting: Hosting) -> str:
    """The session that the command line names, open for as long as the server runs."""
    opened = await archive.own(options)
    hosting.only = frozenset((opened.door.id,))
    opened.door.send(SetMode(opened.door.state.mode))  # a new one is on record at once
    hosted = hosting.host(opened)
    if order.message:
        hosted.say(order.message, "steer")
    return opened.door.id


def _lines(served: Served, loaded: Loaded, own: str) -> Iterator[str]:
    """What the operator is told at the start."""
    yield f"agent: {start_line(loaded, attended=False)}"
    ceiling = limits(loaded.settings, attended=False).max_session_cost
    each = f"session {own}" if own else "each session"
    yield f"agent: cost ceiling of {each}: {f'${ceiling:.2f}' if ceiling else 'none'}"
    here, tokens = served.listening, served.tokens.all()
    if tokens:
        yield f"agent: tokens: {', '.join(f'{token.name} ({token.scope})' for token in tokens)}"
    elif peers.tells_users():
        yield "agent: no tokens: programs of your own user on this machine may do everything, others nothing"
    else:
        yield (
            "agent: no tokens, and this system does not say whose program asks: everybody on this machine may do "
            "everything. `agent-cli serve token add NAME` makes one"
        )
    if not peers.is_loopback(here.host) and not here.secure:
        yield "agent: without TLS, tokens and everything that is said can be read on the way: --tls-cert and --tls-key"
    yield f"agent: listening on {here.url}" + (f", for session {own}" if own else "")


def _secure(order: Order) -> Secure | None:
    if order.certificate is None and order.key is None:
        return None
    if order.certificate is None or order.key is None:
        raise ConfigError(
            "--tls-cert and --tls-key belong together: the certificate with its chain, and its key."
        )
    return Secure(order.certificate, order.key)


def _log(options: RunOptions) -> None:
    """The operator's lines go to stderr; with --log-file also there."""
    if options.log_file is not None:
        log_to_file(options)
    handler = logging.StreamHandler()
    handler.setFormatter(Discreet("%(message)s"))
    handler.addFilter(untold)
    handler.addFilter(lambda record: record.name == OPERATOR or record.levelno >= logging.WARNING)
    ours = logging.getLogger("agent_cli")
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()

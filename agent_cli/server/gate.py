"""Who is let in: the name that was asked for, the page that asks, the token, and how often."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import NamedTuple

from agent_cli.kernel.values import Plain
from agent_cli.server import peers
from agent_cli.server.problems import Refused
from agent_cli.server.rates import Rates
from agent_cli.server.tokens import Scope, Token, Tokens

log = logging.getLogger("agent_cli.server")

BURST = 500
WRONG_PER_MINUTE = 10
"""Wrong tokens from one address; then it has to wait, also with a right one."""


class Listening(Plain, frozen=True):
    """`hosts` are names beside that of the address, `origins` pages beside our own (`https://example.org`)."""

    host: str
    port: int
    secure: bool = False
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.secure else ''}://{shown}:{self.port}"


class Peer(NamedTuple):
    """The two ends of a connection."""

    client: tuple[str, int]
    server: tuple[str, int]


LOCAL = Token("local", "", "admin")
"""A program of the same user on this machine, where there are no tokens."""


class Gate:
    """`tokens` are looked up anew with each request."""

    def __init__(self, listening: Listening, tokens: Tokens, per_minute: int) -> None:
        self.listening = listening
        self._tokens = tokens
        self._rates = Rates(per_minute, min(BURST, per_minute))
        self._wrong = Rates(WRONG_PER_MINUTE, WRONG_PER_MINUTE)

    def visit(self, headers: Mapping[str, str]) -> None:
        """Whether the request is meant for us, and not sent by a page of somebody else's. Raises Refused."""
        host, here = headers.get("host", ""), self.listening
        if not peers.is_served(host, here.host, here.hosts):
            raise Refused(
                421,
                "host",
                f"This server does not answer to '{peers.host_of(host)[:100]}'. If that is a name of it, start it with "
                "--allow-host NAME.",
            )
        origin = headers.get("origin")
        scheme = "https" if here.secure else "http"
        followed = headers.get("sec-fetch-mode") == "navigate"  # a link to the page, which changes nothing
        crossed = headers.get("sec-fetch-site") == "cross-site" and origin is None and not followed
        if crossed or (origin is not None and not peers.may_ask(origin, scheme, host, here.origins)):
            raise Refused(
                403,
                "origin",
                f"A page of {(origin or 'another site')[:100]} may not ask this server. If it is yours, start the server with "
                "--allow-origin ORIGIN.",
            )

    def admit(self, headers: Mapping[str, str], peer: Peer | None, scope: Scope, what: str) -> Token:
        """Whose request it is. Raises Refused, and ConfigError where the tokens cannot be read."""
        now, address = time.monotonic(), peer.client[0] if peer else ""
        if seconds := self._wrong.empty(address, now):
            raise _slower(seconds, "Too many wrong tokens came from this address.")
        token = self._token(headers, peer, now, address)
        who = f"token {token.name}" if token.digest else f"address {address}"
        if seconds := self._rates.take(who, now):
            raise _slower(seconds, "Too many requests came in one minute (serve.requests_per_minute).")
        if not token.may(scope):
            from agent_cli.server.call import lacking

            raise lacking(token, scope, what)
        return token

    def _token(self, headers: Mapping[str, str], peer: Peer | None, now: float, address: str) -> Token:
        kind, _, secret = headers.get("authorization", "").partition(" ")
        if not secret.strip() and not self._tokens.all():
            return self._local(peer)
        found = self._tokens.find(secret.strip()) if kind.lower() == "bearer" and secret.strip() else None
        if found is None:
            if secret:
                self._wrong.take(address, now)
            raise _unknown("The token is not known here." if secret else "This takes a token.")
        return found

    def _local(self, peer: Peer | None) -> Token:
        """Without tokens, programs of the same user are let in, and nobody else."""
        if not peers.is_loopback(self.listening.host) or peer is None:
            raise _unknown("This takes a token.")
        if peers.is_own_user(peer.client, peer.server) is False:
            raise _unknown(
                "Without a token only programs of the user who runs the server are answered, and this one is another's."
            )
        return LOCAL


def _unknown(why: str) -> Refused:
    return Refused(
        401,
        "token",
        f"{why} `agent-cli serve token add NAME` makes one; send it as `Authorization: Bearer TOKEN`.",
    )


def _slower(seconds: int, why: str) -> Refused:
    return Refused(429, "too-many-requests", f"{why} Ask again in {seconds} s.", retry_after=seconds)

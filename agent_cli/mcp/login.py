"""OAuth: what a login gave is kept in a file of its own, and signs requests from then on; tokens are renewed by themselves."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.wire import is_object
from agent_cli.mcp.servers import Http, Server

if TYPE_CHECKING:
    from mcp.client.auth import OAuthClientProvider
    from mcp.client.auth.oauth2 import OAuthContext
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken

NAME = "agent-cli"
PATH = "/callback"
PERSON_SECONDS = 300.0
DONE = "You are logged in. This window can be closed."
NOT_DONE = "The login did not work: {why}. Go back to the terminal."
EARLY = 30.0
"""Seconds before its end at which a token is renewed."""


class Tokens:
    """The SDK's storage, in a file that only its owner can read. What cannot be read counts as no login."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.context: OAuthContext | None = None

    async def get_tokens(self) -> OAuthToken | None:
        from mcp.shared.auth import OAuthMetadata, OAuthToken, ProtectedResourceMetadata

        held = self._held()
        if "tokens" not in held:
            return None
        context = self.context
        if context is not None:  # the SDK forgets when a token ends, and where it is renewed
            context.token_expiry_time = held.get("ends")
            if "issuer" in held:
                context.oauth_metadata = OAuthMetadata.model_validate(held["issuer"])
            if "resource" in held:
                context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
                    held["resource"]
                )
            context.auth_server_url = held.get("server")
        return OAuthToken.model_validate(held["tokens"])

    async def set_tokens(self, tokens: OAuthToken) -> None:
        context = self.context
        more: dict[str, Any] = {"tokens": tokens.model_dump(mode="json", exclude_none=True)}
        more["ends"] = time.time() + tokens.expires_in - EARLY if tokens.expires_in else None
        if context is not None:
            more["server"] = context.auth_server_url
            for name, part in (
                ("issuer", context.oauth_metadata),
                ("resource", context.protected_resource_metadata),
            ):
                if part is not None:
                    more[name] = part.model_dump(mode="json", exclude_none=True)
        self._keep(more)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        from mcp.shared.auth import OAuthClientInformationFull

        held = self._held()
        return OAuthClientInformationFull.model_validate(held["client"]) if "client" in held else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._keep({"client": client_info.model_dump(mode="json", exclude_none=True)})

    def _held(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if is_object(found) else {}

    def _keep(self, more: dict[str, Any]) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        whole = json.dumps({**self._held(), **more}, indent=1)
        beside = self._file.with_suffix(".new")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(whole)
        beside.replace(self._file)


def signer(server: Server) -> OAuthClientProvider | None:
    """What signs requests to a server that somebody logged in to; None where nobody did. It asks nobody anything."""
    if not server.tokens or not Path(server.tokens).is_file():
        return None
    return _provider(server, "http://127.0.0.1" + PATH, None, None)


def _provider(
    server: Server,
    callback: str,
    go: Callable[[str], Awaitable[None]] | None,
    came: Callable[[], Awaitable[AuthorizationCodeResult]] | None,
) -> OAuthClientProvider:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    if not isinstance(server.reached, Http):
        raise AgentError(f"The server {server.name} is a program: there is nothing to log in to.")
    metadata = OAuthClientMetadata.model_validate({"client_name": NAME, "redirect_uris": [callback]})
    storage = Tokens(Path(server.tokens))
    made = OAuthClientProvider(server.reached.url, metadata, storage, go, came)
    storage.context = made.context
    return made


def log_in(server: Server, show: Callable[[str], None]) -> Callable[[Server], Any]:
    """Prepares a login: what this returns signs requests, and sends the operator to the address that `show` gets.

    Raises AgentError where there is nothing to log in to, OSError.
    """
    with suppress(OSError):
        Path(server.tokens).unlink()  # another port than the last time: the program has to be registered anew
    showing: set[asyncio.Future[None]] = set()
    bound = socket.create_server(("127.0.0.1", 0))

    async def came() -> AuthorizationCodeResult:
        return await _returned(bound)

    async def go(url: str) -> None:
        showing.add(asyncio.ensure_future(asyncio.to_thread(show, url)))  # a browser may wait for us
        await asyncio.sleep(0)

    provider = _provider(server, f"http://127.0.0.1:{bound.getsockname()[1]}{PATH}", go, came)
    return lambda _: provider


async def _returned(bound: socket.socket) -> AuthorizationCodeResult:
    """What the browser brings back. Raises TimeoutError, AgentError."""
    waiting: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()
    listening = await asyncio.start_server(
        lambda reader, writer: _called(reader, writer, waiting), sock=bound
    )
    try:
        async with asyncio.timeout(PERSON_SECONDS):
            return await waiting
    finally:
        listening.close()


async def _called(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    waiting: asyncio.Future[AuthorizationCodeResult],
) -> None:
    """The browser comes back."""
    from mcp.shared.auth import AuthorizationCodeResult

    try:
        async with asyncio.timeout(10):
            line = (await reader.readuntil(b"\r\n")).decode("latin-1").split(" ")
        target = urlsplit(line[1] if len(line) > 1 else "")
        given = {name: values[0] for name, values in parse_qs(target.query).items()}
        if target.path != PATH:
            await _answer(writer, 404, "There is nothing here.")
            return
        why = (
            given.get("error_description")
            or given.get("error")
            or ("" if given.get("code") else "no code came back")
        )
        await _answer(writer, 400 if why else 200, NOT_DONE.format(why=why) if why else DONE)
        if waiting.done():
            return
        if why:
            waiting.set_exception(AgentError(f"the login was refused: {why}"))
        else:
            waiting.set_result(
                AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))
            )
    except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return
    finally:
        writer.close()


async def _answer(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    plain = "".join(char for char in text if char.isprintable()).encode()
    head = f"HTTP/1.1 {status} OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(plain)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + plain)
    await writer.drain()

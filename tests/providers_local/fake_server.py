"""A llama-server that is none: speaks its /health and its streamed chat completions, by the plan in its "model" file.

Plan: {"replies": [text, ...], "abort_on": [request number, ...], "exit": code, "endless": bool}. Run as a script.
It writes what it was given beside the model: `started` (arguments and environment) and `requests`, JSON lines.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FLAGS = dict(zip(sys.argv[1:], sys.argv[2:], strict=False))
MODEL = Path(FLAGS.get("-m", ""))


def note(name: str, value: object) -> None:
    with (MODEL.parent / name).open("a") as file:
        file.write(json.dumps(value) + "\n")


class Handler(BaseHTTPRequestHandler):
    plan: dict = {}
    asked = 0
    counting = threading.Lock()

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._json(200, {"status": "ok"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.headers["authorization"] != f"Bearer {os.environ['LLAMA_API_KEY']}":
            self._json(
                401, {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}}
            )
            return
        if self.path.startswith("/slots/0?action="):
            self._slot(self.path.partition("=")[2], Path(FLAGS["--slot-save-path"]) / body["filename"])
            return
        if not body.get("stream"):
            note("warmed", body)
            self._json(200, {"choices": []})
            return
        with Handler.counting:
            number = Handler.asked
            Handler.asked += 1
        note("requests", body)
        if self.plan.get("too_long"):
            told = (
                "request (24029 tokens) exceeds the available context size (8192 tokens), try increasing it"
            )
            kind = "exceed_context_size_error"
            error = {"code": 400, "message": told, "type": kind, "n_prompt_tokens": 24029, "n_ctx": 8192}
            self._json(400, {"error": error})
            return
        self._stream(self.plan["replies"][number % len(self.plan["replies"])], number)

    def _slot(self, action: str, file: Path) -> None:
        note("slots", action)
        if action == "save":
            file.write_text("state", "utf-8")
        self._json(200 if file.read_text("utf-8") == "state" else 400, {})

    def _stream(self, text: str, number: int) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self._event({"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]})
        for at, start in enumerate(range(0, len(text), 5)):
            if at == 2 and number in self.plan.get("abort_on", []):
                print("GGML_ASSERT failed: a made-up reason", file=sys.stderr, flush=True)
                os.abort()
            self._event({"choices": [{"delta": {"content": text[start : start + 5]}, "finish_reason": None}]})
        try:
            while self.plan.get("endless"):
                self._event({"choices": [{"delta": {"content": " "}, "finish_reason": None}]})
        except OSError:
            (MODEL.parent / "gone").write_text("yes")  # a pipe: the test reads it
            return
        self._event({"choices": [{"delta": {}, "finish_reason": self.plan.get("finish", "stop")}]})
        usage = {"prompt_tokens": 50, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 40}}
        self._event({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, event: dict) -> None:
        self.wfile.write(b"data: " + json.dumps({"id": "chat-1", **event}).encode() + b"\n\n")
        self.wfile.flush()

    def _json(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    Handler.plan = json.loads(MODEL.read_text("utf-8"))
    note("started", {"arguments": sys.argv[1:], "environment": dict(os.environ)})
    if "exit" in Handler.plan:
        print("error: this is no model file", file=sys.stderr, flush=True)
        sys.exit(Handler.plan["exit"])
    ThreadingHTTPServer(("127.0.0.1", int(FLAGS["--port"])), Handler).serve_forever()


if __name__ == "__main__":
    main()

"""A program that speaks as Claude Code does: stream-json on its pipes, MCP over HTTP to the bridge.

Run as a program. It plays the runs of the file in FAKE_CLAUDE_PLAN, one a start, and writes what it saw to the
file in FAKE_CLAUDE_LOG, one JSON object a line. Nothing of the product is imported.
"""

from __future__ import annotations

import http.client
import json
import os
import stat
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

USAGE = {
    "input_tokens": 100,
    "cache_read_input_tokens": 10,
    "cache_creation_input_tokens": 5,
    "output_tokens": 7,
}


def log(**what: Any) -> None:
    with Path(os.environ["FAKE_CLAUDE_LOG"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(what) + "\n")


def say(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def flag(name: str) -> str | None:
    argv = sys.argv[1:]
    return argv[argv.index(name) + 1] if name in argv else None


class Bridge:
    """The MCP client's side."""

    def __init__(self, config: Path) -> None:
        server = json.loads(config.read_text("utf-8"))["mcpServers"]["cli"]
        mode = stat.S_IMODE(config.stat().st_mode)
        self.url, self.headers = server["url"], dict(server["headers"])
        log(config=str(config), mode=oct(mode), url=self.url)
        self._id = 0
        self._lock = threading.Lock()

    def ask(self, method: str, params: dict[str, Any] | None = None, *, notify: bool = False) -> Any:
        """The whole answer; {"status": N} where it is none of JSON-RPC."""
        with self._lock:
            self._id += 1
            message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
            if not notify:
                message["id"] = self._id
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
        headers = {
            **self.headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        connection.request("POST", place.path, json.dumps(message), headers)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        if response.getheader("Content-Type") == "text/event-stream":
            body = next(line[6:] for line in body.splitlines() if line.startswith("data: "))
        return json.loads(body) if response.status == 200 else {"status": response.status}

    def tools(self) -> list[str]:
        self.ask(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fake"}},
        )
        self.ask("notifications/initialized", notify=True)
        listed = self.ask("tools/list")
        return (
            [f"mcp__cli__{tool['name']}" for tool in listed["result"]["tools"]] if "result" in listed else []
        )


class Run:
    """`plan`: `turns` (text, calls, usage, reason), `more` for words after the last one, `fault`, `result`.

    `result` holds fields over the last line.
    """

    def __init__(self, plan: dict[str, Any], session: str) -> None:
        self.plan = plan
        self.fault = plan.get("fault", "")
        self.session = session
        self.bridge: Bridge | None = None
        self.total = dict.fromkeys(USAGE, 0)

    def play(self) -> None:
        if self.fault == "die":
            sys.stderr.write("it does not want to\n")
            sys.exit(3)
        if self.fault == "lost":
            say(
                type="result",
                subtype="error_during_execution",
                is_error=True,
                errors=["No conversation found"],
            )
            sys.exit(1)
        if flag("--mcp-config"):
            self.bridge = Bridge(Path(flag("--mcp-config") or ""))
            if self.fault == "wrong-token":
                self.bridge.headers["Authorization"] = "Bearer guessed"
            names = self.bridge.tools()
            if self.fault == "second-client":
                log(second=self.bridge.ask("initialize", {}))
        else:
            names = []
        heard = json.loads(sys.stdin.readline())
        log(heard=heard["message"]["content"])
        if self.fault == "hang":
            time.sleep(60)
        if self.fault == "garbage":
            sys.stdout.write('nonsense\n{"type": "half\n[1, 2]\n\n{"type":"news","event":7}\n')
        if self.fault == "endless-line":
            sys.stdout.write("x" * 3_000_000)
            sys.stdout.flush()
            time.sleep(60)
        if self.fault == "only-result":
            self.end()
        if self.fault != "no-init":
            more = ["Bash"] if self.fault == "extra-tool" else []
            self.init(names[1:] if self.fault == "lacking-tool" else [*names, *more])
        if self.fault in ("extra-tool", "lacking-tool"):
            self.rogue()
        for at, turn in enumerate(self.plan.get("turns", [])):
            self.turn(at, turn)
        self.end()
        for line in sys.stdin:  # words after its last one
            log(heard=json.loads(line)["message"]["content"])
            self.init(names)
            for at, turn in enumerate(self.plan.get("more", [{"text": "And that."}]), 100):
                self.turn(at, turn)
            self.end()

    def init(self, names: list[str]) -> None:
        say(type="system", subtype="init", session_id=self.session, tools=names, model=flag("--model"))

    def rogue(self) -> None:
        """What a program does whose surface is not the one it was given, if nobody stops it."""
        say(type="assistant", message={"id": "m", "content": []})
        log(still_here=True)
        assert self.bridge is not None
        log(rogue=self.bridge.ask("tools/call", {"name": "write_file", "arguments": {"path": "x"}}))
        time.sleep(60)

    def turn(self, at: int, turn: dict[str, Any]) -> None:
        message, usage = f"msg_{os.getpid()}_{at}", {**USAGE, **turn.get("usage", {})}
        calls = [(f"toolu_{os.getpid()}_{at}_{n}", call) for n, call in enumerate(turn.get("calls", []))]
        self.event(
            type="message_start",
            message={"id": message, "model": flag("--model"), "usage": {**usage, "output_tokens": 1}},
        )
        self.event(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
        for word in turn.get("text", "Hm.").split(" "):
            self.event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": word + " "})
        if self.fault == "crash-in-text":
            os.abort()
        threads = [self.call(n + 1, use_id, call) for n, (use_id, call) in enumerate(calls)]
        reason = turn.get("reason", "tool_use" if calls else "end_turn")
        self.event(
            type="message_delta",
            delta={"stop_reason": reason},
            usage={"output_tokens": usage["output_tokens"]},
        )
        self.event(type="message_stop")
        for name in USAGE:
            self.total[name] += usage[name]
        if self.fault == "crash-in-calls" and calls:
            time.sleep(0.3)  # the calls are at the bridge by then
            os._exit(9)
        for thread in threads:
            thread.join()

    def event(self, **event: Any) -> None:
        say(type="stream_event", event=event, parent_tool_use_id=None, session_id=self.session)

    def call(self, index: int, use_id: str, call: dict[str, Any]) -> threading.Thread:
        name, arguments = call["name"], call.get("arguments", {})
        own = name if call.get("native") else f"mcp__cli__{name}"
        block = {"type": "tool_use", "id": use_id, "name": own, "input": {}}
        self.event(type="content_block_start", index=index, content_block=block)
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        self.event(type="content_block_delta", index=index, delta=delta)

        def ask() -> None:
            if call.get("native"):
                self.told(use_id, f"No such tool available: {name}", ok=False)
                return
            assert self.bridge is not None
            meta = {} if call.get("nameless") else {"claudecode/toolUseId": use_id}
            got = self.bridge.ask("tools/call", {"name": name, "arguments": arguments, "_meta": meta})
            text = got["result"]["content"][0]["text"]
            log(call=name, got=text, failed=got["result"]["isError"])
            self.told(use_id, text, ok=not got["result"]["isError"])

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        return thread

    def told(self, use_id: str, text: str, *, ok: bool) -> None:
        block = {
            "type": "tool_result",
            "tool_use_id": use_id,
            "content": [{"type": "text", "text": text}],
            "is_error": not ok,
        }
        say(type="user", message={"role": "user", "content": [block]}, parent_tool_use_id=None)

    def end(self) -> None:
        if self.fault == "no-result":
            sys.stderr.write("out of words\n")
            sys.exit(0)
        own = {name: self.total[name] + self.plan.get("beside", {}).get(name, 0) for name in USAGE}
        names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
        rows = {flag("--model"): dict(zip(names, own.values(), strict=True)), **self.plan.get("models", {})}
        line = {"subtype": "success", "is_error": False, "result": "done", "modelUsage": rows}
        say(**{"type": "result", **line, **self.plan.get("result", {})})


def main() -> None:
    plan = json.loads(Path(os.environ["FAKE_CLAUDE_PLAN"]).read_text("utf-8"))
    started = Path(os.environ["FAKE_CLAUDE_LOG"])
    count = (
        sum('"argv"' in line for line in started.read_text("utf-8").splitlines()) if started.exists() else 0
    )
    session = flag("--session-id") or flag("--resume") or ""
    system = flag("--system-prompt-file")
    log(
        argv=sys.argv[1:],
        pid=os.getpid(),
        system=Path(system).read_text("utf-8") if system else "",
        env=sorted(os.environ),
    )
    kept = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "p" / f"{session}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.touch()
    Run(plan[count], session).play()


if __name__ == "__main__":
    main()

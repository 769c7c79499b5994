"""A server of tools in raw JSON lines, which starts fast and misbehaves as it is told: `mcp_server.py WAY [FILE]`."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sys
import time
from typing import Any

OBJECT = {"type": "object", "properties": {"text": {"type": "string"}}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name: str, description: str = "", schema: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "inputSchema": OBJECT if schema is None else schema,
        **more,
    }


class Server:
    def __init__(self, way: str, file: str) -> None:
        self.way, self.file = way, file
        self.changed = False
        self.calls = 0
        self.asked: Any = None

    def tools(self) -> list[dict[str, Any]]:
        match self.way:
            case "many":
                return [
                    tool(f"tool_{at:03}", f"Does thing number {at}. " + "word " * 60) for at in range(500)
                ]
            case "twins":
                return [tool("same", "one"), tool("same", "two"), tool("a b"), tool("a.b"), tool("x" * 80)]
            case "schemas":
                either = {
                    "anyOf": [
                        {"properties": {"a": {"type": "string"}}},
                        {"properties": {"b": {"type": "string"}}},
                    ]
                }
                return [
                    tool("fine"), tool("either", "", {"type": "object", **either}),
                    tool("lists", "", {"type": "object", "properties": {"a": {"type": "array"}, "items": {"anyOf": [{"type": ["array", "null"]}]}}}),
                    tool("wrong", "", {"type": "object", "properties": {"a": {"type": "nonsense"}}}),
                    tool("lost", "", {"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}),
                    tool("named", "", {"type": "object", "properties": {"a b": {"type": "string"}}, "required": ["a b"]}),
                ]  # fmt: skip
            case "shapeless":
                return [tool("fine"), tool("shapeless", "", {"type": "array"})]
            case "hints":
                return [
                    tool("look", "Looks.", annotations={"readOnlyHint": True}),
                    tool("change", "Changes."),
                ]
        found = [
            tool("echo", "Says it again."),
            tool("die"),
            tool("hang"),
            tool("huge"),
            tool("fail"),
            tool("odd"),
            tool("picture"),
        ]
        return [*found, tool("late", "Came later.")] if self.changed else found

    def answer(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        match method:
            case "initialize":
                able = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}
                version = message["params"]["protocolVersion"]
                say(
                    id=number,
                    result={
                        "protocolVersion": version,
                        "capabilities": able,
                        "serverInfo": {"name": "raw", "version": "1"},
                    },
                )
            case "tools/list":
                say(id=number, result={"tools": self.tools()})
            case "prompts/list":
                say(id=number, result={"prompts": [{"name": "review", "description": "Reviews.", "arguments": [{"name": "what", "required": True}, {"name": "how"}]}]})  # fmt: skip
            case "prompts/get":
                told = " ".join(
                    f"{key}={value}" for key, value in sorted(message["params"]["arguments"].items())
                )
                say(
                    id=number,
                    result={
                        "messages": [{"role": "user", "content": {"type": "text", "text": f"Review: {told}"}}]
                    },
                )
            case "resources/list":
                say(id=number, result={"resources": [{"uri": "note://one", "name": "one"}]})
            case "resources/read":
                say(
                    id=number,
                    result={"contents": [{"uri": message["params"]["uri"], "text": "what the note says"}]},
                )
            case "tools/call":
                self.calls += 1
                self.call(number, message["params"]["name"], message["params"].get("arguments") or {})
            case "notifications/cancelled":
                self.note("cancelled")
            case None if number == "form":
                self.text(self.asked, json.dumps(message.get("result")))
            case _ if number is not None:
                say(id=number, error={"code": -32601, "message": "unknown method"})

    def call(self, number: Any, name: str, given: dict[str, Any]) -> None:
        match name:
            case "echo" | "look" | "change" | "late":
                self.text(number, json.dumps(given) if given.get("text") is None else str(given["text"]))
            case "die":
                sys.stderr.write("it hurts\n")
                sys.stderr.flush()
                os._exit(7)
            case "hang":
                say(
                    method="notifications/progress",
                    params={"progressToken": number, "progress": 1, "total": 4, "message": "busy"},
                )
            case "huge":
                self.text(number, "x" * 3_000_000)
            case "fail":
                say(
                    id=number,
                    result={"content": [{"type": "text", "text": "it went wrong"}], "isError": True},
                )
            case "odd":
                say(id=number, result={"content": [], "structuredContent": {"no_op": True, "found": 3}})
            case "picture":
                image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
                link = {"type": "resource_link", "uri": "note://one", "name": "one"}
                say(
                    id=number,
                    result={
                        "content": [image, {"type": "image", "data": "AAAA", "mimeType": "image/png"}, link]
                    },
                )
            case _:
                self.text(number, f"{name} did it")

    def text(self, number: Any, text: str) -> None:
        say(id=number, result={"content": [{"type": "text", "text": text}]})

    def note(self, line: str) -> None:
        if self.file:
            with pathlib.Path(self.file).open("a", encoding="utf-8") as out:
                out.write(f"{line}\n")


def main() -> None:
    way, file = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    server = Server(way, file)
    server.note(f"pid {os.getpid()}")
    match way:
        case "dead":
            sys.stderr.write("no database\n")
            sys.exit(3)
        case "silent":
            time.sleep(60)
        case "deaf":  # goes on when its input ends, and when it is asked to end
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        case "garbage":
            sys.stdout.write("Welcome to the server!\n{not json}\n\n[1, 2]\n")
        case "env":
            server.note(json.dumps(dict(os.environ)))
    for line in sys.stdin:
        message = json.loads(line)
        if way == "strict" and message.get("method") == "server/discover":
            sys.exit(1)  # some end where the first word is not the one that they know
        if way == "form" and message.get("method") == "tools/call":
            server.asked = message["id"]
            fields = {"name": {"type": "string"}, "count": {"type": "integer"}, "sure": {"type": "boolean"}}
            schema = {"type": "object", "properties": fields, "required": ["name", "count"]}
            say(
                id="form",
                method="elicitation/create",
                params={"message": "Who are you?", "requestedSchema": schema},
            )
            continue
        server.answer(message)
        if way == "restless" and message.get("method") == "tools/list":
            server.note("listed")
            say(method="notifications/tools/list_changed")
        if way == "moving" and message.get("method") == "tools/call" and not server.changed:
            server.changed = True
            say(method="notifications/tools/list_changed")
    if way == "deaf":
        time.sleep(60)


main()

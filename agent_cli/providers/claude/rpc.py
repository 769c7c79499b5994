"""What an MCP server says that has nothing but tools: JSON-RPC in and out. Pure, and without a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agent_cli import __version__
from agent_cli.kernel.messages import Document, Image, Text, ToolResult, ToolSpec
from agent_cli.kernel.wire import is_object
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.pile import mended, parsed

SERVER = "cli"
"""The name of the bridge. It stands before the name of every tool, and names of tools may not be long."""
PREFIX = f"mcp__{SERVER}__"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Of the protocol, the newest first. What is used of it is the same in all of them."""
USE_ID = "claudecode/toolUseId"
NO_METHOD, BAD_REQUEST, BAD_PARAMS = -32601, -32600, -32602


class Invocation(NamedTuple):
    """One `tools/call`. `use_id` is the id that the model gave its call, "" where the client does not tell."""

    rpc_id: Any
    name: str
    arguments: dict[str, Any]
    use_id: str


class Reply(NamedTuple):
    """`body` is None for a notification. `opens` says that it answers the first word of a client."""

    body: bytes | None
    opens: bool = False


def told(name: str) -> str:
    """The name of a tool without that of the bridge; other names stay as they are."""
    return name.removeprefix(PREFIX)


def read(body: bytes, tools: Sequence[ToolSpec]) -> Reply | Invocation:
    """What to answer, or the call to make. Raises ValueError where the body is no message of JSON-RPC."""
    message = parsed(body)
    if not is_object(message) or not isinstance(message.get("method"), str):
        raise ValueError("not one JSON-RPC message")
    rpc_id, method = message.get("id"), message["method"]
    params = message.get("params")
    given = params if is_object(params) else {}
    if rpc_id is None:
        return Reply(None)
    match method:
        case "initialize":
            return Reply(_result(rpc_id, _hello(given)), opens=True)
        case "ping":
            return Reply(_result(rpc_id, {}))
        case "tools/list":
            return Reply(_result(rpc_id, {"tools": [_tool(tool) for tool in tools]}))
        case "tools/call":
            return _invocation(rpc_id, given)
        case _:
            return Reply(error(rpc_id, NO_METHOD, f"there is no method '{method}'"))


def answer(rpc_id: Any, result: ToolResult) -> bytes:
    """The result of a call."""
    content = [_content(block) for block in result.content]
    return _result(rpc_id, {"content": content, "isError": not result.ok})


def error(rpc_id: Any, code: int, message: str) -> bytes:
    return json_bytes({"jsonrpc": "2.0", "id": rpc_id, "error": {"code": code, "message": message}})


def _result(rpc_id: Any, result: dict[str, Any]) -> bytes:
    return json_bytes({"jsonrpc": "2.0", "id": rpc_id, "result": result})


def _hello(params: dict[str, Any]) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": SERVER, "version": __version__},
    }


def _tool(tool: ToolSpec) -> dict[str, Any]:
    """Every tool is called harmless here, so that the client hands over all calls of one answer at once.

    Which of them run, and which run side by side, is decided on our end.
    """
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": {"readOnlyHint": True},
    }


def _invocation(rpc_id: Any, params: dict[str, Any]) -> Reply | Invocation:
    name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
    if not isinstance(name, str) or not (arguments is None or is_object(arguments)):
        return Reply(error(rpc_id, BAD_PARAMS, "tools/call wants a name, and arguments as an object"))
    use_id = meta.get(USE_ID) if is_object(meta) else None
    whole = mended(arguments or {})
    return Invocation(rpc_id, name, whole, use_id if isinstance(use_id, str) else "")


def _content(block: Text | Image | Document) -> dict[str, Any]:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(media_type, data):
            return {"type": "image", "data": data, "mimeType": media_type}
        case Document(media_type, data, name):
            uri = f"file:///{name or 'document'}"
            return {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": data}}

"""OpenAI's Responses API as the fake service speaks it: its events, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fakes.http_server import Received, Say

Json = dict[str, Any]

FIELDS = {
    "model", "stream", "store", "include", "instructions", "input", "tools", "tool_choice", "max_output_tokens",
    "temperature", "reasoning",
}  # fmt: skip
KEYS = {
    "message": {"type", "role", "content", "id", "status", "phase"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status"},
    "function_call_output": {"type", "call_id", "output"},
    "reasoning": {"type", "id", "summary", "content", "encrypted_content"},
    "web_search_call": {"type", "id", "status", "action"},
}
PREFIXES = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_", "web_search_call": "ws_"}
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
INCOMPLETE = ("max_output_tokens", "content_filter")


class Stream:
    """Numbers the events."""

    def __init__(self, reply: Say, request: Received) -> None:
        self.reply = reply
        self.turn = len(request.body["input"])
        self.items: list[Json] = []
        self.base: Json = {
            "id": "resp_1", "object": "response", "model": reply.model or request.body["model"], "error": None,
            "incomplete_details": None, "usage": None,
        }  # fmt: skip

    def event(self, kind: str, **rest: Any) -> str:
        data = {"type": kind, **rest}
        return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=self.reply.ascii)}\n\n"

    def item(self, item: Json, begun: Json, *deltas: tuple[str, str, str]) -> Iterator[str]:
        """Begun, grown by `deltas` (kind of event, text, fields beside it as JSON), and whole."""
        at: Json = {"output_index": len(self.items)}
        yield self.event("response.output_item.added", **at, item={**item, **begun})
        for kind, text, more in deltas:
            here = {**at, "item_id": item["id"], **json.loads(more)}
            if kind.endswith("summary_text"):
                part = {"type": "summary_text", "text": ""}
                yield self.event("response.reasoning_summary_part.added", **here, part=part)
            for start in range(0, len(text), self.reply.size):
                yield self.event(
                    f"response.{kind}.delta", **here, delta=text[start : start + self.reply.size]
                )
        yield self.event("response.output_item.done", **at, item=item)
        self.items.append(item)


def events(reply: Say, request: Received) -> Iterator[str]:
    """A summary has a part for each paragraph."""
    stream, ids = Stream(reply, request), f"{len(request.body['input'])}"
    yield stream.event("response.created", response={**stream.base, "status": "in_progress", "output": []})
    if reply.thinking:
        parts = reply.thinking.split("\n\n")
        summary = [{"type": "summary_text", "text": part} for part in parts]
        item = {"id": f"rs_{ids}", "type": "reasoning", "summary": summary}
        item |= {"content": [], "encrypted_content": f"sealed:rs_{ids}:{reply.thinking}"}
        grown = [("reasoning_summary_text", p, json.dumps({"summary_index": n})) for n, p in enumerate(parts)]
        yield from stream.item(item, {"summary": [], "encrypted_content": "sealed:"}, *grown)
    if reply.text:
        refusal = reply.finish == "refusal"
        said = {"type": "refusal", "refusal": reply.text}
        if not refusal:
            said = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        item = {"id": f"msg_{ids}", "type": "message", "role": "assistant", "status": "completed"}
        item |= {"content": [said], "phase": "commentary" if reply.calls else "final_answer"}
        kind = "refusal" if refusal else "output_text"
        yield from stream.item(item, {"content": []}, (kind, reply.text, '{"content_index": 0}'))
    for at, (name, arguments) in enumerate(reply.calls):
        item = {"id": f"fc_{ids}_{at}", "type": "function_call", "status": "completed"}
        item |= {"call_id": f"call_{ids}_{at}", "name": name, "arguments": arguments}
        yield from stream.item(item, {"arguments": ""}, ("function_call_arguments", arguments, "{}"))
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **reply.usage}
    status = "incomplete" if reply.finish in INCOMPLETE else "completed"
    whole = {**stream.base, "status": status, "output": stream.items, "usage": usage}
    if status == "incomplete":
        whole["incomplete_details"] = {"reason": reply.finish}
    yield stream.event(f"response.{status}", response=whole)


def rules(request: Received) -> Iterator[str]:
    body, items = request.body, request.body["input"]
    if not request.headers.get("authorization"):
        yield "You didn't provide an API key."
    yield from (f"Unknown parameter: '{name}'." for name in body.keys() - FIELDS)
    if body.get("store") is not False:
        yield "this conversation would be stored"
    if "reasoning" in body and "reasoning.encrypted_content" not in body.get("include", ()):
        yield "include lacks 'reasoning.encrypted_content'"
    if not items:
        yield 'One of "input" or … must be provided.'
    for item in items:
        yield from _item(item)
    ids = [item["id"] for item in items if "id" in item]
    yield from (f"Duplicate item found with id {one}." for one in {x for x in ids if ids.count(x) > 1})
    yield from _calls(items)
    yield from _reasoning(items)


def _item(item: Json) -> Iterator[str]:
    kind = item["type"]
    yield from (f"Unknown parameter: '{kind}.{name}'." for name in item.keys() - KEYS[kind])
    if "id" in item and not (ID.fullmatch(item["id"]) and item["id"].startswith(PREFIXES[kind])):
        yield f"Invalid id: '{item['id']}'."
    if "call_id" in item and not CALL_ID.fullmatch(item["call_id"]):
        yield f"Invalid call_id: '{item['call_id']}'."
    if kind == "message":
        known = (
            ("output_text", "refusal")
            if item["role"] == "assistant"
            else ("input_text", "input_image", "input_file")
        )
        for part in item["content"]:
            if part["type"] not in known:
                yield f"Invalid value: '{part['type']}'."
            if not part.get("text", part.get("refusal", "x")).strip():
                yield "a blank text"
        if not item["content"]:
            yield "a message without content"
    if kind == "function_call":
        json.loads(item["arguments"])
    if kind == "function_call_output" and not item["output"]:
        yield "an empty output"


def _calls(items: list[Json]) -> Iterator[str]:
    waiting: list[str] = []
    for item in items:
        match item["type"]:
            case "function_call":
                waiting.append(item["call_id"])
            case "function_call_output" if item["call_id"] in waiting:
                waiting.remove(item["call_id"])
            case "function_call_output":
                yield f"No tool call found for function call output with call_id {item['call_id']}."
            case _ if waiting and item.get("role") == "user":
                yield f"No tool output found for function call {waiting[0]}."
            case _:
                pass
    yield from (f"No tool output found for function call {one}." for one in waiting)


def _reasoning(items: list[Json]) -> Iterator[str]:
    for item, after in zip(items, [*items[1:], {"type": "end"}], strict=True):
        if item["type"] != "reasoning":
            continue
        if not item["encrypted_content"].startswith(f"sealed:{item['id']}:"):
            yield f"The encrypted content for item {item['id']} could not be verified."
        made = (
            after["type"] in ("reasoning", "function_call", "web_search_call")
            or after.get("role") == "assistant"
        )
        if not made:
            yield f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."

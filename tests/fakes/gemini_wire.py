"""Gemini's generateContent as the fake service speaks it: its chunks, and what it refuses."""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fakes.http_server import Received, Say

Json = dict[str, Any]

FIELDS = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"}
DATA = {"text", "inlineData", "functionCall", "functionResponse", "executableCode"}
PART = DATA | {"thought", "thoughtSignature"}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
UNSIGNED = "skip_thought_signature_validator"


def sign(text: str) -> str:
    return base64.b64encode(f"signed:{text}".encode("utf-8", "replace")).decode()


def is_signed(signature: str) -> bool:
    return signature == UNSIGNED or base64.b64decode(signature).startswith(b"signed:")


def events(reply: Say, request: Received) -> Iterator[str]:
    """The signature stands on the first call, or on an empty text at the end."""
    model = reply.model or re.findall(r"models/([^:]+):", request.path)[0]
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15, **reply.usage}

    def chunk(*parts: Json, **more: Any) -> str:
        candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}
        data = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": "r1"}
        return f"data: {json.dumps(data, ensure_ascii=reply.ascii)}\n\n"

    signature = {"thoughtSignature": sign(reply.thinking or reply.text)}
    for at in range(0, len(reply.thinking), reply.size):
        yield chunk({"text": reply.thinking[at : at + reply.size], "thought": True})
    for at in range(0, len(reply.text), reply.size):
        yield chunk({"text": reply.text[at : at + reply.size]})
    for at, (name, arguments) in enumerate(reply.calls):
        call_id = f"fc_{len(request.body['contents'])}_{at}"
        call = {"functionCall": {"id": call_id, "name": name, "args": json.loads(arguments)}}
        yield chunk({**call, **({} if at else signature)})
    yield chunk({"text": "", **({} if reply.calls else signature)}, finishReason=reply.finish or "STOP")


def rules(request: Received) -> Iterator[str]:
    body, contents = request.body, request.body["contents"]
    if not request.headers.get("x-goog-api-key"):
        yield "Method doesn't allow unregistered callers"
    if not request.path.endswith("?alt=sse"):
        yield "no events without alt=sse"
    yield from (f"Unknown name {name}: Cannot find field." for name in body.keys() - FIELDS)
    roles = [content["role"] for content in contents]
    if roles[:1] != ["user"] or roles[-1:] != ["user"] or any(a == b for a, b in itertools.pairwise(roles)):
        yield f"roles: {roles}"
    for content in contents:
        if not content["parts"]:
            yield "contents.parts must not be empty."
        for part in content["parts"]:
            yield from _part(part, content["role"])
    yield from _pairs(contents)
    if "gemini-2" not in request.path:
        yield from _signatures(contents)
    config = body.get("toolConfig", {}).get("functionCallingConfig", {})
    if "allowedFunctionNames" in config and config["mode"] != "ANY":
        yield "Please set allowed_function_names only when function calling mode is ANY."
    thinking = body.get("generationConfig", {}).get("thinkingConfig", {})
    if "thinkingLevel" in thinking and "gemini-2" in request.path:
        yield "Thinking level is not supported for this model."


def _part(part: Json, role: str) -> Iterator[str]:
    if part.keys() - PART or len(part.keys() & DATA) != 1:
        yield f"not one field of data: {sorted(part)}"
    if not part.get("text", "x").strip() and "thoughtSignature" not in part:
        yield "required oneof field 'data' must have one initialized field"
    if "functionCall" in part and role != "model":
        yield "function call parts are in a turn with the model role."
    for held in (part.get("functionCall"), part.get("functionResponse")):
        if held is not None and not NAME.fullmatch(held["name"]):
            yield f"Invalid function name: {held['name']}"
    if "functionResponse" in part and not isinstance(part["functionResponse"]["response"], dict):
        yield "function_response.response is no Struct"
    if "functionCall" in part and not isinstance(part["functionCall"]["args"], dict):
        yield "function_call.args is no Struct"


def _held(content: Json | None, kind: str) -> list[str]:
    """The ids of the calls or of the responses of one turn."""
    return [part[kind]["id"] for part in (content or {"parts": []})["parts"] if kind in part]


def _pairs(contents: list[Json]) -> Iterator[str]:
    for before, content in itertools.pairwise([None, *contents, None]):
        calls, responses = _held(before, "functionCall"), _held(content, "functionResponse")
        if calls != responses:
            yield f"responses {responses} to calls {calls}"
        if content and any("functionResponse" not in part for part in content["parts"][: len(responses)]):
            yield "responses have to stand first"


def _signatures(contents: list[Json]) -> Iterator[str]:
    """Every step of the turn that runs: its first call has to be signed."""
    turn = max(
        (at for at, c in enumerate(contents) if c["role"] == "user" and not _held(c, "functionResponse")),
        default=-1,
    )
    for at, content in enumerate(contents):
        calls = [part for part in content["parts"] if "functionCall" in part]
        if at > turn and calls and "thoughtSignature" not in calls[0]:
            yield "Function call is missing a thought_signature in functionCall parts."
        for part in content["parts"]:
            if not is_signed(part.get("thoughtSignature", UNSIGNED)):
                yield "Corrupted thought signature."

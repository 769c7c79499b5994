"""The chunks of Chat Completions as pieces and one finished answer. Pure, and patient with odd servers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from agent_cli.kernel.events import (
    ArgumentsDelta,
    Finished,
    FinishReason,
    Piece,
    ReasoningDelta,
    TextDelta,
    UsageSoFar,
)
from agent_cli.kernel.messages import Reasoning, Said, Text, ToolCall
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers.catalog import served_name
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.pile import Pile, arguments_of

Json = dict[str, Any]

FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "safety",
    "refusal": "refusal",
    "model_context_window_exceeded": "context",
}
THOUGHT_FIELDS = ("reasoning_content", "reasoning")


class OpenCall(msgspec.Struct):
    """A call while it grows."""

    call_id: str
    name: str = ""
    raw: Pile = msgspec.field(default_factory=Pile)


class ChatDecoder:
    """Fed every chunk of one answer; `{"done": True}` stands for `[DONE]`."""

    def __init__(self, provider: str, card: ModelCard) -> None:
        self.done = False
        self._provider = provider
        self._card = card
        self._text = Pile()
        self._thought = Pile()
        self._thought_field = ""
        self._details: dict[int, Json] = {}
        self._calls: list[OpenCall] = []
        self._places: dict[int, OpenCall] = {}
        self._usage = Usage()
        self._model = card.id
        self._id = ""
        self._finish = ""
        self._refused = False

    def feed(self, event: Json, /) -> Sequence[Piece]:
        if event.get("done") is True:
            self.done = True
            return ()
        self._id = self._id or str(event.get("id") or "")
        if model := event.get("model"):
            self._model = served_name(str(model), self._card)
        pieces: list[Piece] = []
        choices = event.get("choices")
        if is_list(choices) and choices and is_object(choices[0]):
            self._choice(choices[0], pieces)
        if is_object(usage := event.get("usage")):
            self._usage = usage_of(usage)
            pieces.append(UsageSoFar(self._usage))
        return pieces

    def finished(self) -> Finished | None:
        """Also where a server ends without `[DONE]`, if it said why it stopped."""
        if not self.done and not self._finish:
            return None
        parts = tuple(self._parts())
        reason = FINISH.get(self._finish, "stop" if not self._finish else "other")
        if self._refused:
            reason = "refusal"
        elif reason in ("stop", "other") and self._calls:
            reason = "tool-calls"
        return Finished(parts, self._usage, self._model, reason, self._finish, self._id)

    def _choice(self, choice: Json, pieces: list[Piece]) -> None:
        delta = choice.get("delta") or choice.get("message")
        if is_object(delta):
            self._think(delta, pieces)
            for name in ("content", "refusal"):
                if shown := self._text.add(_text_of(delta.get(name))):
                    self._refused = self._refused or name == "refusal"
                    pieces.append(TextDelta(shown))
            calls = delta.get("tool_calls")
            for call in filter(is_object, calls if is_list(calls) else ()):
                self._call(call, pieces)
        self._finish = str(choice.get("finish_reason") or self._finish)

    def _think(self, delta: Json, pieces: list[Piece]) -> None:
        for name in THOUGHT_FIELDS:
            if shown := self._thought.add(_text_of(delta.get(name))):
                self._thought_field = name
                pieces.append(ReasoningDelta(shown))
                break
        if is_list(details := delta.get("reasoning_details")):
            for at, detail in enumerate(details):
                if is_object(detail):
                    self._detail(detail, at)

    def _detail(self, detail: Json, at: int) -> None:
        """OpenRouter's signed reasoning, in pieces by index: texts add up, everything else replaces."""
        index = detail.get("index")
        kept = self._details.setdefault(index if isinstance(index, int) else at, {})
        for name, value in detail.items():
            grows = name in ("text", "summary", "data") and isinstance(value, str)
            kept[name] = (
                str(kept.get(name) or "") + value if grows else (kept.get(name) if value is None else value)
            )

    def _call(self, delta: Json, pieces: list[Piece]) -> None:
        function = delta.get("function")
        function = function if is_object(function) else {}
        name = str(function.get("name") or "")
        call = self._place(delta, name)
        if name and name != call.name and not call.raw.text():
            call.name += name
        written = function.get("arguments")
        text = json_bytes(written).decode() if is_object(written) else str(written or "")
        piece = call.raw.add(text)
        if piece or name:
            pieces.append(ArgumentsDelta(call.call_id, call.name, piece))

    def _place(self, delta: Json, name: str) -> OpenCall:
        """The call that this delta belongs to: by index, where there is one that means something."""
        index, call_id = delta.get("index"), str(delta.get("id") or "")
        call = self._places.get(index) if isinstance(index, int) else None
        if call is None and not isinstance(index, int) and self._calls and not (name or call_id):
            return self._calls[-1]
        if call is None or (call_id and name and call.name and call_id != call.call_id):
            call = OpenCall(call_id or f"call_{os.urandom(8).hex()}")
            self._calls.append(call)
            if isinstance(index, int):
                self._places[index] = call
        return call

    def _parts(self) -> list[Said]:
        parts: list[Said] = []
        opaque: Json = {"field": self._thought_field} if self._thought_field else {}
        if self._details:
            opaque = {"reasoning_details": list(self._details.values())}
        if opaque:
            parts.append(Reasoning(self._thought.text(), self._provider, self._card.id, opaque=opaque))
        if text := self._text.text():
            parts.append(Text(text))
        for call in self._calls:
            raw = call.raw.text()
            parts.append(ToolCall(call.call_id, call.name, arguments_of(raw), raw))
        return parts


def usage_of(usage: Json) -> Usage:
    """The prompt includes what was read from and written to a cache; the output includes reasoning, except
    where the total says that it does not.
    """
    prompt, output = _number(usage, "prompt_tokens"), _number(usage, "completion_tokens")
    details = _object(usage.get("prompt_tokens_details"))
    read = _number(details, "cached_tokens") or _number(usage, "prompt_cache_hit_tokens")
    written = _number(details, "cache_write_tokens")
    reasoning = _number(_object(usage.get("completion_tokens_details")), "reasoning_tokens")
    if reasoning and _number(usage, "total_tokens") == prompt + output + reasoning:
        output += reasoning
    return Usage(
        input=max(0, prompt - read - written),
        cache_read=read,
        cache_write=written,
        output=output,
        reasoning=reasoning,
    )


def _text_of(content: Any) -> str:
    """A text, or the texts of a list of parts, as some servers send them."""
    if isinstance(content, str):
        return content
    if not is_list(content):
        return ""
    return "".join(str(part.get("text") or "") for part in content if is_object(part))


def _object(value: Any) -> Json:
    return value if is_object(value) else {}


def _number(data: Json, name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) else 0

"""The events of Anthropic's Messages API as pieces and one finished answer. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from agent_cli.kernel.messages import Opaque, Reasoning, Said, Text, ToolCall
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.wire import is_object
from agent_cli.providers.catalog import served_name
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.pile import Pile, arguments_of

Json = dict[str, Any]

FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
    "model_context_window_exceeded": "context",
}


class Open(msgspec.Struct):
    """A content block while it grows: `data` as it began, `grown` what its deltas added."""

    kind: str
    data: Json
    grown: Pile = msgspec.field(default_factory=Pile)
    signature: str | None = None


class MessagesDecoder:
    """Fed every event of one answer, as it was sent."""

    def __init__(self, provider: str, card: ModelCard) -> None:
        self.done = False
        self._provider = provider
        self._card = card
        self._blocks: dict[int, Open] = {}
        self._usage: Json = {}
        self._model = card.id
        self._id = ""
        self._stop = ""
        self._category = ""

    def feed(self, event: Json, /) -> Sequence[Piece]:
        """Events and blocks of kinds that nobody knows yet give nothing."""
        match event.get("type"):
            case "content_block_delta":
                return self._grow(event)
            case "content_block_start":
                return self._begin(event)
            case "message_start":
                return self._start(_object(event.get("message")))
            case "message_delta":
                self._end(event)
            case "message_stop":
                self.done = True
            case _:
                pass
        return ()

    @property
    def so_far(self) -> Usage:
        return usage_of(self._usage)

    def finished(self) -> Finished | None:
        if not self._stop and not self.done:
            return None
        parts = tuple(part for block in self._blocks.values() if (part := self._part(block)))
        reason = FINISH.get(self._stop, "other")
        if reason in ("stop", "other") and any(isinstance(part, ToolCall) for part in parts):
            reason = "tool-calls"
        native = f"{self._stop} ({self._category})" if self._category else self._stop
        return Finished(parts, usage_of(self._usage), self._model, reason, native, self._id)

    def _start(self, message: Json) -> Sequence[Piece]:
        self._id = str(message.get("id") or "")
        self._model = served_name(str(message.get("model") or ""), self._card)
        self._count(message.get("usage"))
        return (UsageSoFar(usage_of(self._usage)),)

    def _begin(self, event: Json) -> Sequence[Piece]:
        data = _object(event.get("content_block"))
        block = Open(str(data.get("type") or ""), data)
        self._blocks[int(event.get("index") or 0)] = block
        match block.kind:
            case "text":
                return _shown(TextDelta, block, data.get("text"))
            case "thinking":
                block.signature = data.get("signature") or None
                return _shown(ReasoningDelta, block, data.get("thinking"))
            case "tool_use":
                return (ArgumentsDelta(str(data.get("id") or ""), str(data.get("name") or ""), ""),)
            case _:
                return ()

    def _grow(self, event: Json) -> Sequence[Piece]:
        delta, block = _object(event.get("delta")), self._blocks.get(int(event.get("index") or 0))
        if block is None:
            return ()
        match delta.get("type"):
            case "text_delta":
                return _shown(TextDelta, block, delta.get("text"))
            case "thinking_delta":
                return _shown(ReasoningDelta, block, delta.get("thinking"))
            case "signature_delta":
                block.signature = (block.signature or "") + str(delta.get("signature") or "")
            case "input_json_delta":
                piece = block.grown.add(str(delta.get("partial_json") or ""))
                if piece and block.kind == "tool_use":
                    return (ArgumentsDelta(str(block.data.get("id")), str(block.data.get("name")), piece),)
            case _:
                pass
        return ()

    def _end(self, event: Json) -> None:
        delta = _object(event.get("delta"))
        self._count(event.get("usage"))
        self._stop = str(delta.get("stop_reason") or self._stop)
        self._category = str(_object(delta.get("stop_details")).get("category") or "")

    def _count(self, usage: Any) -> None:
        """Totals, not increments: a later figure replaces an earlier one."""
        self._usage |= {name: value for name, value in _object(usage).items() if value is not None}

    def _part(self, block: Open) -> Said | None:
        data, grown = block.data, block.grown.text()
        match block.kind:
            case "text":
                return Text(grown) if grown else None
            case "thinking":
                kept = grown or block.signature
                return Reasoning(grown, self._provider, self._card.id, block.signature) if kept else None
            case "redacted_thinking":
                return Reasoning("", self._provider, self._card.id, opaque=data)
            case "tool_use":
                raw = grown or _json_of(data.get("input"))
                return ToolCall(
                    str(data.get("id") or ""), str(data.get("name") or ""), arguments_of(raw), raw
                )
            case _:
                return Opaque(self._provider, {**data, "input": arguments_of(grown)} if grown else data)


def usage_of(usage: Json) -> Usage:
    """Anthropic counts uncached input, cache reads and cache writes apart."""
    written = _object(usage.get("cache_creation"))
    return Usage(
        input=_number(usage, "input_tokens"),
        cache_read=_number(usage, "cache_read_input_tokens"),
        cache_write=_number(usage, "cache_creation_input_tokens"),
        output=_number(usage, "output_tokens"),
        reasoning=_number(_object(usage.get("output_tokens_details")), "thinking_tokens"),
        cache_write_1h=_number(written, "ephemeral_1h_input_tokens"),
    )


def _shown(kind: Callable[[str], Piece], block: Open, text: Any) -> Sequence[Piece]:
    piece = block.grown.add(text) if isinstance(text, str) else ""
    return (kind(piece),) if piece else ()


def _json_of(given: Any) -> str:
    """The arguments of a call that came whole at the beginning of its block, as some gateways send them."""
    return json_bytes(given).decode() if is_object(given) and given else ""


def _object(value: Any) -> Json:
    return value if is_object(value) else {}


def _number(data: Json, name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) else 0

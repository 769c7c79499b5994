"""The events of OpenAI's Responses API as pieces and one finished answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers.catalog import served_name
from agent_cli.providers.pile import Pile, arguments_of

Json = dict[str, Any]

WORDS = {"output_text": "text", "refusal": "refusal"}
"""Where the parts of a message hold what it says."""
FINISH: dict[str, FinishReason] = {
    "completed": "stop",
    "max_output_tokens": "length",
    "content_filter": "safety",
}
BETWEEN_SUMMARIES = "\n\n"


@dataclass(slots=True)
class Open:
    """An item while it grows: `data` as it began, or whole when it is `done`."""

    data: Json
    grown: Pile = field(default_factory=Pile)
    done: bool = False


class ResponsesDecoder:
    """Fed every event of one answer, as it was sent."""

    def __init__(self, provider: str, card: ModelCard) -> None:
        self.done = False
        self._provider = provider
        self._card = card
        self._items: dict[int, Open] = {}
        self._response: Json = {}
        self._refused = False

    def feed(self, event: Json, /) -> Sequence[Piece]:
        """Events of kinds that nobody knows yet give nothing."""
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return self._grow(event, TextDelta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._grow(event, ReasoningDelta)
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                return self._grow({**event, "delta": BETWEEN_SUMMARIES}, ReasoningDelta)
            case "response.function_call_arguments.delta":
                return self._argue(event)
            case "response.output_item.added":
                return self._begin(event)
            case "response.output_item.done":
                self._item(event).data = _object(event.get("item"))
                self._item(event).done = True
            case "response.created":
                self._response = _object(event.get("response"))
            case "response.completed" | "response.incomplete":
                return self._end(_object(event.get("response")))
            case _:
                pass
        return ()

    def finished(self) -> Finished | None:
        if not self.done:
            return None
        items = list(self._items.values())
        if not items and is_list(output := self._response.get("output")):
            items = [Open(item, done=True) for item in output if is_object(item)]
        parts = tuple(part for item in items for part in self._parts(item))
        status = str(self._response.get("status") or "")
        native = str(_object(self._response.get("incomplete_details")).get("reason") or status)
        reason = FINISH.get(native, "other")
        if self._refused:
            reason = "refusal"
        elif reason in ("stop", "other") and any(isinstance(part, ToolCall) for part in parts):
            reason = "tool-calls"
        model = served_name(str(self._response.get("model") or ""), self._card)
        usage = usage_of(_object(self._response.get("usage")))
        return Finished(parts, usage, model, reason, native, str(self._response.get("id") or ""))

    def _item(self, event: Json) -> Open:
        return self._items.setdefault(_number(event, "output_index"), Open({}))

    def _begin(self, event: Json) -> Sequence[Piece]:
        item = self._item(event)
        item.data = _object(event.get("item"))
        if item.data.get("type") != "function_call":
            return ()
        return (ArgumentsDelta(str(item.data.get("call_id") or ""), str(item.data.get("name") or ""), ""),)

    def _grow(self, event: Json, kind: type[TextDelta | ReasoningDelta]) -> Sequence[Piece]:
        piece = self._item(event).grown.add(str(event.get("delta") or ""))
        return (kind(piece),) if piece else ()

    def _argue(self, event: Json) -> Sequence[Piece]:
        item = self._item(event)
        piece = item.grown.add(str(event.get("delta") or ""))
        if not piece:
            return ()
        return (ArgumentsDelta(str(item.data.get("call_id") or ""), str(item.data.get("name") or ""), piece),)

    def _end(self, response: Json) -> Sequence[Piece]:
        self._response = {**self._response, **response}
        self.done = True
        usage = _object(response.get("usage"))
        return (UsageSoFar(usage_of(usage)),) if usage else ()

    def _parts(self, item: Open) -> list[Said]:
        """Whole items are kept as they came, beside what they say; of a cut one only what it said."""
        data = item.data
        match data.get("type"):
            case "message" if item.done:
                return self._message(data)
            case "message":
                return [Text(item.grown.text())] if item.grown.text() else []
            case "function_call":
                return [self._call(item)]
            case "reasoning" if item.done:
                return [Reasoning(_thought(data), self._provider, self._card.id, opaque=data)]
            case _ if item.done:
                return [Opaque(self._provider, {"model": self._card.id, "item": data})]
            case _:
                return []

    def _message(self, data: Json) -> list[Said]:
        """Texts, and behind them the item without them. A blank text stays in its item."""
        texts: list[Said] = []
        content: list[Json] = []
        for part in filter(is_object, data.get("content") or ()):
            place = WORDS.get(str(part.get("type")), "")
            self._refused = self._refused or place == "refusal"
            text = part.get(place)
            if isinstance(text, str) and text.strip():
                texts.append(Text(Pile().add(text)))
                content.append({key: value for key, value in part.items() if key != place})
            else:
                content.append(part)
        return [
            *texts,
            Opaque(self._provider, {"model": self._card.id, "item": {**data, "content": content}}),
        ]

    def _call(self, item: Open) -> ToolCall:
        data = item.data
        raw = str(data.get("arguments") or "") if item.done else item.grown.text()
        own = {
            key: value for key, value in data.items() if key not in ("type", "call_id", "name", "arguments")
        }
        return ToolCall(
            str(data.get("call_id") or ""),
            str(data.get("name") or ""),
            arguments_of(raw),
            raw,
            {"model": self._card.id, "item": own},
        )


def usage_of(usage: Json) -> Usage:
    """The input includes what was read from and written to a cache, the output includes reasoning."""
    details = _object(usage.get("input_tokens_details"))
    read, written = _number(details, "cached_tokens"), _number(details, "cache_write_tokens")
    return Usage(
        input=max(0, _number(usage, "input_tokens") - read - written),
        cache_read=read,
        cache_write=written,
        output=_number(usage, "output_tokens"),
        reasoning=_number(_object(usage.get("output_tokens_details")), "reasoning_tokens"),
    )


def _thought(item: Json) -> str:
    """The summary, or all of it where a server tells that."""
    told = item.get("summary") or item.get("content")
    return (
        BETWEEN_SUMMARIES.join(str(part.get("text") or "") for part in told if is_object(part))
        if is_list(told)
        else ""
    )


def _object(value: Any) -> Json:
    return value if is_object(value) else {}


def _number(data: Json, name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) else 0

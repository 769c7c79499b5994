"""The chunks of Gemini's generateContent as pieces and one finished answer. Pure."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.pile import Pile, arguments_of

Json = dict[str, Any]

SIGNATURE = "thoughtSignature"
FINISH: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "safety",
    "RECITATION": "safety",
    "BLOCKLIST": "safety",
    "PROHIBITED_CONTENT": "safety",
    "SPII": "safety",
    "MODEL_ARMOR": "safety",
    "IMAGE_SAFETY": "safety",
    "IMAGE_PROHIBITED_CONTENT": "safety",
    "IMAGE_RECITATION": "safety",
    "CONTINUATION": "pause",
}
"""All others are failures of the model to say something valid: MALFORMED_FUNCTION_CALL and its like."""
PLAIN = frozenset(("text", "thought", SIGNATURE))


class GenerateDecoder:
    """Fed every chunk of one answer. Which one is the last is known only by the end of the stream: some servers
    give a finish reason with each of them.
    """

    def __init__(self, provider: str, card: ModelCard) -> None:
        self.done = False
        self._provider = provider
        self._card = card
        self._parts: list[Said] = []
        self._text = Pile()
        self._thought = Pile()
        self._usage: Json = {}
        self._model = card.id
        self._id = ""
        self._finish = ""
        self._message = ""
        self._blocked = ""

    def feed(self, event: Json, /) -> Sequence[Piece]:
        self._id = self._id or str(event.get("responseId") or "")
        if model := event.get("modelVersion"):
            self._model = served_name(str(model), self._card)
        pieces: list[Piece] = []
        candidates = event.get("candidates")
        if is_list(candidates) and candidates and is_object(candidates[0]):
            self._candidate(candidates[0], pieces)
        self._blocked = str(_object(event.get("promptFeedback")).get("blockReason") or self._blocked)
        if usage := _object(event.get("usageMetadata")):
            self._usage |= usage
            pieces.append(UsageSoFar(usage_of(self._usage)))
        return pieces

    def finished(self) -> Finished | None:
        if not self._finish and not self._blocked:
            return None
        self._close()
        native, reason = self._finish, FINISH.get(self._finish, "other")
        if not native:
            native, reason = self._blocked, "safety"
        elif reason in ("stop", "other") and any(isinstance(part, ToolCall) for part in self._parts):
            reason = "tool-calls"
        native = f"{native}: {self._message}" if self._message else native
        return Finished(tuple(self._parts), usage_of(self._usage), self._model, reason, native, self._id)

    def _candidate(self, candidate: Json, pieces: list[Piece]) -> None:
        parts = _object(candidate.get("content")).get("parts")
        for part in parts if is_list(parts) else ():
            if is_object(part):
                self._part(part, pieces)
        self._finish = str(candidate.get("finishReason") or self._finish)
        self._message = str(candidate.get("finishMessage") or self._message)

    def _part(self, part: Json, pieces: list[Piece]) -> None:
        text, signature = part.get("text", ""), part.get(SIGNATURE)
        if is_object(call := part.get("functionCall")):
            self._close()
            self._call(call, signature, pieces)
        elif isinstance(text, str) and part.keys() <= PLAIN:
            self._say(text, signature, pieces, thought=part.get("thought") is True)
        else:
            self._close()
            self._parts.append(Opaque(self._provider, part))

    def _say(self, text: str, signature: Any, pieces: list[Piece], *, thought: bool) -> None:
        """Text grows until something else comes; what is signed stays a part of its own, as it was sent."""
        run, other = (self._thought, self._text) if thought else (self._text, self._thought)
        if signature or other.text():
            self._close()
            run = self._thought if thought else self._text
        if shown := run.add(text):
            pieces.append(ReasoningDelta(shown) if thought else TextDelta(shown))
        if signature:
            self._close(str(signature), thought=thought)

    def _close(self, signature: str | None = None, *, thought: bool = False) -> None:
        """Ends the text that grows. A signature of no visible text stands alone, with what it signs."""
        thinking, text = self._thought.text(), self._text.text()
        self._thought, self._text = Pile(), Pile()
        if thinking or (thought and signature):
            self._parts.append(Reasoning(thinking, self._provider, self._card.id, signature))
        if text.strip() or (text and not signature):
            self._parts.append(Text(text))
        if signature and not thought:
            alone = {} if text.strip() else {"text": text}
            self._parts.append(Opaque(self._provider, {**alone, SIGNATURE: signature}))

    def _call(self, call: Json, signature: Any, pieces: list[Piece]) -> None:
        """Arguments come whole; ids only from newer models."""
        call_id = str(call.get("id") or f"call_{os.urandom(8).hex()}")
        name, raw = str(call.get("name") or ""), json_bytes(_object(call.get("args"))).decode()
        opaque = {SIGNATURE: signature} if signature else None
        self._parts.append(ToolCall(call_id, name, arguments_of(raw), raw, opaque))
        pieces.append(ArgumentsDelta(call_id, name, raw))


def usage_of(usage: Json) -> Usage:
    """The prompt includes what was read from the cache; thoughts are counted beside the answer and billed alike."""
    read = _number(usage, "cachedContentTokenCount")
    thoughts = _number(usage, "thoughtsTokenCount")
    asked = _number(usage, "promptTokenCount") + _number(usage, "toolUsePromptTokenCount")
    return Usage(
        input=max(0, asked - read),
        cache_read=read,
        output=_number(usage, "candidatesTokenCount") + thoughts,
        reasoning=thoughts,
    )


def _object(value: Any) -> Json:
    return value if is_object(value) else {}


def _number(data: Json, name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) else 0

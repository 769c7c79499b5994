"""Google's Gemini API (generateContent): a prompt as a request, and the provider that sends it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import msgspec

from agent_cli.kernel.errors import RequestRefused
from agent_cli.kernel.events import Finished, Piece
from agent_cli.kernel.messages import (
    Document,
    Effort,
    Image,
    Message,
    Opaque,
    Prompt,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from agent_cli.kernel.usage import ModelCard
from agent_cli.providers import options
from agent_cli.providers.exchange import Transport, exchange
from agent_cli.providers.gemini_stream import SIGNATURE, GenerateDecoder
from agent_cli.providers.media import media_of
from agent_cli.providers.memo import Memo, Memos, json_bytes
from agent_cli.providers.names import wire_id, wire_name
from agent_cli.providers.own_data import OwnData
from agent_cli.providers.relent import relenting

Json = dict[str, Any]
WireRole = Literal["user", "model"]

LONGEST_TOOL_NAME = 64
UNSIGNED = "skip_thought_signature_validator"
"""What the documentation gives for calls that no Gemini model made, or whose signature is lost: the models of
`card.thinking` "level" refuse a step whose first call has no signature."""
BUDGETS: dict[Effort, int] = {"low": 1_024, "medium": 8_192, "high": 24_576}
"""Thinking tokens for models that want a number; the vendor's own equivalents of these words."""
SMALLEST_BUDGET = 512
NO_OUTPUT = "(no output)"
UNREADABLE = "thought signature"
"""Words of the refusal of a signature that another key or project was given."""


class Gemini:
    """One model over one client, whose address names the model. `name` is "gemini" or that of an endpoint."""

    def __init__(self, card: ModelCard, http: Transport, *, name: str = "gemini") -> None:
        self.name = name
        self._card = card
        self._http = http
        self._memos: Memos[Content] = Memos()
        self._unreadable: set[str] = set()
        self._own = OwnData()

    def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        """Raises ProviderError, and ConfigError where the model cannot do what the prompt asks for."""
        return relenting(lambda: self._send(prompt), lambda refusal: self._relent(refusal, prompt))

    async def close(self) -> None:
        await self._http.close()

    def _send(self, prompt: Prompt) -> AsyncGenerator[Piece | Finished, None]:
        memo = self._memos.of(prompt.session)
        body = encode(
            self._own.readable(prompt), self._card, name=self.name, memo=memo, unreadable=self._unreadable
        )
        return exchange(self._http, json_bytes(body), prompt.model, GenerateDecoder(self.name, self._card))

    def _relent(self, refusal: RequestRefused, prompt: Prompt) -> bool:
        """Signatures that the service cannot read are left out from now on, or the session would be stuck."""
        found = _signatures(prompt, self.name) - self._unreadable
        if UNREADABLE not in str(refusal).lower() or not found:
            return self._own.refused(refusal, prompt)
        self._unreadable |= found
        self._memos = Memos()
        return True


@dataclass(slots=True)
class Content:
    """One message on the wire: all neighbours of one role. `raw` is its JSON, once made."""

    role: WireRole
    parts: list[Json]
    raw: msgspec.Raw | None = None

    def json(self) -> msgspec.Raw:
        if self.raw is None:
            self.raw = self.with_parts(self.parts)
        return self.raw

    def with_parts(self, parts: list[Json]) -> msgspec.Raw:
        return msgspec.Raw(json_bytes({"role": self.role, "parts": parts}))


class Reader(NamedTuple):
    """Who is going to read: its card, its provider's name, and the signatures that it cannot read."""

    card: ModelCard
    name: str
    unreadable: Collection[str]

    @property
    def strict(self) -> bool:
        """Whether it refuses calls without a signature."""
        return self.card.thinking == "level"


def encode(
    prompt: Prompt,
    card: ModelCard,
    *,
    name: str = "gemini",
    memo: Memo[Content] | None = None,
    unreadable: Collection[str] = (),
) -> Json:
    """The request's body; its contents are JSON already. Raises ConfigError."""
    options.check(prompt, card)
    memo = Memo() if memo is None else memo
    _bring_up_to_date(memo, prompt.messages, Reader(card, name, unreadable))
    body: Json = {}
    if system := [{"text": text} for text in prompt.system if text.strip()]:
        body["systemInstruction"] = {"parts": system}
    if prompt.tools:
        functions = [_function(spec.name, spec.description, spec.schema) for spec in prompt.tools]
        body["tools"] = [{"functionDeclarations": functions}]
        if prompt.tool_choice != "auto":
            body["toolConfig"] = {"functionCallingConfig": _choice(prompt.tool_choice)}
    if config := _config(prompt, card):
        body["generationConfig"] = config
    body["contents"] = _contents(memo.entries, prompt.status)
    return body


def _function(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "description": description, "parametersJsonSchema": schema}


def _choice(choice: str) -> Json:
    return {"mode": "NONE"} if choice == "none" else {"mode": "ANY", "allowedFunctionNames": [choice]}


def _config(prompt: Prompt, card: ModelCard) -> Json:
    config: Json = {}
    if prompt.max_output:
        config["maxOutputTokens"] = prompt.max_output
    if prompt.temperature is not None:
        config["temperature"] = prompt.temperature
    if thinking := _thinking(prompt, card):
        config["thinkingConfig"] = thinking
    return config


def _thinking(prompt: Prompt, card: ModelCard) -> Json:
    """`card.thinking`: "level" is told how hard to think, "budget" with how many tokens; both think anyway.
    "budget-asked" thinks only when it is given a number.
    """
    effort = prompt.effort
    match card.thinking:
        case "level":
            return {"includeThoughts": True, **({"thinkingLevel": effort.upper()} if effort else {})}
        case "budget" | "budget-asked" if effort:
            room = (prompt.max_output or card.max_output or 2 * BUDGETS["high"]) // 2
            return {
                "includeThoughts": True,
                "thinkingBudget": max(SMALLEST_BUDGET, min(BUDGETS[effort], room)),
            }
        case "budget":
            return {"includeThoughts": True}
        case _:
            return {}


# ── contents ─────────────────────────────────────────────────────────────────────────────────────────────


def _bring_up_to_date(memo: Memo[Content], messages: tuple[Message, ...], reader: Reader) -> None:
    kept = memo.keep_common(messages)
    contents, ends = memo.entries, list[int]()
    for message in messages[kept:]:
        role: WireRole = "user" if message.role == "user" else "model"
        parts = _heard(message, reader) if role == "user" else _said(message, reader)
        if parts and contents and contents[-1].role == role:
            last = contents[-1]
            last.parts, last.raw = _responses_first([*last.parts, *parts]), None
        elif parts:
            contents.append(Content(role, parts))
        ends.append(len(contents))
    memo.remember(messages, ends)


def _heard(message: Message, reader: Reader) -> list[Json]:
    parts: list[Json] = []
    for part in message.parts:
        match part:
            case ToolResult():
                parts += _result(part, reader)
            case Text(text) if text.strip():
                parts.append({"text": text})
            case Image() | Document():
                parts.append(_medium(part, reader.card))
            case _:
                pass  # nothing that an operator says
    return _responses_first(parts)


def _responses_first(parts: list[Json]) -> list[Json]:
    """They have to follow their calls at once; the order among each stays."""
    return sorted(parts, key=lambda part: "functionResponse" not in part)


def _said(message: Message, reader: Reader) -> list[Json]:
    """Parts in order and whole, each with the signature that it came with."""
    parts: list[Json] = []
    called = False
    for part in message.parts:
        match part:
            case Text(text) if text.strip():
                parts.append({"text": text})
            case Reasoning(text, provider, signature=str(signature)) if provider == reader.name:
                if signature not in reader.unreadable:
                    parts.append({"text": text, "thought": True, SIGNATURE: signature})
            case ToolCall():
                parts.append(_call(part, reader, first=not called))
                called = True
            case Opaque(provider, data) if provider == reader.name:
                _give_back(data, parts, reader)
            case _:
                pass  # empty, or for somebody else
    return parts


def _give_back(data: Json, parts: list[Json], reader: Reader) -> None:
    """A signature alone belongs to the text before it; everything else is a part as it came."""
    signature = data.get(SIGNATURE)
    if not isinstance(signature, str) or signature in reader.unreadable:
        data = {key: value for key, value in data.items() if key != SIGNATURE}
    if data.keys() == {SIGNATURE} and parts and parts[-1].keys() == {"text"}:
        parts[-1] = {**parts[-1], **data}
    elif data.keys() == {SIGNATURE}:
        parts.append({"text": "", **data})
    elif data and (data.keys() != {"text"} or str(data["text"]).strip()):
        parts.append(data)


def _call(call: ToolCall, reader: Reader, *, first: bool) -> Json:
    given = {"_unparsed": call.raw} if call.arguments is None else call.arguments
    part: Json = {"functionCall": {"id": wire_id(call.call_id), "name": _name(call.name), "args": given}}
    signature = (call.opaque or {}).get(SIGNATURE)
    if isinstance(signature, str) and signature and signature not in reader.unreadable:
        part[SIGNATURE] = signature
    elif first and reader.strict:
        part[SIGNATURE] = UNSIGNED
    return part


def _name(name: str) -> str:
    plain = wire_name(name, LONGEST_TOOL_NAME - 1)
    return plain if plain[0].isalpha() or plain[0] == "_" else f"_{plain}"


def _result(result: ToolResult, reader: Reader) -> list[Json]:
    """The response; images stand in it where the model reads them there, else in parts behind all responses."""
    texts: list[str] = []
    media: list[Json] = []
    for block in result.content:
        shown = {"text": block.text} if isinstance(block, Text) else _medium(block, reader.card)
        if "text" not in shown:
            media.append(shown)
        elif shown["text"].strip():
            texts.append(shown["text"])
    name = _name(result.name)
    told = "\n".join(texts) or ("(shown beside)" if media else NO_OUTPUT)
    answer = {"output": told} if result.ok else {"error": told}
    response: Json = {"id": wire_id(result.call_id), "name": name, "response": answer}
    if not media:
        return [{"functionResponse": response}]
    if reader.strict:
        return [{"functionResponse": {**response, "parts": media}}]
    return [{"functionResponse": response}, {"text": f"[shown by {name}]"}, *media]


def _medium(block: Image | Document, card: ModelCard) -> Json:
    media = media_of(block, card)
    if isinstance(media, Image) and media.media_type == "image/gif":
        media = f"[image not shown: {card.id} takes no GIF]"
    if isinstance(media, str):
        return {"text": media}
    return {"inlineData": {"mimeType": media.media_type, "data": media.data}}


def _contents(contents: list[Content], status: str | None) -> list[msgspec.Raw]:
    """All of the history as it was; the status is the last text of the last message of the user."""
    told: list[Json] = [{"text": status}] if status and status.strip() else []
    if not told or not contents or contents[-1].role == "model":
        sent = [content.raw or content.json() for content in contents]
        return [*sent, Content("user", told).json()] if told else sent
    sent = [content.raw or content.json() for content in contents[:-1]]
    return [*sent, contents[-1].with_parts([*contents[-1].parts, *told])]


def _signatures(prompt: Prompt, name: str) -> set[str]:
    """Every signature that goes back with this prompt."""
    found: set[str] = set()
    for message in prompt.messages:
        for part in message.parts:
            signature: Any = None
            match part:
                case Reasoning(provider=provider, signature=own) if provider == name:
                    signature = own
                case ToolCall(opaque=dict(opaque)):
                    signature = opaque.get(SIGNATURE)
                case Opaque(provider, data) if provider == name:
                    signature = data.get(SIGNATURE)
                case _:
                    pass
            if isinstance(signature, str):
                found.add(signature)
    return found

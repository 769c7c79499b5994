"""OpenAI's Responses API, stateless: a prompt as a request, and its provider.

Nothing is stored with the service. What the model said goes back as the items it came in, reasoning encrypted.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from agent_cli.kernel.errors import RequestRefused
from agent_cli.kernel.events import Finished, Piece
from agent_cli.kernel.messages import (
    Block,
    Document,
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
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.providers import options
from agent_cli.providers.exchange import exchange
from agent_cli.providers.http import Http
from agent_cli.providers.media import media_of
from agent_cli.providers.memo import Memo, Memos, json_bytes
from agent_cli.providers.names import wire_id, wire_name
from agent_cli.providers.own_data import OwnData
from agent_cli.providers.pile import arguments_text
from agent_cli.providers.relent import relenting
from agent_cli.providers.responses_stream import WORDS, ResponsesDecoder

Json = dict[str, Any]

LONGEST_TOOL_NAME = 64
SMALLEST_OUTPUT = 16
ENCRYPTED = "encrypted_content"
NO_OUTPUT = "(no output)"
UNREADABLE = "encrypted content"
"""Words of the refusal of reasoning that another key or organisation was given."""
SUMMARIES_REFUSED = "reasoning summar"
"""Words of the refusal that organisations get which have not proved who they are."""


class Responses:
    """One model over one client. `name` is "openai" or the name of an endpoint."""

    def __init__(self, card: ModelCard, http: Http, *, name: str = "openai") -> None:
        self.name = name
        self._card = card
        self._http = http
        self._memos: Memos[Item] = Memos()
        self._unreadable: set[str] = set()
        self._own = OwnData()
        self._summaries = True

    def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        """Raises ProviderError, and ConfigError where the model cannot do what the prompt asks for."""
        return relenting(lambda: self._send(prompt), lambda refusal: self._relent(refusal, prompt))

    async def close(self) -> None:
        await self._http.close()

    def _send(self, prompt: Prompt) -> AsyncGenerator[Piece | Finished, None]:
        body = encode(
            self._own.readable(prompt),
            self._card,
            name=self.name,
            memo=self._memos.of(prompt.session),
            unreadable=self._unreadable,
            summaries=self._summaries,
        )
        return exchange(self._http, json_bytes(body), prompt.model, ResponsesDecoder(self.name, self._card))

    def _relent(self, refusal: RequestRefused, prompt: Prompt) -> bool:
        """Leaves out from now on the reasoning that the service cannot read, or the summaries it does not give."""
        told = str(refusal).lower()
        if SUMMARIES_REFUSED in told and self._summaries:
            self._summaries = False
            return True
        found = _encrypted(prompt, self.name) - self._unreadable
        if UNREADABLE not in told or not found:
            return self._own.refused(refusal, prompt)
        self._unreadable |= found
        self._memos = Memos()
        return True


@dataclass(slots=True)
class Item:
    """One item of the input. `raw` is its JSON, once made."""

    data: Json
    raw: msgspec.Raw | None = None

    def json(self) -> msgspec.Raw:
        if self.raw is None:
            self.raw = msgspec.Raw(json_bytes(self.data))
        return self.raw


class Reader(NamedTuple):
    """Who is going to read: its card, its provider's name, and the encrypted contents that it cannot read."""

    card: ModelCard
    name: str
    unreadable: Collection[str]


def encode(
    prompt: Prompt,
    card: ModelCard,
    *,
    name: str = "openai",
    memo: Memo[Item] | None = None,
    unreadable: Collection[str] = (),
    summaries: bool = True,
) -> Json:
    """The request's body; its input is JSON already. Raises ConfigError."""
    options.check(prompt, card)
    memo = Memo() if memo is None else memo
    _bring_up_to_date(memo, prompt.messages, Reader(card, name, unreadable))
    body: Json = {"model": prompt.model, "stream": True, "store": False}
    if system := "\n\n".join(text for text in prompt.system if text.strip()):
        body["instructions"] = system
    if prompt.tools:
        body["tools"] = [_tool(spec.name, spec.description, spec.schema) for spec in prompt.tools]
        if prompt.tool_choice != "auto":
            body["tool_choice"] = _choice(prompt.tool_choice)
    if prompt.max_output:
        body["max_output_tokens"] = max(prompt.max_output, SMALLEST_OUTPUT)
    if prompt.temperature is not None:
        body["temperature"] = prompt.temperature
    body |= _reasoning(prompt, card, summaries=summaries)
    body["input"] = _input(memo.entries, prompt.status)
    return body


def _tool(name: str, description: str, schema: Json) -> Json:
    """Not strict: that would ask for schemas in which every argument is required."""
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": schema,
        "strict": False,
    }


def _choice(choice: str) -> str | Json:
    return "none" if choice == "none" else {"type": "function", "name": choice}


def _reasoning(prompt: Prompt, card: ModelCard, *, summaries: bool) -> Json:
    """Models whose `card.thinking` is "reasoning" or "reasoning-alone" reason here beside their tools."""
    if not card.thinking:
        return {}
    if prompt.effort and prompt.temperature is not None:
        raise options.one_of(card, prompt, "while it reasons it samples in its own way")
    reasoning: Json = {"effort": prompt.effort} if prompt.effort else {}
    if summaries:
        reasoning["summary"] = "auto"
    asked: Json = {"include": [f"reasoning.{ENCRYPTED}"]}
    return {**asked, "reasoning": reasoning} if reasoning else asked


# ── input ────────────────────────────────────────────────────────────────────────────────────────────────


def _bring_up_to_date(memo: Memo[Item], messages: tuple[Message, ...], reader: Reader) -> None:
    kept = memo.keep_common(messages)
    items, ends = memo.entries, list[int]()
    ids = {item.data.get("id") for item in items}
    for message in messages[kept:]:
        said = message.role == "assistant"
        items += map(Item, _once(_said(message, reader), ids) if said else _heard(message, reader))
        ends.append(len(items))
    memo.remember(messages, ends)


def _once(items: list[Json], ids: set[str | None]) -> Iterator[Json]:
    """An item that stands in a damaged log twice goes back twice only as far as its id does not tell."""
    for item in items:
        own = item.get("id")
        if own is None or own not in ids:
            ids.add(own)
            yield item
        elif item.get("type") != "reasoning":
            yield {name: value for name, value in item.items() if name != "id"}


def _heard(message: Message, reader: Reader) -> list[Json]:
    items: list[Json] = []
    content: list[Json] = []
    for part in message.parts:
        match part:
            case ToolResult():
                items.append(_result(part, reader.card))
            case Text() | Image() | Document():
                content += _shown(part, reader.card)
            case Reasoning() | ToolCall() | Opaque():
                pass  # nothing that an operator says
    return [*items, _spoken(content)] if content else items


def _spoken(content: list[Json]) -> Json:
    return {"type": "message", "role": "user", "content": content}


def _result(part: ToolResult, card: ModelCard) -> Json:
    content = [shown for block in part.content for shown in _shown(block, card)]
    return {
        "type": "function_call_output",
        "call_id": wire_id(part.call_id),
        "output": _output(content) or NO_OUTPUT,
    }


def _output(content: list[Json]) -> str | list[Json]:
    """Plain where there is only text."""
    if any(part["type"] != "input_text" for part in content):
        return content
    return "\n\n".join(part["text"] for part in content)


def _shown(block: Block, card: ModelCard) -> list[Json]:
    if isinstance(block, Text):
        return [{"type": "input_text", "text": block.text}] if block.text.strip() else []
    media = media_of(block, card)
    match media:
        case Image(kind, data):
            return [{"type": "input_image", "detail": "auto", "image_url": f"data:{kind};base64,{data}"}]
        case Document(kind, data, name):
            file = f"data:{kind};base64,{data}"
            return [{"type": "input_file", "filename": name or "document.pdf", "file_data": file}]
        case str():
            return [{"type": "input_text", "text": media}]


def _said(message: Message, reader: Reader) -> list[Json]:
    """The items as they came, where this model made them; else what they said."""
    items: list[Json] = []
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Text(text):
                texts += [text] if text.strip() else []
                continue
            case Opaque(provider, data) if provider == reader.name and _is_message(data):
                items += _message(data, texts, reader)
                texts = []
                continue
            case _:
                items += _plain(texts)
                texts = []
        match part:
            case ToolCall():
                items.append(_call(part, reader))
            case Reasoning(provider=provider, model=model) if (provider, model) == (
                reader.name,
                reader.card.id,
            ):
                items += _thought(part, reader)
            case Opaque(provider, {"model": reader.card.id, "item": item}) if (
                provider == reader.name and is_object(item)
            ):
                items.append(item)
            case _:
                pass  # for somebody else
    return _without_loose_ends([*items, *_plain(texts)])


def _is_message(data: Json) -> bool:
    return isinstance(data.get("item"), dict) and data["item"].get("type") == "message"


def _message(data: Json, texts: list[str], reader: Reader) -> list[Json]:
    """The item with the texts put back that stand before it; only a plain one for another model, or if some
    text is lost.
    """
    said: Any = data["item"].get("content")
    content: list[Json] = [dict(entry) for entry in said if is_object(entry)] if is_list(said) else []
    empty = [entry for entry in content if WORDS.get(str(entry.get("type")), "type") not in entry]
    if data.get("model") != reader.card.id or len(empty) > len(texts):
        return _plain(texts)
    before, own = texts[: len(texts) - len(empty)], texts[len(texts) - len(empty) :]
    for entry, text in zip(empty, own, strict=True):
        entry[WORDS[entry["type"]]] = text
    return [*_plain(before), {**data["item"], "content": content}]


def _plain(texts: list[str]) -> list[Json]:
    if not texts:
        return []
    content = [{"type": "output_text", "text": text} for text in texts]
    return [{"type": "message", "role": "assistant", "content": content}]


def _call(call: ToolCall, reader: Reader) -> Json:
    opaque = call.opaque or {}
    own = opaque.get("item") if opaque.get("model") == reader.card.id else None
    return {
        **(own if isinstance(own, dict) else {}),
        "type": "function_call",
        "call_id": wire_id(call.call_id),
        "name": wire_name(call.name, LONGEST_TOOL_NAME),
        "arguments": arguments_text(call),
    }


def _thought(part: Reasoning, reader: Reader) -> list[Json]:
    """Only what the service can read again."""
    item = part.opaque or {}
    encrypted = item.get(ENCRYPTED)
    if item.get("type") != "reasoning" or not isinstance(encrypted, str):
        return []
    return [item] if encrypted and encrypted not in reader.unreadable else []


def _without_loose_ends(items: list[Json]) -> list[Json]:
    """Reasoning has to be followed by what came of it."""
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _input(items: list[Item], status: str | None) -> list[msgspec.Raw]:
    """All of the history as it was; the status is the last text of the last item, and no message of its own
    behind results: that would end the turn whose reasoning the model still reads.
    """
    if not status or not status.strip():
        return [item.raw or item.json() for item in items]
    told: Json = {"type": "input_text", "text": status}
    last = items[-1].data if items else {}
    if last.get("role") == "user":
        ended: Json = {**last, "content": [*last["content"], told]}
    elif last.get("type") == "function_call_output":
        output = last["output"]
        content: list[Json] = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
        ended = {**last, "output": _output([*content, told])}
    else:
        return [*(item.json() for item in items), Item(_spoken([told])).json()]
    return [*(item.raw or item.json() for item in items[:-1]), Item(ended).json()]


def _encrypted(prompt: Prompt, name: str) -> set[str]:
    """All the encrypted contents that go back with this prompt."""
    return {
        str(part.opaque[ENCRYPTED])
        for message in prompt.messages
        for part in message.parts
        if isinstance(part, Reasoning) and part.provider == name and part.opaque and ENCRYPTED in part.opaque
    }

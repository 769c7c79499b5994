"""Chat Completions, as OpenAI and everybody else offer it: a prompt as a request, and its provider."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal

import msgspec

from agent_cli.kernel.errors import ConfigError
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
from agent_cli.providers import options
from agent_cli.providers.exchange import exchange
from agent_cli.providers.http import Http
from agent_cli.providers.media import media_of
from agent_cli.providers.memo import Memo, Memos, json_bytes
from agent_cli.providers.names import wire_id, wire_name
from agent_cli.providers.openai_stream import ChatDecoder
from agent_cli.providers.own_data import OwnData
from agent_cli.providers.pile import arguments_text
from agent_cli.providers.relent import relenting
from agent_cli.providers.silent import SilentCuts, is_trusted, unless_cut

Json = dict[str, Any]
Dialect = Literal["openai", "openrouter", "compatible"]
"""OpenAI's own host, OpenRouter, and everybody else who speaks Chat Completions."""

LONGEST_TOOL_NAME = 64
LONGEST_SESSION = 256
RUN = os.urandom(6).hex()
"""Of this process: a session that another one goes on with is another run."""
NO_OUTPUT = "(no output)"
CALL_FOR_MEDIA = "[what it shows follows in the next message]"


class OpenAI:
    """One model over one client. `name` is "openai" or the name of an endpoint."""

    def __init__(
        self, card: ModelCard, http: Http, *, name: str = "openai", dialect: Dialect = "openai"
    ) -> None:
        self.name = name
        self._card = card
        self._http = http
        self._dialect: Dialect = dialect
        self._memos: Memos[Turn] = Memos()
        self._own = OwnData()
        self._cuts = SilentCuts(http.service.label, card)

    def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        """Raises ProviderError, and ConfigError where the model cannot do what the prompt asks for."""
        return relenting(lambda: self._send(prompt), lambda refusal: self._own.refused(refusal, prompt))

    def _send(self, prompt: Prompt) -> AsyncGenerator[Piece | Finished, None]:
        prompt = self._own.readable(prompt)
        memo = self._memos.of(prompt.session)
        body = encode(prompt, self._card, name=self.name, dialect=self._dialect, memo=memo)
        decoder, sent = ChatDecoder(self.name, self._card), json_bytes(body)
        pieces = exchange(self._http, sent, prompt.model, decoder, self._routing(prompt))
        if is_trusted(self._http.service.url):
            return pieces
        return unless_cut(pieces, lambda done: self._cuts.found(prompt, done, len(sent)))

    async def close(self) -> None:
        await self._http.close()

    def _routing(self, prompt: Prompt) -> Mapping[str, str]:
        """OpenRouter sends requests of one agent of one run to the same machine, where the cache is."""
        if self._dialect != "openrouter" or not prompt.session:
            return {}
        return {"x-session-id": f"{RUN}:{prompt.session}"[:LONGEST_SESSION]}


class Turn(msgspec.Struct):
    """One message on the wire. `rest` is what stands beside role and content; `raw` its JSON, once made."""

    role: Literal["user", "assistant", "tool"]
    content: list[Json]
    rest: Json = msgspec.field(default_factory=dict)
    raw: msgspec.Raw | None = None

    def json(self) -> msgspec.Raw:
        if self.raw is None:
            self.raw = self.with_content(self.content)
        return self.raw

    def with_content(self, content: list[Json]) -> msgspec.Raw:
        told: str | list[Json] | None = content
        if all(part.keys() == {"type", "text"} and part["type"] == "text" for part in content):
            told = "\n\n".join(part["text"] for part in content) if content else None
        return msgspec.Raw(json_bytes({"role": self.role, "content": told, **self.rest}))


def encode(
    prompt: Prompt,
    card: ModelCard,
    *,
    name: str = "openai",
    dialect: Dialect = "openai",
    memo: Memo[Turn] | None = None,
) -> Json:
    """The request's body; its messages are JSON already. Raises ConfigError."""
    options.check(prompt, card)
    memo = Memo() if memo is None else memo
    _bring_up_to_date(memo, prompt.messages, card, name)
    marked = dialect == "openrouter" and prompt.model.lstrip("~").startswith("anthropic/")
    body: Json = {"model": prompt.model, "stream": True, "stream_options": {"include_usage": True}}
    if prompt.max_output:
        reasons = dialect == "openai" and card.thinking.startswith("reasoning")
        body["max_completion_tokens" if reasons else "max_tokens"] = prompt.max_output
    if prompt.temperature is not None:
        body["temperature"] = prompt.temperature
    body |= _effort(prompt, card, dialect)
    if prompt.tools:
        body["tools"] = [_tool(spec.name, spec.description, spec.schema) for spec in prompt.tools]
        if prompt.tool_choice != "auto":
            body["tool_choice"] = _choice(prompt.tool_choice)
    if marked:
        body["cache_control"] = {"type": "ephemeral"}
    system = "\n\n".join(text for text in prompt.system if text.strip())
    head = [msgspec.Raw(json_bytes({"role": "system", "content": system}))] if system else []
    body["messages"] = head + _messages(memo.entries, prompt.status, marked=marked)
    return body


def _tool(name: str, description: str, schema: Json) -> Json:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def _choice(choice: str) -> str | Json:
    return "none" if choice == "none" else {"type": "function", "function": {"name": choice}}


def _effort(prompt: Prompt, card: ModelCard, dialect: Dialect) -> Json:
    """`card.thinking` of OpenAI's models: "reasoning", and "reasoning-alone" for those that take tools on Chat
    Completions only while they do not reason.
    """
    if dialect == "openrouter":
        return {"reasoning": {"effort": prompt.effort}} if prompt.effort else {}
    alone = dialect == "openai" and card.thinking == "reasoning-alone" and bool(prompt.tools)
    if not prompt.effort:
        return {"reasoning_effort": "none"} if alone else {}
    if alone:
        raise ConfigError(
            f"{card.id} takes tools through Chat Completions only while it does not reason, so --effort"
            f" {prompt.effort} cannot be had with tools. Leave --effort out, or choose gpt-5.2."
        )
    if prompt.temperature is not None and card.thinking:
        raise options.one_of(card, prompt, "while it reasons it samples in its own way")
    return {"reasoning_effort": prompt.effort}


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────


def _bring_up_to_date(memo: Memo[Turn], messages: tuple[Message, ...], card: ModelCard, name: str) -> None:
    kept = memo.keep_common(messages)
    turns, ends = memo.entries, list[int]()
    for message in messages[kept:]:
        fresh = _turns(message, card, name)
        mergeable = len(fresh) == 1 and fresh[0].role != "tool"
        if mergeable and turns and turns[-1].role == fresh[0].role and not turns[-1].rest:
            last, more = turns[-1], fresh[0]
            last.content, last.rest, last.raw = [*last.content, *more.content], more.rest, None
        else:
            turns += fresh
        ends.append(len(turns))
    memo.remember(messages, ends)


def _turns(message: Message, card: ModelCard, name: str) -> list[Turn]:
    if message.role == "assistant":
        said = _said(message, card, name)
        return [said] if said.content or said.rest.get("tool_calls") else []
    results: list[Turn] = []
    others: list[Json] = []
    for part in message.parts:
        match part:
            case ToolResult(call_id):
                content, media = _result(part, card)
                results.append(Turn("tool", content, {"tool_call_id": wire_id(call_id)}))
                others += media
            case Text() | Image() | Document():
                others += _shown(part, card)
            case Reasoning() | ToolCall() | Opaque():
                pass  # nothing that an operator says
    return [*results, Turn("user", others)] if others else results


def _said(message: Message, card: ModelCard, name: str) -> Turn:
    texts: list[Json] = []
    calls: list[Json] = []
    thought: Json = {}
    for part in message.parts:
        match part:
            case Text(text) if text.strip():
                texts.append({"type": "text", "text": text})
            case ToolCall():
                calls.append(_call(part))
            case Reasoning(provider=provider, model=model) if (provider, model) == (name, card.id):
                thought |= _thought(part)
            case _:
                pass
    return Turn("assistant", texts, {**thought, "tool_calls": calls} if calls else {})


def _call(call: ToolCall) -> Json:
    function = {"name": wire_name(call.name, LONGEST_TOOL_NAME), "arguments": arguments_text(call)}
    return {"id": wire_id(call.call_id), "type": "function", "function": function}


def _thought(part: Reasoning) -> Json:
    """Reasoning goes back within a tool loop, in the field it came in, to the servers that use such a field."""
    field_name = (part.opaque or {}).get("field")
    details = (part.opaque or {}).get("reasoning_details")
    if details:
        return {"reasoning_details": details}
    return {str(field_name): part.text} if field_name else {}


def _result(part: ToolResult, card: ModelCard) -> tuple[list[Json], list[Json]]:
    """The text of a result, and what only a user message may hold."""
    texts: list[Json] = []
    media: list[Json] = []
    for block in part.content:
        for shown in _shown(block, card):
            (texts if shown["type"] == "text" else media).append(shown)
    if media:
        texts.append({"type": "text", "text": CALL_FOR_MEDIA})
        media.insert(0, {"type": "text", "text": f"[shown by {part.name}]"})
    return texts or [{"type": "text", "text": NO_OUTPUT}], media


def _shown(block: Block, card: ModelCard) -> list[Json]:
    if isinstance(block, Text):
        return [{"type": "text", "text": block.text}] if block.text.strip() else []
    media = media_of(block, card)
    match media:
        case Image(kind, data):
            return [{"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}]
        case Document(kind, data, name):
            file = {"filename": name or "document.pdf", "file_data": f"data:{kind};base64,{data}"}
            return [{"type": "file", "file": file}]
        case str():
            return [{"type": "text", "text": media}]


def _messages(turns: list[Turn], status: str | None, *, marked: bool) -> list[msgspec.Raw]:
    """All of the history as it was; the status is the last text of the last message, which a later request
    sends again without it, so that all before it stays the same bytes.
    """
    status = status if status and status.strip() else None
    if not turns:
        return [Turn("user", [{"type": "text", "text": status}]).json()] if status else []
    last, more = turns[-1], list[Json]()
    content = list(last.content)
    if marked and content:
        content[-1] = {**content[-1], "cache_control": {"type": "ephemeral"}}
    if status:
        more.append({"type": "text", "text": status})
    sent = [turn.raw or turn.json() for turn in turns[:-1]]
    if more and last.role == "assistant":
        return [*sent, last.with_content(content), Turn("user", more).json()]
    return [*sent, last.with_content(content + more)]

"""Anthropic's Messages API: a prompt as a request, and the provider that sends it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from typing import Any, Literal

import msgspec

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.events import Finished, Piece
from agent_cli.kernel.messages import (
    Block,
    Document,
    Effort,
    Image,
    Message,
    Opaque,
    Part,
    Prompt,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from agent_cli.kernel.usage import ModelCard
from agent_cli.providers import options
from agent_cli.providers.anthropic_stream import MessagesDecoder
from agent_cli.providers.exchange import Transport, exchange
from agent_cli.providers.media import few_or_small, media_of
from agent_cli.providers.memo import Memo, Memos, json_bytes
from agent_cli.providers.names import wire_id, wire_name
from agent_cli.providers.own_data import OwnData
from agent_cli.providers.relent import relenting

Ttl = Literal["5m", "1h"]
Json = dict[str, Any]

VERSION = "2023-06-01"
"""The dialect with `x-api-key` and sampling, which gateways speak too."""
BINDING_BETA = "thinking-binding-controls-2026-08-01"
DEFAULT_MAX_OUTPUT = 8_192
USUAL_MAX_OUTPUT = 32_000
LONGEST_TOOL_NAME = 128
LOOK_BACK = 19
"""Blocks before a breakpoint at which the service still finds a cached prefix: it looks at 20, that one included."""
BUDGETS: dict[Effort, int] = {"low": 4_096, "medium": 12_000, "high": 24_000}
"""Thinking tokens for models that want a number."""
SMALLEST_BUDGET = 1_024


class Anthropic:
    """One model over one client. `name` is "anthropic" or the name of an endpoint that speaks the same API."""

    def __init__(self, card: ModelCard, http: Transport, *, name: str = "anthropic", ttl: Ttl = "5m") -> None:
        self.name = name
        self._card = card
        self._http = http
        self._ttl: Ttl = ttl
        self._memos: Memos[Group] = Memos()
        self._own = OwnData()

    def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        """Raises ProviderError, and ConfigError where the model cannot do what the prompt asks for."""
        return relenting(lambda: self._send(prompt), lambda refusal: self._own.refused(refusal, prompt))

    def _send(self, prompt: Prompt) -> AsyncGenerator[Piece | Finished, None]:
        prompt = self._own.readable(prompt)
        memo = self._memos.of(prompt.session)
        body = encode(prompt, self._card, name=self.name, ttl=self._ttl, memo=memo)
        betas = {"anthropic-beta": BINDING_BETA} if "block_binding" in body.get("thinking", ()) else {}
        decoder = MessagesDecoder(self.name, self._card)
        return exchange(self._http, json_bytes(body), prompt.model, decoder, betas)

    async def close(self) -> None:
        await self._http.close()


class Group(msgspec.Struct):
    """One message on the wire: all neighbours of one role. `raw` is its JSON, once made."""

    role: Role
    blocks: list[Json]
    raw: msgspec.Raw | None = None

    def json(self) -> msgspec.Raw:
        if self.raw is None:
            self.raw = msgspec.Raw(json_bytes({"role": self.role, "content": self.blocks}))
        return self.raw


def encode(
    prompt: Prompt,
    card: ModelCard,
    *,
    name: str = "anthropic",
    ttl: Ttl = "5m",
    memo: Memo[Group] | None = None,
) -> Json:
    """The request's body; its messages are JSON already. Raises ConfigError."""
    options.check(prompt, card)
    memo = Memo() if memo is None else memo
    _bring_up_to_date(memo, few_or_small(prompt.messages), card, name)
    limit = prompt.max_output or min(card.max_output or DEFAULT_MAX_OUTPUT, USUAL_MAX_OUTPUT)
    mark: Json = {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
    body: Json = {"model": prompt.model, "max_tokens": limit, "stream": True}
    if tools := [_tool(spec.name, spec.description, spec.schema) for spec in prompt.tools]:
        tools[-1]["cache_control"] = mark
        body["tools"] = tools
        if prompt.tool_choice != "auto":
            body["tool_choice"] = _choice(prompt.tool_choice)
    system: list[Json] = [{"type": "text", "text": text} for text in prompt.system if text.strip()]
    if system:
        system[-1]["cache_control"] = mark
        body["system"] = system
    if prompt.temperature is not None:
        body["temperature"] = prompt.temperature
    body |= _thinking(prompt, card, memo.entries, limit)
    body["messages"] = _messages(memo.entries, mark, prompt.status)
    return body


def _tool(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "description": description, "input_schema": schema}


def _choice(choice: str) -> Json:
    return {"type": "none"} if choice == "none" else {"type": "tool", "name": choice}


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────


def _bring_up_to_date(memo: Memo[Group], messages: tuple[Message, ...], card: ModelCard, name: str) -> None:
    kept = memo.keep_common(messages)
    groups, ends = memo.entries, list[int]()
    for message in messages[kept:]:
        blocks = list(_blocks(message, card, name))
        if groups and groups[-1].role == message.role:
            last = groups[-1]
            last.blocks, last.raw = _results_first([*last.blocks, *blocks]), None
        elif blocks:
            groups.append(Group(message.role, _results_first(blocks)))
        ends.append(len(groups))
    memo.remember(messages, ends)


def _blocks(message: Message, card: ModelCard, name: str) -> Iterator[Json]:
    """Without thinking at the end, which is refused there."""
    waiting: list[Json] = []
    for part in message.parts:
        block = _block(part, card, name)
        if block is None:
            continue
        waiting.append(block)
        if not _is_thinking(block):
            yield from waiting
            waiting = []


def _block(part: Part, card: ModelCard, name: str) -> Json | None:
    """None for what is empty, or what this model cannot read."""
    match part:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Image() | Document():
            return _medium(part, card)
        case ToolCall(call_id, tool, arguments, raw):
            given = {"_unparsed": raw} if arguments is None else arguments
            called = wire_name(tool, LONGEST_TOOL_NAME)
            return {"type": "tool_use", "id": wire_id(call_id), "name": called, "input": given}
        case ToolResult():
            return _result(part, card)
        case Reasoning(provider=provider, model=model):
            return _reasoning(part) if (provider, model) == (name, card.id) else None
        case Opaque(provider, data):
            return data if provider == name else None


def _reasoning(part: Reasoning) -> Json | None:
    if part.opaque is not None:
        return part.opaque
    if part.signature is None:
        return None
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}


def _result(part: ToolResult, card: ModelCard) -> Json:
    result: Json = {"type": "tool_result", "tool_use_id": wire_id(part.call_id)}
    if content := [block for one in part.content if (block := _content(one, card))]:
        result["content"] = content[0]["text"] if [one["type"] for one in content] == ["text"] else content
    if not part.ok:
        result["is_error"] = True
    return result


def _content(block: Block, card: ModelCard) -> Json | None:
    match block:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Image() | Document():
            return _medium(block, card)


def _medium(block: Image | Document, card: ModelCard) -> Json:
    media = media_of(block, card)
    if isinstance(media, str):
        return {"type": "text", "text": media}
    source = {"type": "base64", "media_type": media.media_type, "data": media.data}
    return {"type": "image" if isinstance(media, Image) else "document", "source": source}


def _results_first(blocks: list[Json]) -> list[Json]:
    """Results have to stand before everything else; the order among each stays."""
    return sorted(blocks, key=lambda block: block["type"] != "tool_result")


def _is_thinking(block: Json) -> bool:
    return block.get("type") in ("thinking", "redacted_thinking")


# ── cache breakpoints and status ─────────────────────────────────────────────────────────────────────────


def _messages(groups: list[Group], mark: Json, status: str | None) -> list[msgspec.Raw]:
    """All of the history as it was, but the last blocks with breakpoints and the status behind them."""
    places = _breakpoints(groups)
    first = min((at for at, _ in places), default=len(groups))
    if status and groups:
        first = min(first, len(groups) - 1)
    tail = [(group.role, list(group.blocks)) for group in groups[first:]]
    for at, place in places:
        blocks = tail[at - first][1]
        blocks[place] = {**blocks[place], "cache_control": mark}
    if status and status.strip():
        if not tail or tail[-1][0] != "user":
            tail.append(("user", []))
        tail[-1][1].append({"type": "text", "text": status})
    sent = [group.raw or group.json() for group in groups[:first]]
    sent += [msgspec.Raw(json_bytes({"role": role, "content": blocks})) for role, blocks in tail]
    return sent


def _breakpoints(groups: list[Group]) -> list[tuple[int, int]]:
    """(group, block) of the last two blocks that can be marked.

    Only where a batch is so large that the service would not find what the request before wrote, the second one goes
    to where that had its last: else all of the conversation would be written anew.
    """
    places: list[tuple[int, int]] = []
    for at in range(len(groups) - 1, -1, -1):
        places += [(at, place) for place in _markable(groups[at])]
        if len(places) >= 2:
            break
    if len(groups) >= 3 and len(groups[-1].blocks) + len(groups[-2].blocks) > LOOK_BACK:
        places[1:2] = [(len(groups) - 3, place) for place in _markable(groups[-3])][:1]
    return places[:2]


def _markable(group: Group) -> list[int]:
    """Places of the blocks that may carry a breakpoint, the last one first."""
    return [
        place
        for place in range(len(group.blocks) - 1, -1, -1)
        if not _is_thinking(group.blocks[place]) and not _is_empty_result(group.blocks[place])
    ]


def _is_empty_result(block: Json) -> bool:
    return block.get("type") == "tool_result" and "content" not in block


# ── thinking ─────────────────────────────────────────────────────────────────────────────────────────────


def _thinking(prompt: Prompt, card: ModelCard, groups: list[Group], limit: int) -> Json:
    """`card.thinking`: "adaptive" decides itself how long; "bound" too, and its blocks are good only for an
    unchanged history, which the status line changes; "enabled" wants a number of tokens.
    """
    forced = bool(prompt.tools) and prompt.tool_choice not in ("auto", "none")
    effort: Json = {"output_config": {"effort": prompt.effort}} if prompt.effort else {}
    match card.thinking:
        case "bound" if forced:
            raise ConfigError(f"{card.id} cannot be made to call a named tool ({prompt.tool_choice}).")
        case "bound":
            binding = {"prefix_mismatch_behavior": "drop_block"}
            shown = {"type": "adaptive", "display": "summarized", "block_binding": binding}
            return {"thinking": shown, **effort}
        case "adaptive" if forced:
            return {"thinking": {"type": "disabled"}}
        case "adaptive" if prompt.temperature is not None:
            if prompt.effort:
                raise options.one_of(card, prompt, "while it thinks it samples in its own way")
            return {}
        case "adaptive":
            shown = {"type": "adaptive"} if card.sampling else {"type": "adaptive", "display": "summarized"}
            return {"thinking": shown, **effort}
        case "enabled" if prompt.effort and not forced:
            if prompt.temperature is not None:
                raise options.one_of(card, prompt, "while it thinks it samples in its own way")
            return _budget(BUDGETS[prompt.effort], groups, limit)
        case _:
            return {}


def _budget(budget: int, groups: list[Group], limit: int) -> Json:
    """Nothing where the answer would have no room left, or where the tool loop that runs began without thinking."""
    budget = min(budget, limit - SMALLEST_BUDGET)
    if budget < SMALLEST_BUDGET or not _loop_thinks(groups):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _loop_thinks(groups: list[Group]) -> bool:
    """Whether the first answer after the operator's last message, if it called tools, begins with thinking."""
    first: Group | None = None
    for group in reversed(groups):
        if group.role == "user" and any(block["type"] != "tool_result" for block in group.blocks):
            break
        if group.role == "assistant" and any(block["type"] == "tool_use" for block in group.blocks):
            first = group
    return first is None or _is_thinking(first.blocks[0])

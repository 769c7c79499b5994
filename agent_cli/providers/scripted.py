"""A provider that plays a script: for demonstrations without a key, and for tests."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path

from agent_cli.kernel.errors import RequestRefused
from agent_cli.kernel.events import (
    ArgumentsDelta,
    Finished,
    Piece,
    ReasoningDelta,
    TextDelta,
    UsageSoFar,
)
from agent_cli.kernel.messages import Prompt, Reasoning, Said, Text, ToolCall, calls_of
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.providers import script
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.pile import arguments_of
from agent_cli.providers.script import Fault, Reply

CARD = ModelCard(
    id="scripted",
    provider="scripted",
    window=200_000,
    max_output=32_000,
    free=True,
    efforts=("low", "medium", "high"),
    images=True,
    documents=True,
)
BYTES_PER_TOKEN = 4
PIECE = re.compile(r"\s*\S{1,12}|\s+")
OWN_ID = re.compile(r"call_(\d+)")


class Scripted:
    """Plays one reply a request, in order; a failed request has used its reply up.

    `strict` fails a request that does not meet its reply's expectation. At the end the script begins again
    with `loop`, else the request fails.
    """

    def __init__(self, replies: Sequence[Reply], *, strict: bool = False, loop: bool = False) -> None:
        self.name = "scripted"
        played = next((reply.card for reply in replies if reply.card), None)
        self.card = played.over(CARD) if played else CARD
        self._replies = replies
        self._strict = strict
        self._loop = loop
        self._next = 0
        self._calls = 0
        self.prompts: list[Prompt] = []
        """Every prompt that was sent, for tests."""

    @classmethod
    def from_file(cls, path: Path, *, strict: bool = False, loop: bool = False) -> Scripted:
        """Raises ConfigError naming file and line."""
        return cls(script.read(path), strict=strict, loop=loop)

    @classmethod
    def demo(cls) -> Scripted:
        """The script that ships: it looks around in the working directory and explains itself, again and again."""
        return cls(script.read(Path(__file__).with_name("demo.jsonl")), loop=True)

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        """Raises what the script says, and RequestRefused where the script does not fit."""
        self.prompts.append(prompt)
        reply = self._take(prompt)
        parts = tuple(self._parts(reply, prompt))
        usage = reply.usage or Usage(input=_tokens_of(prompt), output=_tokens(parts))
        await asyncio.sleep(reply.delay_ms / 1000)
        fault = Fault(reply.fault) if isinstance(reply.fault, str) else reply.fault
        if fault and not fault.after:
            raise fault.error()
        yield UsageSoFar(Usage(input=usage.input, cache_read=usage.cache_read, cache_write=usage.cache_write))
        for sent, piece in enumerate(pieces_of(parts)):
            if fault and sent >= fault.after:
                break
            yield piece
            if reply.pace_ms:
                await asyncio.sleep(reply.pace_ms / 1000)
        if fault:
            raise fault.error()
        calls = calls_of(parts)
        reason = reply.finish or ("tool-calls" if calls else "stop")
        told = (line.answered(call.call_id) for line, call in zip(reply.calls, calls, strict=True))
        answered = tuple(result for result in told if result is not None)
        number = f"scripted-{len(self.prompts)}"
        yield Finished(parts, usage, prompt.model, reason, reason, number, answered=answered)

    async def close(self) -> None:
        """Nothing is open."""

    def _take(self, prompt: Prompt) -> Reply:
        if self._next >= len(self._replies):
            if not self._loop:
                raise RequestRefused(
                    f"The script has {len(self._replies)} replies, and this is request {len(self.prompts)}."
                    " Add a line to the script, or let it loop."
                )
            self._next = 0
        reply = self._replies[self._next]
        self._next += 1
        if self._strict and reply.expect and (why := reply.expect.mismatch(prompt)):
            raise RequestRefused(f"Reply {self._next} of the script does not fit the request: {why}.")
        return reply

    def _parts(self, reply: Reply, prompt: Prompt) -> Iterator[Said]:
        if reply.reasoning:
            yield Reasoning(reply.reasoning, self.name, prompt.model)
        if reply.text:
            yield Text(reply.text)
        if reply.calls and not self._calls:
            self._calls = _highest_id(prompt)
        for call in reply.calls:
            self._calls += 1
            given = call.arguments
            raw = given if isinstance(given, str) else json_bytes(given).decode()
            yield ToolCall(call.id or f"call_{self._calls}", call.name, arguments_of(raw), raw)


def pieces_of(parts: tuple[Said, ...]) -> Iterator[Piece]:
    """How an answer is sent."""
    for part in parts:
        match part:
            case Text(text):
                yield from (TextDelta(piece) for piece in PIECE.findall(text))
            case Reasoning(text):
                yield from (ReasoningDelta(piece) for piece in PIECE.findall(text))
            case ToolCall(call_id, name, _, raw):
                yield ArgumentsDelta(call_id, name, "")
                yield from (ArgumentsDelta(call_id, name, piece) for piece in PIECE.findall(raw))
            case _:
                pass


def _highest_id(prompt: Prompt) -> int:
    """Ids go on behind those of a resumed session."""
    known = (
        part.call_id for message in prompt.messages for part in message.parts if isinstance(part, ToolCall)
    )
    return max((int(own.group(1)) for call_id in known if (own := OWN_ID.fullmatch(call_id))), default=0)


def _tokens_of(prompt: Prompt) -> int:
    said = _tokens(tuple(part for message in prompt.messages for part in message.parts))
    told = sum(len(text) for text in prompt.system) + sum(len(json_bytes(tool)) for tool in prompt.tools)
    return said + told // BYTES_PER_TOKEN


def _tokens(parts: Sequence[object]) -> int:
    return sum(len(json_bytes(part)) for part in parts) // BYTES_PER_TOKEN

"""Writes what models are asked and answer as a script, one request a line, that `scripted` replays.

A line is written as soon as its answer is complete, has failed, or was broken off by who asked for it: so far it
came then, and the line says that it was cut. Secrets are redacted, images and files are named instead of kept.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from agent_cli.kernel.errors import (
    ConfigError,
    ConnectionFailed,
    ContextOverflow,
    ProviderError,
    RequestRefused,
)
from agent_cli.kernel.events import Finished, Piece, ReasoningDelta, TextDelta, UsageSoFar
from agent_cli.kernel.messages import (
    Message,
    Prompt,
    Reasoning,
    Said,
    Text,
    ToolCall,
    ToolResult,
    calls_of,
    text_of,
)
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.wire import is_list, is_object
from agent_cli.ports import Provider
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.redact import without
from agent_cli.providers.script import KINDS, AnswerCut, Call, Card, Expect, Fault, Reply
from agent_cli.providers.scripted import pieces_of

log = logging.getLogger("agent_cli.providers")

CUT = "The answer was cut off here when it was recorded: the run was interrupted, or had reached a limit."


class Recording:
    """One file for every model of a process. `secrets` are values that must not get into it."""

    def __init__(self, path: Path, secrets: Iterable[str] = ()) -> None:
        """Raises ConfigError where the file cannot be written, or holds something already."""
        self._path = path
        self._secrets = tuple(secrets)
        self._card: Card | None = None
        self._seen: dict[str, tuple[Message, ...]] = {}
        self._broken = False
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            size = os.fstat(descriptor).st_size
            os.close(descriptor)
        except OSError as problem:
            raise ConfigError(f"--record-to: {path} cannot be written: {problem.strerror}.") from None
        if size:
            raise ConfigError(
                f"--record-to: {path} holds something already. Name a new file, or remove that one."
            )

    def over(self, provider: Provider, card: ModelCard, /) -> Provider:
        """The provider, with everything it is asked and answers written down."""
        return Recorded(provider, Card.of(card), self)

    def write(self, prompt: Prompt, card: Card, reply: Reply) -> None:
        """A file that cannot be written any more ends the recording, not the run."""
        asked = {"model": prompt.model, "messages": self._new(prompt)}
        other, self._card = card if card != self._card else None, card
        whole = msgspec.structs.replace(reply, expect=Expect.exactly(prompt), request=asked, card=other)
        line = json_bytes(self._clean(msgspec.json.decode(json_bytes(whole))))
        if self._broken:
            return
        try:
            with self._path.open("ab") as file:
                file.write(line + b"\n")
        except OSError:
            self._broken = True
            log.exception("the recording %s is not complete", self._path)

    def _new(self, prompt: Prompt) -> tuple[Message, ...]:
        """What was said since the last request of that session."""
        seen, said = self._seen.get(prompt.session, ()), prompt.messages
        self._seen[prompt.session] = said
        return said[len(seen) :] if said[: len(seen)] == seen else said

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return without(value, self._secrets)
        if is_list(value):
            return [self._clean(held) for held in value]
        if is_object(value):
            if value.get("kind") in ("image", "document"):
                value = {**value, "data": f"({len(str(value.get('data')))} characters)"}
            return {name: self._clean(held) for name, held in value.items()}
        return value


@dataclass(slots=True)
class Heard:
    """What came of an answer so far."""

    text: list[str] = field(default_factory=list[str])
    thought: list[str] = field(default_factory=list[str])
    usage: Usage = field(default_factory=Usage)
    all: bool = False
    """The answer is complete."""

    def add(self, piece: Piece | Finished) -> None:
        match piece:
            case TextDelta(text):
                self.text.append(text)
            case ReasoningDelta(text):
                self.thought.append(text)
            case UsageSoFar(usage):
                self.usage = usage
            case Finished():
                self.all = True
            case _:
                pass


class Recorded:
    """A provider whose answers are written down."""

    def __init__(self, provider: Provider, card: Card, recording: Recording) -> None:
        self._provider = provider
        self._card = card
        self._recording = recording

    @property
    def name(self) -> str:
        return self._provider.name

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        heard = Heard()
        try:
            async with aclosing(self._listened(prompt, heard)) as pieces:
                async for piece in pieces:
                    yield piece
        except ProviderError as problem:
            self._write(prompt, _failure(heard, problem))
            raise
        except (GeneratorExit, asyncio.CancelledError):
            if not heard.all:
                self._write(prompt, _failure(heard, AnswerCut(CUT)))
            raise

    async def close(self) -> None:
        await self._provider.close()

    def _write(self, prompt: Prompt, reply: Reply) -> None:
        self._recording.write(prompt, self._card, reply)

    async def _listened(self, prompt: Prompt, heard: Heard) -> AsyncGenerator[Piece | Finished, None]:
        async with aclosing(self._provider.stream(prompt)) as pieces:
            async for piece in pieces:
                heard.add(piece)
                if isinstance(piece, Finished):
                    self._write(prompt, _answer(piece))
                yield piece


def _answer(finished: Finished) -> Reply:
    thoughts = [part.text for part in finished.parts if isinstance(part, Reasoning)]
    answered = {result.call_id: result for result in finished.answered}
    calls = [_call(call, answered.get(call.call_id)) for call in calls_of(finished.parts)]
    return Reply(
        text=text_of(finished.parts),
        reasoning="\n\n".join(filter(None, thoughts)),
        calls=tuple(calls),
        usage=finished.usage,
        finish=finished.finish_reason,
    )


def _call(call: ToolCall, result: ToolResult | None) -> Call:
    written = Call(call.name, call.raw if call.arguments is None else call.arguments, call.call_id)
    if result is None:
        return written
    told = "\n".join(block.text for block in result.content if isinstance(block, Text))
    return msgspec.structs.replace(written, result=told, failed=not result.ok)


def _failure(heard: Heard, problem: ProviderError) -> Reply:
    """What was shown before it failed is shown again."""
    text, thought = "".join(heard.text), "".join(heard.thought)
    said: tuple[Said, ...] = (Reasoning(thought, "", ""), Text(text))
    fault = Fault(
        _kind(problem), str(problem), sum(1 for _ in pieces_of(said)), retry_after=problem.retry_after
    )
    if isinstance(problem, ContextOverflow):
        fault = msgspec.structs.replace(fault, used=problem.used, limit=problem.limit)
    return Reply(text=text, reasoning=thought, usage=heard.usage, fault=fault)


def _kind(problem: ProviderError) -> str:
    """A kind that scripts know, for the errors of third parties too."""
    if problem.kind in KINDS:
        return problem.kind
    return ConnectionFailed.kind if problem.retryable else RequestRefused.kind

"""All families behind one handle, so that each concern is tested once, with the family as parameter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent_cli.kernel.events import Finished
from agent_cli.kernel.messages import Message, Prompt, Text, ToolCall, ToolResult, ToolSpec
from agent_cli.ports import OpenModel
from agent_cli.providers.registry import Endpoint, Registry
from tests.fakes.http_server import FakeService, Raw, Say

MODELS = {
    "anthropic": "claude-opus-5",
    "openai": "gpt-4.1",
    "gemini": "gemini-3.7-flash",
    "responses": "responses/gpt-5.2",
}
"""The last is an endpoint of that name: the fake service has no address of OpenAI's."""
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
READ = ToolSpec("read_file", "Reads a file.", SCHEMA)
GREP = ToolSpec("grep", "Finds text.", SCHEMA)
STATUS = "[status: 1 of 10 steps]"

both = pytest.mark.parametrize("family", ["anthropic", "openai"])
every = pytest.mark.parametrize("family", list(MODELS))


def said(text: str) -> Message:
    return Message("user", (Text(text),))


def answered(*parts: Any) -> Message:
    return Message("assistant", parts)


def call(call_id: str, path: str = "a.txt", name: str = "read_file") -> ToolCall:
    return ToolCall(call_id, name, {"path": path}, f'{{"path":"{path}"}}')


def result(call_id: str, text: str = "hello", name: str = "read_file", ok: bool = True) -> ToolResult:
    return ToolResult(call_id, name, (Text(text),), ok)


def asking(model: OpenModel, *messages: Message, **fields: Any) -> Prompt:
    more: dict[str, Any] = {"tools": (READ, GREP), "system": ("Be brief.",), "status": STATUS, **fields}
    return Prompt(model=model.card.id, messages=messages or (said("Hello?"),), **more)


@asynccontextmanager
async def serving(
    family: str, *replies: Say | Raw, name: str = "", **options: Any
) -> AsyncIterator[tuple[FakeService, OpenModel]]:
    """A fake service with a model opened on it; afterwards the service must have refused nothing."""
    async with FakeService(list(replies)) as service:
        environ = {
            "ANTHROPIC_API_KEY": "key-a",
            "OPENAI_API_KEY": "key-o",
            "ANTHROPIC_BASE_URL": service.url,
            "OPENAI_BASE_URL": f"{service.url}/v1",
            "GEMINI_API_KEY": "key-g",
            "GOOGLE_GEMINI_BASE_URL": service.url,
        }
        sealed = Endpoint(f"{service.url}/v1", "OPENAI_API_KEY", "responses")
        registry = Registry(environ, endpoints={"responses": sealed}, **options)
        try:
            yield service, registry.open(name or MODELS[family])
        finally:
            await registry.close()
        assert service.violations == []


def conversation(body: dict[str, Any]) -> list[dict[str, Any]]:
    """What was said so far, under the name that the API has for it."""
    return next(body[name] for name in ("messages", "contents", "input") if name in body)


async def pieces_of(model: OpenModel, prompt: Prompt) -> list[Any]:
    """Everything of one request; the last one is Finished, and the only one."""
    pieces = [piece async for piece in model.provider.stream(prompt)]
    assert [at for at, piece in enumerate(pieces) if isinstance(piece, Finished)] == [len(pieces) - 1]
    return pieces


async def answer_of(model: OpenModel, *messages: Message, **fields: Any) -> Finished:
    return (await pieces_of(model, asking(model, *messages, **fields)))[-1]

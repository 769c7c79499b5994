"""The smallest real model, if it is installed for the user who runs the tests: `pytest -m local_model`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_cli.kernel.events import Finished, Piece, TextDelta
from agent_cli.kernel.messages import Message, Prompt, Text, ToolResult, ToolSpec, calls_of, text_of
from agent_cli.providers.local import provider, weights

MODELS = weights.directory()
"""Looked up before a test gets a home of its own."""
TOOLS = (
    ToolSpec("read_file", "Read a text file.", {}),
    ToolSpec("write_file", "Create a file, or replace the whole content of one.", {}),
    ToolSpec("bash", "Run a shell command and return its output and exit code.", {}),
)
SYSTEM = "You are a coding agent in a terminal. Use the tools to do what the user asks, one call at a time."

pytestmark = [pytest.mark.local_model, pytest.mark.timeout(300)]


@pytest.fixture
def small() -> Path:
    path = MODELS / weights.named("0.5b").file
    if not path.is_file():
        pytest.skip("not installed: agent-cli local install 0.5b")
    return path


async def test_it_calls_a_tool_and_answers_from_the_result(small: Path, tmp_path: Path) -> None:
    opened = provider.open_local(str(small))
    history = [Message("user", (Text("Read the file hello.txt and tell me its content."),))]

    async def step() -> tuple[list[Piece], Finished]:
        prompt = Prompt(opened.card.id, (SYSTEM,), TOOLS, tuple(history))
        *pieces, finished = [piece async for piece in opened.provider.stream(prompt)]
        assert isinstance(finished, Finished)
        history.append(Message("assistant", finished.parts))
        return [piece for piece in pieces if not isinstance(piece, Finished)], finished

    try:
        pieces, said = await step()
        assert said.usage.cache_read > 100, "what every prompt begins with was computed before"
        for _ in range(3):  # it likes to read twice; the guard against loops then makes it answer
            if not calls_of(said.parts):
                break
            (call,) = calls_of(said.parts)
            assert call.name in ("read_file", "bash")
            assert "hello.txt" in str(call.arguments)
            content = (Text("The magic word is pineapple."),)
            history.append(Message("user", (ToolResult(call.call_id, call.name, content),)))
            pieces, said = await step()
        assert len(history) > 2, "it answered without a look"
        assert "pineapple" in text_of(said.parts)
        assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == text_of(said.parts)
    finally:
        pid = opened.provider._server.pid
        await opened.provider.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

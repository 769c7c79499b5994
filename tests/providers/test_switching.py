"""A session that goes from one family to another, in the middle of a turn and between turns."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent_cli.kernel.messages import Message, ToolResult, calls_of, text_of
from agent_cli.ports import OpenModel
from agent_cli.providers.registry import Endpoint, Registry
from tests.fakes.http_server import FakeService, Say
from tests.providers.families import MODELS, answer_of, answered, call, conversation, result, said

CALLING = Say("Looking.", thinking="Hm, ja.", calls=(("read_file", '{"path":"a"}'), ("grep", '{"path":"b"}')))
UNSIGNED = "skip_thought_signature_validator"
NEWER, OLDER = "gemini-3.7-flash", "gemini-2.5-pro"


@asynccontextmanager
async def all_families(*replies: Say) -> AsyncIterator[tuple[FakeService, Registry]]:
    """Every family on one service, which must have refused nothing."""
    async with FakeService(list(replies)) as service:
        keys = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}
        urls = {
            "ANTHROPIC_BASE_URL": service.url,
            "OPENAI_BASE_URL": f"{service.url}/v1",
            "GOOGLE_GEMINI_BASE_URL": service.url,
        }
        sealed = Endpoint(f"{service.url}/v1", "OPENAI_API_KEY", "responses")
        registry = Registry({**keys, **urls}, endpoints={"responses": sealed})
        yield service, registry
        await registry.close()
        assert service.violations == []


async def step(model: OpenModel, history: list[Message]) -> None:
    """One answer, and the results of its calls."""
    finished = await answer_of(model, *history)
    history.append(Message("assistant", finished.parts))
    if made := calls_of(finished.parts):
        results = [ToolResult(one.call_id, one.name, result("x").content) for one in made]
        history.append(Message("user", tuple(results)))


@pytest.mark.parametrize("order", list(itertools.permutations(MODELS)), ids="-".join)
async def test_families_take_turns_inside_one_tool_loop(order: tuple[str, ...]):
    async with all_families(*[CALLING] * 8, Say("Done.")) as (service, registry):
        history = [said("Go.")]
        for family in order + order:
            await step(registry.open(MODELS[family]), history)
        await step(registry.open(MODELS[order[0]]), history)
        history.append(said("And on."))
        await step(registry.open(MODELS[order[1]]), history)
    assert text_of(history[-1].parts) == "Done."
    told = service.requests[-1].raw.decode()
    assert told.count("Looking.") == 8, "what was said stays, whoever said it"


async def gemini_after_others(name: str) -> list[dict[str, Any]]:
    async with all_families(Say("Hi.")) as (service, registry):
        before = (
            said("Go."),
            answered(call("c1"), call("c2")),
            Message("user", (result("c1"), result("c2"))),
        )
        await answer_of(registry.open(name), *before)
    return conversation(service.requests[0].body)[1]["parts"]


async def test_gemini_takes_the_first_call_of_others_with_the_word_that_is_meant_for_it():
    first, second = await gemini_after_others(NEWER)
    assert first["thoughtSignature"] == UNSIGNED
    assert "thoughtSignature" not in second
    assert all("thoughtSignature" not in part for part in await gemini_after_others(OLDER))


async def test_another_model_of_openai_gets_words_instead_of_items():
    async with all_families(CALLING, CALLING, Say("Hi.")) as (service, registry):
        history = [said("Go.")]
        await step(registry.open("responses/gpt-5.2"), history)
        await step(registry.open("responses/gpt-5.1"), history)
        await answer_of(registry.open("responses/gpt-5.1"), *history)
    second = [item for item in service.requests[1].body["input"] if item["type"] != "function_call_output"]
    assert [item["type"] for item in second[1:]] == ["message", "function_call", "function_call"]
    assert all("id" not in item and "phase" not in item for item in second)
    third = [item for item in service.requests[2].body["input"] if "id" in item]
    assert [item["type"] for item in third] == ["reasoning", "message", "function_call", "function_call"]
    assert third[1]["phase"] == "commentary"

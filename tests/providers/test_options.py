from __future__ import annotations

from typing import Any

import pytest

from agent_cli.kernel.errors import ConfigError
from agent_cli.providers.registry import Registry
from tests.fakes.http_server import Say
from tests.providers.families import answer_of, serving


async def body_of(family: str, name: str, **fields: Any) -> dict[str, Any]:
    async with serving(family, Say("Hi."), name=name) as (service, model):
        await answer_of(model, **fields)
    return service.requests[0].body


@pytest.mark.parametrize(
    ("name", "asked", "sent"),
    [
        ("claude-opus-5", None, {"max_tokens": 32_000}),
        ("claude-opus-5", 100_000, {"max_tokens": 100_000}),
        ("claude-haiku-4-5", 500, {"max_tokens": 500}),
        ("gpt-4.1", None, {}),
        ("gpt-4.1", 500, {"max_tokens": 500}),
        ("gpt-5.2", 500, {"max_completion_tokens": 500}),
        ("ollama/gpt-5.2", 500, {"max_tokens": 500}),
    ],
)
async def test_the_limit_of_the_answer_has_the_name_that_the_model_knows(
    name: str, asked: int | None, sent: dict[str, int]
):
    from agent_cli.providers.registry import Endpoint, Registry
    from tests.fakes.http_server import FakeService

    async with FakeService([Say("Hi.")]) as service:
        environ = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "ANTHROPIC_BASE_URL": service.url}
        environ["OPENAI_BASE_URL"] = f"{service.url}/v1"
        registry = Registry(environ, endpoints={"ollama": Endpoint(f"{service.url}/v1")})
        await answer_of(registry.open(name), max_output=asked)
        await registry.close()
    body = service.requests[0].body
    assert {key: body[key] for key in body if key.startswith("max_")} == sent


async def test_temperature_and_effort_where_they_are_taken():
    assert (await body_of("anthropic", "claude-haiku-4-5", temperature=0.2))["temperature"] == 0.2
    assert "thinking" not in await body_of("anthropic", "claude-opus-4-6", temperature=0.2)
    assert (await body_of("openai", "gpt-4.1", temperature=0.0))["temperature"] == 0.0
    assert (await body_of("openai", "gpt-5.2", effort="low"))["reasoning_effort"] == "low"
    assert "reasoning_effort" not in await body_of("openai", "gpt-5.2")


async def test_gemini_takes_a_word_or_a_number_of_tokens():
    async def config(name: str, **fields: Any) -> dict[str, Any]:
        return (await body_of("gemini", name, **fields)).get("generationConfig", {})

    shown = {"includeThoughts": True}
    assert await config("gemini-3.7-flash") == {"thinkingConfig": shown}
    assert await config("gemini-3.7-flash", effort="low", max_output=500, temperature=0.0) == {
        "thinkingConfig": {**shown, "thinkingLevel": "LOW"},
        "maxOutputTokens": 500,
        "temperature": 0.0,
    }
    assert await config("gemini-2.5-pro") == {"thinkingConfig": shown}
    assert await config("gemini-2.5-pro", effort="high") == {
        "thinkingConfig": {**shown, "thinkingBudget": 24_576}
    }
    tight = (await config("gemini-2.5-flash", effort="high", max_output=4_000))["thinkingConfig"]
    assert tight["thinkingBudget"] == 2_000
    assert await config("gemini-2.5-flash-lite") == {}
    lite = await config("gemini-2.5-flash-lite", effort="medium")
    assert lite == {"thinkingConfig": {**shown, "thinkingBudget": 8_192}}


async def test_responses_reason_beside_tools_and_keep_nothing():
    body = await body_of("responses", "responses/gpt-5.4", effort="high", max_output=4)
    assert body["reasoning"] == {"effort": "high", "summary": "auto"}
    assert body["include"] == ["reasoning.encrypted_content"]
    assert (body["store"], body["max_output_tokens"]) == (False, 16)
    assert body["instructions"] == "Be brief."
    plain = await body_of("responses", "responses/gpt-4.1", temperature=0.2)
    assert plain["temperature"] == 0.2
    assert not {"reasoning", "include"} & plain.keys()


async def test_models_that_take_tools_only_while_they_do_not_reason():
    assert (await body_of("openai", "gpt-5.4"))["reasoning_effort"] == "none"
    assert (await body_of("openai", "gpt-5.4", tools=(), effort="high"))["reasoning_effort"] == "high"
    with pytest.raises(ConfigError, match="only while it does not reason"):
        await body_of("openai", "gpt-5.4", effort="high")


@pytest.mark.parametrize(
    ("family", "name", "fields", "words"),
    [
        ("anthropic", "claude-opus-5", {"temperature": 0.5}, "--temperature"),
        ("anthropic", "claude-opus-5", {"max_output": 200_000}, "at most 128000"),
        ("anthropic", "claude-opus-4-6", {"temperature": 0.5, "effort": "low"}, "not both"),
        ("anthropic", "claude-haiku-4-5", {"temperature": 0.5, "effort": "low"}, "not both"),
        ("openai", "gpt-5", {"temperature": 0.5}, "--temperature"),
        ("openai", "gpt-5.2", {"temperature": 0.5, "effort": "low"}, "not both"),
        ("openai", "gpt-4.1", {"effort": "high"}, "no thinking effort to set"),
        ("gemini", "gemini-3.7-flash", {"max_output": 70_000}, "at most 65536"),
        ("gemini", "gemini/gemini-unheard-of", {"effort": "high"}, "--effort high"),
        ("responses", "responses/gpt-5.2", {"temperature": 0.5, "effort": "low"}, "not both"),
        ("responses", "responses/gpt-6.1-sol", {"temperature": 0.5}, "--temperature"),
        ("openai", "openai/unheard-of", {"effort": "high"}, "--effort high"),
    ],
)
async def test_what_a_model_cannot_do_is_an_error_before_anything_is_sent(
    family: str, name: str, fields: dict[str, Any], words: str
):
    async with serving(family, Say("Hi."), name=name) as (service, model):
        with pytest.raises(ConfigError, match=words):
            await answer_of(model, **fields)
    assert service.requests == []


async def test_what_repeats_its_input_takes_no_effort_either():
    registry = Registry({})
    model = registry.open("echo")
    with pytest.raises(ConfigError, match="does not take --effort high"):
        await answer_of(model, effort="high")
    assert (await answer_of(model)).parts
    await registry.close()


async def test_the_key_goes_where_it_belongs():
    async with serving("anthropic", Say("Hi.")) as (service, model):
        await answer_of(model)
    assert service.requests[0].headers["x-api-key"] == "key-a"
    assert service.requests[0].headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in service.requests[0].headers
    async with serving("openai", Say("Hi.")) as (service, model):
        await answer_of(model)
    assert service.requests[0].headers["authorization"] == "Bearer key-o"
    assert service.requests[0].path == "/v1/chat/completions"
    assert service.requests[0].body["stream_options"] == {"include_usage": True}
    async with serving("gemini", Say("Hi.")) as (service, model):
        await answer_of(model)
    assert service.requests[0].headers["x-goog-api-key"] == "key-g"
    assert service.requests[0].path == "/v1beta/models/gemini-3.7-flash:streamGenerateContent?alt=sse"
    async with serving("responses", Say("Hi.")) as (service, model):
        await answer_of(model)
    assert service.requests[0].headers["authorization"] == "Bearer key-o"
    assert service.requests[0].path == "/v1/responses"

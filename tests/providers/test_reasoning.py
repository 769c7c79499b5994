from __future__ import annotations

import json
from typing import Any

import pytest

from agent_cli.kernel.events import ReasoningDelta
from agent_cli.kernel.messages import Message, Opaque, Reasoning, Text, ToolCall
from agent_cli.providers.anthropic import encode
from agent_cli.providers.catalog import card
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.pile import parsed
from tests.fakes import responses_wire
from tests.fakes.gemini_wire import sign
from tests.fakes.http_server import Received, Say
from tests.providers.families import (
    READ,
    answer_of,
    asking,
    conversation,
    every,
    pieces_of,
    result,
    said,
    serving,
)

CALLS = (("read_file", '{"path":"a"}'),)


@every
async def test_reasoning_comes_in_pieces_and_as_a_part(family: str):
    async with serving(family, Say("So.", thinking="Let me think about it, überlegt.")) as (_, model):
        pieces = await pieces_of(model, asking(model))
    assert (
        "".join(p.text for p in pieces if isinstance(p, ReasoningDelta)) == "Let me think about it, überlegt."
    )
    thought = pieces[-1].parts[0]
    assert isinstance(thought, Reasoning)
    assert (thought.text, thought.provider, thought.model) == (
        "Let me think about it, überlegt.",
        family,
        model.card.id,
    )
    assert pieces[-1].parts[1] == Text("So.")


@every
async def test_it_goes_back_exactly_within_a_tool_loop(family: str):
    replies = (Say("One.", thinking="Hm, ja.", redacted="c2VjcmV0", calls=CALLS), Say("Done."))
    async with serving(family, *replies) as (service, model):
        first = await answer_of(model)
        call_id = next(part.call_id for part in first.parts if isinstance(part, ToolCall))
        back = Message("user", (result(call_id),))
        await answer_of(model, said("Hello?"), Message("assistant", first.parts), back)
    sent = next(m for m in conversation(service.requests[1].body) if m.get("role") in ("assistant", "model"))
    if family == "gemini":  # what it thought stays with the service; the signature goes back where it stood
        assert [part.keys() for part in sent["parts"]] == [{"text"}, {"functionCall", "thoughtSignature"}]
        assert sent["parts"][1]["thoughtSignature"] == sign("Hm, ja.")
    elif family == "responses":
        made = [item for item in service.requests[1].body["input"] if item["type"] != "function_call_output"]
        assert [item["type"] for item in made[1:]] == ["reasoning", "message", "function_call"]
        assert made[1:] == events_of(service.requests[0], replies[0])
    elif family == "anthropic":
        assert sent["content"][:2] == [
            {"type": "thinking", "thinking": "Hm, ja.", "signature": "signed:Hm, ja."},
            {"type": "redacted_thinking", "data": "c2VjcmV0"},
        ]
    else:
        assert sent["reasoning_content"] == "Hm, ja."


@every
@pytest.mark.parametrize(
    "stranger",
    [
        Reasoning("Hm.", "somebody", "claude-opus-5", "sig"),
        Reasoning("Hm.", "anthropic", "claude-sonnet-5", "sig"),
        Reasoning("Hm.", "openai", "gpt-5.2", opaque={"field": "reasoning_content"}),
        Reasoning("cut off", "anthropic", "claude-opus-5"),
        Reasoning(
            "Hm.",
            "responses",
            "gpt-5.1",
            opaque={"type": "reasoning", "id": "rs_1", "encrypted_content": "x"},
        ),
        Reasoning("Hm.", "responses", "gpt-5.2", opaque={"field": "reasoning_content"}),
        Reasoning("Hm.", "gemini", "gemini-3.7-flash"),
        Opaque("somebody", {"type": "thought"}),
    ],
)
async def test_what_others_thought_is_left_out_and_the_rest_goes(family: str, stranger: object):
    messages = (said("Go."), Message("assistant", (stranger, Text("Kept."))), said("On."))
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, *messages)
    sent = [
        m
        for m in conversation(service.requests[0].body)
        if m.get("role") != "user" and m.get("role") != "system"
    ]
    assert len(sent) == 1
    assert "Kept." in str(sent)
    assert "Hm." not in str(sent)
    assert "thought" not in str(sent)


@every
async def test_an_answer_of_thinking_alone_leaves_no_message(family: str):
    thought = Reasoning("Hm.", "anthropic", "claude-opus-5", "sig")
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, said("Go."), Message("assistant", (thought,)), said("On."))
    roles = [m["role"] for m in conversation(service.requests[0].body) if m["role"] != "system"]
    assert set(roles) == {"user"}


async def test_thinking_that_is_not_shown_keeps_its_signature():
    events = Say("So.", thinking="Hm.", leave_out=("thinking_delta",))
    async with serving("anthropic", events) as (_, model):
        parts = (await answer_of(model)).parts
    assert parts[0] == Reasoning("", "anthropic", "claude-opus-5", "signed:Hm.")


async def test_blocks_that_nobody_knows_go_back_as_they_came():
    block = {"type": "compaction", "content": "short"}
    messages = (said("Go."), Message("assistant", (Opaque("anthropic", block), Text("So."))), said("On."))
    async with serving("anthropic", Say("Hi.")) as (service, model):
        await answer_of(model, *messages)
    assert service.requests[0].body["messages"][1]["content"][0] == block


def events_of(request: Received, reply: Say) -> list[dict[str, Any]]:
    """The items that the fake service made for this request."""
    last = list(responses_wire.events(reply, request))[-1]
    return json.loads(last.partition("data: ")[2])["response"]["output"]


def thinking_of(name: str, *messages: Message, **fields: object) -> dict[str, object]:
    found = card(name)
    assert found is not None
    opened = type("Opened", (), {"card": found})()
    body = parsed(json_bytes(encode(asking(opened, *messages, **fields), found)))
    return {key: body[key] for key in ("thinking", "output_config") if key in body}


def test_each_model_is_asked_to_think_in_its_own_way():
    shown = {"type": "adaptive", "display": "summarized"}
    assert thinking_of("claude-opus-5") == {"thinking": shown}
    assert thinking_of("claude-opus-5", effort="high") == {
        "thinking": shown,
        "output_config": {"effort": "high"},
    }
    assert thinking_of("claude-opus-4-6", effort="low") == {
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "low"},
    }
    assert thinking_of("claude-haiku-4-5") == {}
    assert thinking_of("claude-haiku-4-5", effort="low") == {
        "thinking": {"type": "enabled", "budget_tokens": 4096}
    }
    assert thinking_of("claude-haiku-4-5", effort="high", max_output=3000) == {
        "thinking": {"type": "enabled", "budget_tokens": 1976}
    }
    assert thinking_of("claude-haiku-4-5", effort="high", max_output=2000) == {}
    bound = thinking_of("claude-sonnet-5-5")["thinking"]
    assert bound == {**shown, "block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def test_a_tool_loop_that_began_without_thinking_goes_on_without():
    call = ToolCall("c1", "read_file", {"path": "a"}, '{"path":"a"}')
    thought = Reasoning("Hm.", "anthropic", "claude-haiku-4-5", "sig")
    back = Message("user", (result("c1"),))
    begun = (said("Go."), Message("assistant", (call,)), back)
    assert thinking_of("claude-haiku-4-5", *begun, effort="high", tools=(READ,)) == {}
    begun = (said("Go."), Message("assistant", (thought, call)), back)
    assert "thinking" in thinking_of("claude-haiku-4-5", *begun, effort="high", tools=(READ,))


async def test_bound_thinking_says_so_in_a_header():
    async with serving("anthropic", Say("Hi."), name="claude-opus-5-5") as (service, model):
        await answer_of(model)
    assert service.requests[0].headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"

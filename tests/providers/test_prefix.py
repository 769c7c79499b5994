"""What makes a prompt cacheable: its beginning stays the same bytes, and the marks stand at its end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.kernel.messages import Message, Prompt, Reasoning, Text, ToolCall, ToolResult
from agent_cli.kernel.usage import ModelCard
from agent_cli.providers import anthropic, gemini, openai, responses
from agent_cli.providers.dial import dialect_of
from agent_cli.providers.memo import Memo, Memos, json_bytes
from agent_cli.providers.registry import Endpoint, Registry
from tests.fakes.http_server import FakeService, Say
from tests.providers.families import (
    READ,
    STATUS,
    answer_of,
    answered,
    call,
    conversation,
    every,
    result,
    said,
)

CARD = ModelCard(id="claude-opus-5", provider="anthropic", thinking="adaptive", sampling=False, images=True)
ROOMS: dict[str, Any] = {
    "anthropic": anthropic,
    "openai": openai,
    "gemini": gemini,
    "responses": responses,
}


def prompt(messages: tuple[Message, ...], **fields: Any) -> Prompt:
    more: dict[str, Any] = {"tools": (READ,), "system": ("One.", "Two."), "status": STATUS, **fields}
    return Prompt(model="claude-opus-5", messages=messages, **more)


def loop(steps: int, calls: int = 1) -> tuple[Message, ...]:
    messages = [said("Go.")]
    for step in range(steps):
        ids = [f"c{step}_{n}" for n in range(calls)]
        messages.append(answered(Text(f"Step {step}."), *(call(one) for one in ids)))
        messages.append(Message("user", tuple(result(one, f"result of {one}") for one in ids)))
    return tuple(messages)


def sent(family: str, messages: tuple[Message, ...], memo: Any = None, **fields: Any) -> bytes:
    return json_bytes(ROOMS[family].encode(prompt(messages, **fields), CARD, memo=memo))


@every
def test_the_prefix_stays_the_same_bytes_up_to_what_is_new(family: str):
    before, after = sent(family, loop(3), status=None), sent(family, loop(4), status="[status: later]")
    if family == "anthropic":
        mark = b',"cache_control":{"type":"ephemeral"}'
        before, after = before.replace(mark, b""), after.replace(mark, b"")
    assert after.startswith(before[: before.rindex(b"result of c2_0") + len("result of c2_0")])


@every
def test_the_status_is_the_last_text_and_nowhere_else(family: str):
    body = json.loads(sent(family, loop(2)))
    last = conversation(body)[-1]
    assert json.dumps(body).count(STATUS) == 1
    if family == "gemini":
        assert last["parts"][-1] == {"text": STATUS}
        assert "functionResponse" in last["parts"][-2]
    elif family == "responses":
        assert last["type"] == "function_call_output"
        assert last["output"] == f"result of c1_0\n\n{STATUS}"
    elif family == "anthropic":
        assert last["content"][-1] == {"type": "text", "text": STATUS}
        assert last["content"][-2]["type"] == "tool_result"
    else:
        assert last["role"] == "tool"
        assert last["content"] == f"result of c1_0\n\n{STATUS}"


@every
def test_without_messages_or_after_an_answer_the_status_has_a_message_of_its_own(family: str):
    for messages in ((), (said("Go."), answered(Text("So.")))):
        body = json.loads(sent(family, messages))
        told = conversation(body)
        assert told[-1]["role"] == "user"
        assert STATUS in str(told[-1])
        assert len(told) == len(messages) + (2 if family == "openai" else 1)


def marked(body: dict[str, Any]) -> list[tuple[str, int, int]]:
    found = [("tools", n, 0) for n, tool in enumerate(body["tools"]) if "cache_control" in tool]
    found += [("system", n, 0) for n, block in enumerate(body["system"]) if "cache_control" in block]
    return found + [
        ("messages", at, place)
        for at, message in enumerate(body["messages"])
        for place, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def test_breakpoints_stand_on_the_last_tool_system_block_and_two_durable_blocks():
    body = json.loads(sent("anthropic", loop(2)))
    assert marked(body) == [("tools", 0, 0), ("system", 1, 0), ("messages", 3, 1), ("messages", 4, 0)]
    assert body["messages"][4]["content"][0]["cache_control"] == {"type": "ephemeral"}
    long = json.loads(json_bytes(anthropic.encode(prompt(loop(1)), CARD, ttl="1h")))
    assert long["tools"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert {str(block["cache_control"]) for block in (long["tools"][0], long["system"][1])} == {
        "{'type': 'ephemeral', 'ttl': '1h'}"
    }


def test_breakpoints_never_stand_on_thinking_or_on_an_empty_result():
    thought = Reasoning("Hm.", "anthropic", "claude-opus-5", "sig")
    nothing = ToolResult("c1", "read_file", (Text(""),))
    messages = (said("Go."), answered(thought, call("c1")), Message("user", (nothing,)))
    body = json.loads(sent("anthropic", messages))
    assert body["messages"][2]["content"][0] == {"type": "tool_result", "tool_use_id": "c1"}
    assert marked(body)[2:] == [("messages", 0, 0), ("messages", 1, 1)]


def test_after_a_large_batch_a_breakpoint_stays_where_the_last_request_had_one():
    before, after = loop(1), (*loop(1), *loop(2, calls=12)[3:])
    assert marked(json.loads(sent("anthropic", before)))[-1] == ("messages", 2, 0)
    assert marked(json.loads(sent("anthropic", after)))[2:] == [("messages", 2, 0), ("messages", 4, 11)]


def test_after_a_batch_that_the_service_looks_back_over_the_last_two_blocks_are_marked():
    after = (*loop(1), *loop(2, calls=8)[3:])
    body = json.loads(sent("anthropic", after))
    assert len(body["messages"][3]["content"]) + len(body["messages"][4]["content"]) <= 19
    assert marked(body)[2:] == [("messages", 4, 6), ("messages", 4, 7)]


def test_the_first_request_marks_what_there_is():
    assert marked(json.loads(sent("anthropic", loop(0))))[2:] == [("messages", 0, 0)]


@every
def test_a_memo_changes_nothing_but_the_work(family: str):
    memo: Memo[Any] = Memo()
    messages = loop(6)
    for count in range(1, len(messages) + 1, 2):
        assert sent(family, messages[:count], memo) == sent(family, messages[:count])
    assert sent(family, messages[:3], memo) == sent(family, messages[:3]), "a rewind"
    assert sent(family, loop(6)[2:], memo) == sent(family, loop(6)[2:]), "a reduction"


CALL = ToolCall("c1", "read_file", {"path": "a"}, '{"path":"a"}')
PIECES = [
    said("One."),
    said("Two."),
    said(""),
    answered(Text("A.")),
    answered(Text("B.")),
    answered(Reasoning("Hm.", "other", "m")),
    answered(Text("C."), CALL),
    Message("user", (result("c1"),)),
    Message("user", (Text("Late."), result("c1"))),
]


@every
@given(data=st.data())
def test_whatever_is_cut_merged_or_dropped_the_memo_gives_the_same_bytes(family: str, data: st.DataObject):
    memo: Memo[Any] = Memo()
    history: list[Message] = []
    for _ in range(data.draw(st.integers(1, 6))):
        del history[data.draw(st.integers(0, len(history))) :]
        history += data.draw(st.lists(st.sampled_from(PIECES), max_size=4))
        assert sent(family, tuple(history), memo) == sent(family, tuple(history))


@every
def test_building_the_next_request_encodes_only_what_is_new(family: str, monkeypatch: pytest.MonkeyPatch):
    room = ROOMS[family]
    encoded: list[object] = []

    def counting(value: object) -> bytes:
        encoded.append(value)
        return json_bytes(value)

    monkeypatch.setattr(room, "json_bytes", counting)
    memo: Memo[Any] = Memo()
    messages = loop(200)
    room.encode(prompt(messages[:-2]), CARD, memo=memo)
    assert len(encoded) >= 398
    encoded.clear()
    room.encode(prompt(messages), CARD, memo=memo)
    assert len(encoded) <= 8


def test_each_conversation_has_a_memo_and_the_oldest_go():
    memos: Memos[Any] = Memos()
    first = memos.of("a")
    assert memos.of("a") is first
    for n in range(8):
        memos.of(str(n))
    assert memos.of("a") is not first


async def test_the_session_of_a_router_is_the_same_for_a_run_and_another_one_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
):
    async with FakeService([Say("Hi.") for _ in range(4)]) as service:
        here = Endpoint(f"{service.url}/v1", "OPENROUTER_API_KEY")
        registry = Registry({"OPENROUTER_API_KEY": "k"}, endpoints={"openrouter": here})
        model = registry.open("openrouter/openai/gpt-4.1")
        for session in ("s1", "s1", "s1:sub:2"):
            await answer_of(model, session=session)
        monkeypatch.setattr(openai, "RUN", "another")
        await answer_of(model, session="s1")
        await registry.close()
    first, again, other, later = (request.headers["x-session-id"] for request in service.requests)
    assert first == again
    assert len({first, other, later}) == 3


@pytest.mark.parametrize(
    ("name", "url", "dialect"),
    [
        ("openrouter", "https://openrouter.ai/api/v1/chat/completions", "openrouter"),
        ("mine", "https://eu.openrouter.ai/api/v1/chat/completions", "openrouter"),
        ("openrouter", "http://localhost:1/v1/chat/completions", "openrouter"),
        ("mine", "https://gateway.example/openrouter/v1/chat/completions", "compatible"),
        ("mine", "https://openrouter.ai.example/v1/chat/completions", "compatible"),
        ("openai", "https://api.openai.com/v1/chat/completions", "openai"),
    ],
)
def test_a_router_is_known_by_its_host(name: str, url: str, dialect: str):
    assert dialect_of(name, url) == dialect


@pytest.mark.parametrize(("slug", "wanted"), [("anthropic/claude-sonnet-5", True), ("openai/gpt-4.1", False)])
async def test_a_router_gets_the_session_and_marks_for_the_family_that_wants_them(slug: str, wanted: bool):
    async with FakeService([Say("Hi.")]) as service:
        here = Endpoint(f"{service.url}/openrouter/v1", "OPENROUTER_API_KEY")
        registry = Registry({"OPENROUTER_API_KEY": "k"}, endpoints={"openrouter": here})
        await answer_of(registry.open(f"openrouter/{slug}"), *loop(2), session="s" * 300)
        await registry.close()
    assert service.violations == []
    request = service.requests[0]
    assert request.headers["x-session-id"] == f"{openai.RUN}:{'s' * 300}"[:256]
    assert request.body["model"] == slug
    assert ("cache_control" in request.body) is wanted
    last = request.body["messages"][-1]["content"]
    assert isinstance(last, list) is wanted
    if wanted:
        assert last[0]["cache_control"] == {"type": "ephemeral"}
        assert last[1] == {"type": "text", "text": STATUS}

"""Parts of Gemini and items of Responses go back as they came, and what cannot be read again is left out."""

from __future__ import annotations

from typing import Any

import pytest

from agent_cli.kernel.errors import RequestRefused
from agent_cli.kernel.events import Finished
from agent_cli.kernel.messages import Message, Opaque, Prompt, Reasoning, Text, ToolCall, calls_of, text_of
from agent_cli.kernel.usage import ModelCard
from agent_cli.providers import gemini, responses
from agent_cli.providers.gemini_stream import GenerateDecoder
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.pile import parsed
from agent_cli.providers.responses_stream import ResponsesDecoder
from tests.fakes.gemini_wire import sign
from tests.fakes.http_server import Raw, Say
from tests.providers.families import answer_of, answered, call, conversation, every, result, said, serving

GEMINI = ModelCard(id="gemini-3.7-flash", provider="gemini", thinking="level")
OPENAI = ModelCard(id="gpt-5.2", provider="openai", thinking="reasoning")
Json = dict[str, Any]


# ── Gemini ───────────────────────────────────────────────────────────────────────────────────────────────


def heard(*chunks: list[Json], finish: str = "STOP") -> Finished:
    decoder = GenerateDecoder("gemini", GEMINI)
    for parts in chunks:
        decoder.feed({"candidates": [{"content": {"role": "model", "parts": parts}}]})
    decoder.feed({"candidates": [{"finishReason": finish}]})
    finished = decoder.finished()
    assert finished is not None
    return finished


def parts_back(finished: Finished, **options: Any) -> list[Json]:
    """What is sent of an answer with the next request."""
    results = tuple(result(one.call_id, name=one.name) for one in calls_of(finished.parts))
    history = (said("Go."), Message("assistant", finished.parts), Message("user", results or (Text("On."),)))
    body = parsed(json_bytes(gemini.encode(Prompt(GEMINI.id, (), (), history), GEMINI, **options)))
    return next(content["parts"] for content in body["contents"] if content["role"] == "model")


CALL: Json = {"functionCall": {"id": "c1", "name": "grep", "args": {"path": "a"}}, "thoughtSignature": "s1"}
SECOND: Json = {"functionCall": {"id": "c2", "name": "grep", "args": {}}}


@pytest.mark.parametrize(
    ("chunks", "back"),
    [
        ([[CALL, SECOND]], [CALL, SECOND]),
        (
            [[{"text": "A"}], [{"text": "b"}], [{"text": "", "thoughtSignature": "s"}]],
            [{"text": "Ab"}, {"text": "", "thoughtSignature": "s"}],
        ),
        (
            [[{"text": "A"}], [{"text": "b", "thoughtSignature": "s"}], [{"text": "c"}]],
            [{"text": "A"}, {"text": "b", "thoughtSignature": "s"}, {"text": "c"}],
        ),
        (
            [[{"text": "A"}], [{"text": " ", "thoughtSignature": "s"}], [CALL]],
            [{"text": "A"}, {"text": " ", "thoughtSignature": "s"}, CALL],
        ),
        (
            [[{"text": "Hm", "thought": True}], [{"text": "", "thought": True, "thoughtSignature": "s"}]],
            [{"text": "", "thought": True, "thoughtSignature": "s"}],
        ),
        (
            [[{"text": "Hm", "thought": True, "thoughtSignature": "s"}, {"text": "A"}]],
            [{"text": "Hm", "thought": True, "thoughtSignature": "s"}, {"text": "A"}],
        ),
        ([[{"text": "Hm", "thought": True}, {"text": "A"}, {"text": ""}]], [{"text": "A"}]),
        (
            [[{"text": "A"}, {"thoughtSignature": "s"}]],
            [{"text": "A"}, {"text": "", "thoughtSignature": "s"}],
        ),
        (
            [[{"executableCode": {"code": "1"}, "thoughtSignature": "s"}], [{"text": "A"}]],
            [{"executableCode": {"code": "1"}, "thoughtSignature": "s"}, {"text": "A"}],
        ),
    ],
)
def test_each_signature_goes_back_on_the_part_it_came_with(chunks: list[list[Json]], back: list[Json]):
    finished = heard(*chunks)
    assert parts_back(finished) == back
    shown = "".join(part.get("text", "") for part in back if "thought" not in part)
    assert text_of(finished.parts) == shown.strip()


def test_without_its_signature_a_part_is_what_it_says():
    finished = heard(
        [{"text": "A", "thoughtSignature": "s"}], [{"text": "", "thoughtSignature": "t"}], [CALL]
    )
    unsigned = {**CALL, "thoughtSignature": gemini.UNSIGNED}
    assert parts_back(finished, unreadable={"s", "t", "s1"}) == [{"text": "A"}, unsigned]
    assert parts_back(finished, unreadable={"t"}) == [{"text": "A", "thoughtSignature": "s"}, CALL]


async def test_a_signature_that_the_service_cannot_read_does_not_stop_the_session():
    corrupted = Raw(400, {"error": {"code": 400, "message": "Corrupted thought signature."}})
    old = ToolCall("c1", "grep", {}, "{}", {"thoughtSignature": sign("of another key")})
    before = (said("Go."), answered(old), Message("user", (result("c1", name="grep"),)))
    fresh = Say("New.", calls=(("grep", "{}"),))
    async with serving("gemini", corrupted, fresh, Say("Done.")) as (service, model):
        first = await answer_of(model, *before)
        made = calls_of(first.parts)[0]
        after = (answered(*first.parts), Message("user", (result(made.call_id, name="grep"),)))
        last = await answer_of(model, *before, *after)
    assert text_of(last.parts) == "Done."
    assert len(service.requests) == 3
    assert service.requests[0].raw.count(sign("of another key").encode()) == 1
    assert sign("of another key").encode() not in service.requests[1].raw + service.requests[2].raw
    assert sign("New.").encode() in service.requests[2].raw, "what it can read still goes back"


# ── Responses ────────────────────────────────────────────────────────────────────────────────────────────


def items_back(*items: Json, card: ModelCard = OPENAI, **options: Any) -> list[Json]:
    """What is sent with the next request of an answer that had these items."""
    decoder = ResponsesDecoder("openai", OPENAI)
    for at, item in enumerate(items):
        decoder.feed({"type": "response.output_item.done", "output_index": at, "item": item})
    decoder.feed({"type": "response.completed", "response": {"status": "completed"}})
    finished = decoder.finished()
    assert finished is not None
    results = tuple(result(one.call_id, name=one.name) for one in calls_of(finished.parts))
    history = (said("Go."), Message("assistant", finished.parts), Message("user", results or (Text("On."),)))
    body = parsed(json_bytes(responses.encode(Prompt(card.id, (), (), history), card, **options)))
    return [item for item in body["input"] if item.get("role") != "user" and "output" not in item]


THOUGHT: Json = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "content": [],
    "encrypted_content": "sealed",
}
SAID: Json = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
    "content": [
        {"type": "output_text", "text": "One.", "annotations": [{"type": "url_citation"}], "logprobs": []},
        {"type": "output_text", "text": " ", "annotations": []},
        {"type": "refusal", "refusal": "Two."},
    ],
}  # fmt: skip
ASKED: Json = {
    "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "grep", "arguments": '{ "path" : "ä" }',
    "status": "completed", "namespace": "n",
}  # fmt: skip
SEARCHED: Json = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "x"}}


def test_items_go_back_exactly():
    items = (THOUGHT, SAID, ASKED, SEARCHED, {**SAID, "id": "msg_2", "content": []})
    assert items_back(*items) == list(items)


def test_reasoning_that_nothing_follows_is_left_out():
    assert items_back(ASKED, THOUGHT) == [ASKED]
    assert items_back(THOUGHT) == []


def test_another_model_gets_what_was_said():
    back = items_back(THOUGHT, SAID, ASKED, SEARCHED, card=ModelCard(id="gpt-5.1", provider="openai"))
    texts = [{"type": "output_text", "text": "One."}, {"type": "output_text", "text": "Two."}]
    assert back == [
        {"type": "message", "role": "assistant", "content": texts},
        {key: ASKED[key] for key in ("type", "call_id", "name", "arguments")},
    ]


def test_a_message_that_lost_a_text_is_told_in_words():
    marker = {"model": OPENAI.id, "item": {**SAID, "content": [{"type": "output_text"}, {"type": "refusal"}]}}
    history = (said("Go."), answered(Text("Left."), Opaque("openai", marker)), said("On."))
    sent = parsed(json_bytes(responses.encode(Prompt(OPENAI.id, (), (), history), OPENAI)["input"]))
    assert sent[1] == {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Left."}],
    }


@pytest.mark.parametrize(
    "item",
    [
        "odd",
        1,
        None,
        [],
        {"type": "message", "content": "odd"},
        {"type": "message", "content": ["odd", {"type": []}]},
    ],
)
def test_what_damage_left_of_an_item_is_not_sent(item):
    history = (
        said("Go."),
        answered(Text("Left."), Opaque("openai", {"model": OPENAI.id, "item": item})),
        said("On."),
    )
    sent = parsed(json_bytes(responses.encode(Prompt(OPENAI.id, (), (), history), OPENAI)["input"]))
    assert "Left." in str(sent)
    assert "odd" not in str(sent)


async def test_reasoning_that_the_service_cannot_read_does_not_stop_the_session():
    words = "The encrypted content for item rs_0 could not be verified."
    refused = Raw(400, {"error": {"code": "invalid_encrypted_content", "message": words}})
    old = Reasoning(
        "Hm.",
        "responses",
        "gpt-5.2",
        opaque={**THOUGHT, "id": "rs_0", "encrypted_content": "sealed:rs_0:old"},
    )
    before = (said("Go."), answered(old, call("c0")), Message("user", (result("c0"),)))
    fresh = Say("New.", thinking="So.", calls=(("grep", "{}"),))
    async with serving("responses", refused, fresh, Say("Done.")) as (service, model):
        first = await answer_of(model, *before)
        made = calls_of(first.parts)[0]
        after = (answered(*first.parts), Message("user", (result(made.call_id, name="grep"),)))
        last = await answer_of(model, *before, *after)
    assert text_of(last.parts) == "Done."
    kinds = [
        [item["id"] for item in request.body["input"] if item["type"] == "reasoning"]
        for request in service.requests
    ]
    assert kinds == [["rs_0"], [], ["rs_3"]]


async def test_organisations_without_summaries_do_without():
    words = "Your organization must be verified to generate reasoning summaries."
    refused = Raw(
        400, {"error": {"code": "unsupported_value", "param": "reasoning.summary", "message": words}}
    )
    async with serving("responses", refused, Say("Hi.")) as (service, model):
        await answer_of(model, effort="low")
        await answer_of(model)
    asked = [request.body.get("reasoning") for request in service.requests]
    assert asked == [{"effort": "low", "summary": "auto"}, {"effort": "low"}, None]


@pytest.mark.parametrize("family", ["gemini", "responses"])
@pytest.mark.parametrize(
    "words", ["Corrupted thought signature.", "The encrypted content is bad.", "Bad field."]
)
async def test_a_refusal_with_nothing_to_leave_out_is_one(family: str, words: str):
    async with serving(family, Raw(400, {"error": {"message": words}})) as (service, model):
        with pytest.raises(RequestRefused, match=words):
            await answer_of(model)
    assert len(service.requests) == 1


async def test_an_answer_that_has_begun_is_not_sent_for_again():
    refusal = {"error": {"code": 400, "message": "Corrupted thought signature."}}
    old = ToolCall("c1", "grep", {}, "{}", {"thoughtSignature": sign("of another key")})
    before = (said("Go."), answered(old), Message("user", (result("c1", name="grep"),)))
    async with serving("gemini", Say("Hello there.", size=2, fail=(3, refusal))) as (service, model):
        with pytest.raises(RequestRefused):
            await answer_of(model, *before)
    assert len(service.requests) == 1


@pytest.mark.parametrize("family", ["anthropic", "gemini", "responses"])
async def test_what_a_service_refuses_of_its_own_is_left_out_whatever_it_says(family: str):
    refused = Raw(400, {"error": {"type": "invalid_request_error", "message": "`x` in block 3 is not valid"}})
    opening = Say("Let me see.", thinking="Where?", redacted="sealed", calls=(("read_file", '{"path":"a"}'),))
    async with serving(family, opening, refused, Say("There."), Say("More.")) as (service, model):
        first = await answer_of(model)
        one = calls_of(first.parts)[0]
        history = (said("Go."), Message("assistant", first.parts), Message("user", (result(one.call_id),)))
        again = await answer_of(model, *history)
        assert text_of(again.parts) == "There."
        assert len(service.requests) == 3
        more = (*history, Message("assistant", again.parts), said("On."))
        assert text_of((await answer_of(model, *more)).parts) == "More."
        assert len(service.requests) == 4, "it is not sent again"
        before, after = (conversation(service.requests[at].body) for at in (1, 2))
        assert after != before
        assert "read_file" in str(after)


@every
async def test_a_refusal_of_something_else_is_told_after_one_more_try(family: str):
    refused = Raw(400, {"error": {"message": "no such thing"}})
    async with serving(family, Say("Hi.", thinking="Hm."), refused) as (service, model):
        first = await answer_of(model)
        with pytest.raises(RequestRefused, match="no such thing"):
            await answer_of(model, said("Go."), Message("assistant", first.parts), said("On."))
        assert len(service.requests) <= 3

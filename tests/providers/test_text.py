from __future__ import annotations

import json

import pytest

from agent_cli.kernel.events import Finished, TextDelta, UsageSoFar
from agent_cli.kernel.messages import Message, Text, calls_of, text_of
from tests.fakes.http_server import Raw, Say
from tests.providers.families import (
    STATUS,
    answer_of,
    answered,
    asking,
    conversation,
    every,
    pieces_of,
    said,
    serving,
)


@every
async def test_text_comes_in_pieces_and_whole_at_the_end(family: str):
    text = "Grüße aus München, 你好 🙂 and so on."
    async with serving(family, Say(text)) as (service, model):
        pieces = await pieces_of(model, asking(model))
    deltas = [piece.text for piece in pieces if isinstance(piece, TextDelta)]
    assert len(deltas) > 3
    assert "".join(deltas) == text
    finished = pieces[-1]
    assert text_of(finished.parts) == text
    assert [part for part in finished.parts if isinstance(part, Text)] == [Text(text)]
    assert (finished.finish_reason, finished.model) == ("stop", model.card.id)
    assert finished.response_id
    assert any(isinstance(piece, UsageSoFar) for piece in pieces)
    assert service.requests[0].body.get("stream", "streamGenerateContent" in service.requests[0].path) is True


@every
async def test_text_that_is_torn_inside_a_character_arrives_whole(family: str):
    text = "äöü€🙂" * 20
    async with serving(family, Say(text, size=1, tear=True)) as (_, model):
        assert text_of((await answer_of(model)).parts) == text


@pytest.mark.parametrize(
    ("family", "native", "reason"),
    [
        ("anthropic", "end_turn", "stop"),
        ("anthropic", "stop_sequence", "stop"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "refusal", "refusal"),
        ("anthropic", "pause_turn", "pause"),
        ("anthropic", "model_context_window_exceeded", "context"),
        ("anthropic", "something_new", "other"),
        ("openai", "stop", "stop"),
        ("openai", "length", "length"),
        ("openai", "content_filter", "safety"),
        ("openai", "model_context_window_exceeded", "context"),
        ("openai", "something_new", "other"),
        ("gemini", "STOP", "stop"),
        ("gemini", "MAX_TOKENS", "length"),
        ("gemini", "SAFETY", "safety"),
        ("gemini", "RECITATION", "safety"),
        ("gemini", "PROHIBITED_CONTENT", "safety"),
        ("gemini", "CONTINUATION", "pause"),
        ("gemini", "MALFORMED_FUNCTION_CALL", "other"),
        ("gemini", "SOMETHING_NEW", "other"),
        ("responses", "completed", "stop"),
        ("responses", "max_output_tokens", "length"),
        ("responses", "content_filter", "safety"),
    ],
)
async def test_why_it_stopped_is_told_in_our_words_and_in_theirs(family: str, native: str, reason: str):
    async with serving(family, Say("Well.", finish=native)) as (_, model):
        finished = await answer_of(model)
    assert (finished.finish_reason, finished.native_reason) == (reason, native)


@every
async def test_a_snapshot_that_answers_is_the_model_that_was_asked(family: str):
    snapshot = {
        "anthropic": "claude-opus-5-20260801",
        "openai": "gpt-4.1-2025-04-14",
        "gemini": "models/gemini-3.7-flash",
        "responses": "gpt-5.2-2025-12-11",
    }[family]
    async with serving(family, Say("Hi.", model=snapshot), Say("Hi.", model="other-model")) as (_, model):
        assert (await answer_of(model)).model == model.card.id
        assert (await answer_of(model)).model == "other-model"


@every
async def test_empty_and_blank_texts_are_not_sent(family: str):
    messages = (
        Message("user", (Text("Hello?"), Text(""), Text(" \n"))),
        answered(Text("Hm."), Text("")),
        said("Go on."),
    )
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, *messages, system=("", "Be brief.", " "), status="")
    sent = service.requests[0].raw.decode()
    assert '""' not in sent
    assert '" \\n"' not in sent
    assert STATUS not in sent


@every
async def test_messages_of_one_role_become_one(family: str):
    messages = (said("One."), said("Two."), answered(Text("A.")), answered(Text("B.")), said("Three."))
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, *messages)
    roles = [message["role"] for message in conversation(service.requests[0].body)]
    said_by = (
        ["user", "assistant", "user"]
        if family != "responses"
        else ["user", "user", "assistant", "assistant", "user"]
    )
    assert [{"model": "assistant"}.get(role, role) for role in roles if role != "system"] == said_by


@every
async def test_half_a_surrogate_pair_is_no_reason_to_fail(family: str):
    async with serving(family, Say("Hi.")) as (service, model):
        finished = await answer_of(model, said("odd \ud83d text"))
    assert isinstance(finished, Finished)
    assert "odd ? text" in service.requests[0].raw.decode()


@every
async def test_a_pair_that_is_split_over_two_pieces_is_joined(family: str):
    async with serving(family, Say("a\ud83d\ude42b", size=2, ascii=True)) as (_, model):
        pieces = await pieces_of(model, asking(model))
    assert [piece.text for piece in pieces if isinstance(piece, TextDelta)] == ["a", "🙂b"]
    assert text_of(pieces[-1].parts) == "a🙂b"


@every
async def test_half_a_pair_in_arguments_is_mended(family: str):
    async with serving(family, Say(calls=(("read_file", '{"path": "a\\ud83d"}'),), ascii=True)) as (_, model):
        (called,) = calls_of((await answer_of(model)).parts)
    assert called.arguments is not None
    assert called.arguments["path"].encode() in (b"a?", "a\ufffd".encode())


async def test_a_refusal_of_responses_is_shown_and_is_one():
    async with serving("responses", Say("I will not.", finish="refusal")) as (_, model):
        pieces = await pieces_of(model, asking(model))
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == "I will not."
    assert (pieces[-1].finish_reason, pieces[-1].native_reason) == ("refusal", "completed")
    assert text_of(pieces[-1].parts) == "I will not."


async def test_a_prompt_that_gemini_blocks_is_an_answer_without_a_word():
    event = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 9},
    }
    blocked = Raw(200, f"data: {json.dumps(event)}\n\n".encode(), {"content-type": "text/event-stream"})
    async with serving("gemini", blocked) as (_, model):
        finished = await answer_of(model)
    assert (finished.parts, finished.finish_reason, finished.native_reason) == (
        (),
        "safety",
        "PROHIBITED_CONTENT",
    )
    assert finished.usage.input == 9

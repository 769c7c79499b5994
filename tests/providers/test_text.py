from __future__ import annotations

import pytest

from agent_cli.kernel.events import Finished, TextDelta, UsageSoFar
from agent_cli.kernel.messages import Message, Text
from tests.fakes.http_server import Say
from tests.providers.families import STATUS, answer_of, answered, asking, both, pieces_of, said, serving


@both
async def test_text_comes_in_pieces_and_whole_at_the_end(family: str):
    text = "Grüße aus München, 你好 🙂 and so on."
    async with serving(family, Say(text)) as (service, model):
        pieces = await pieces_of(model, asking(model))
    deltas = [piece.text for piece in pieces if isinstance(piece, TextDelta)]
    assert len(deltas) > 3
    assert "".join(deltas) == text
    finished = pieces[-1]
    assert finished.parts == (Text(text),)
    assert (finished.finish_reason, finished.model) == ("stop", model.card.id)
    assert finished.response_id
    assert any(isinstance(piece, UsageSoFar) for piece in pieces)
    assert service.requests[0].body["stream"] is True


@both
async def test_text_that_is_torn_inside_a_character_arrives_whole(family: str):
    text = "äöü€🙂" * 20
    async with serving(family, Say(text, size=1, tear=True)) as (_, model):
        assert (await answer_of(model)).parts == (Text(text),)


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
    ],
)
async def test_why_it_stopped_is_told_in_our_words_and_in_theirs(family: str, native: str, reason: str):
    async with serving(family, Say("Well.", finish=native)) as (_, model):
        finished = await answer_of(model)
    assert (finished.finish_reason, finished.native_reason) == (reason, native)


@both
async def test_a_snapshot_that_answers_is_the_model_that_was_asked(family: str):
    snapshot = {"anthropic": "claude-opus-5-20260801", "openai": "gpt-4.1-2025-04-14"}[family]
    async with serving(family, Say("Hi.", model=snapshot), Say("Hi.", model="other-model")) as (_, model):
        assert (await answer_of(model)).model == model.card.id
        assert (await answer_of(model)).model == "other-model"


@both
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


@both
async def test_messages_of_one_role_become_one(family: str):
    messages = (said("One."), said("Two."), answered(Text("A.")), answered(Text("B.")), said("Three."))
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, *messages)
    roles = [message["role"] for message in service.requests[0].body["messages"]]
    assert [role for role in roles if role != "system"] == ["user", "assistant", "user"]


@both
async def test_half_a_surrogate_pair_is_no_reason_to_fail(family: str):
    async with serving(family, Say("Hi.")) as (service, model):
        finished = await answer_of(model, said("odd \ud83d text"))
    assert isinstance(finished, Finished)
    assert "odd ? text" in service.requests[0].raw.decode()


@both
async def test_a_pair_that_is_split_over_two_pieces_is_joined(family: str):
    async with serving(family, Say("a\ud83d\ude42b", size=2, ascii=True)) as (_, model):
        pieces = await pieces_of(model, asking(model))
    assert [piece.text for piece in pieces if isinstance(piece, TextDelta)] == ["a", "🙂b"]
    assert pieces[-1].parts == (Text("a🙂b"),)

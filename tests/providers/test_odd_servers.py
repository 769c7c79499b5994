"""What servers send that say they speak one of the APIs, and nearly do."""

from __future__ import annotations

from typing import Any

import pytest

from agent_cli.kernel.events import Finished, ReasoningDelta, TextDelta
from agent_cli.kernel.messages import Reasoning, Text, ToolCall
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.providers.anthropic_stream import MessagesDecoder
from agent_cli.providers.gemini_stream import GenerateDecoder
from agent_cli.providers.openai_stream import ChatDecoder
from agent_cli.providers.pile import arguments_of, parsed
from agent_cli.providers.responses_stream import ResponsesDecoder

CARD = ModelCard(id="m", provider="p")


def chat(*deltas: dict[str, Any], finish: str | None = "stop", **rest: Any) -> Finished:
    """What a decoder makes of chunks with these deltas."""
    decoder = ChatDecoder("p", CARD)
    for delta in deltas:
        decoder.feed({"choices": [{"delta": delta}], **rest})
    decoder.feed({"choices": [{"delta": {}, "finish_reason": finish}]})
    decoder.feed({"done": True})
    finished = decoder.finished()
    assert finished is not None
    return finished


def calls(*items: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": list(items)}


def made(finished: Finished) -> list[tuple[str, str, str]]:
    return [(part.call_id, part.name, part.raw) for part in finished.parts if isinstance(part, ToolCall)]


def test_a_missing_id_gets_one_of_our_own():
    finished = chat(calls({"index": 0, "function": {"name": "a", "arguments": "{}"}}))
    ((call_id, name, raw),) = made(finished)
    assert call_id.startswith("call_")
    assert (name, raw) == ("a", "{}")
    assert finished.finish_reason == "tool-calls"


def test_gaps_in_the_index():
    first = {"index": 3, "id": "x", "function": {"name": "a", "arguments": '{"n"'}}
    second = {"index": 7, "id": "y", "function": {"name": "b", "arguments": "{}"}}
    assert made(chat(calls(first), calls(second), calls({"index": 3, "function": {"arguments": ":1}"}}))) == [
        ("x", "a", '{"n":1}'),
        ("y", "b", "{}"),
    ]


def test_no_index_at_all():
    first = {"id": "x", "function": {"name": "a", "arguments": '{"n"'}}
    assert made(
        chat(
            calls(first),
            calls({"function": {"arguments": ":1}"}}),
            calls({"id": "y", "function": {"name": "b"}}),
        )
    ) == [("x", "a", '{"n":1}'), ("y", "b", "")]


def test_one_index_for_several_calls():
    first = {"index": 0, "id": "x", "function": {"name": "a", "arguments": "{}"}}
    second = {"index": 0, "id": "y", "function": {"name": "b", "arguments": "{}"}}
    assert made(chat(calls(first, second))) == [("x", "a", "{}"), ("y", "b", "{}")]


def test_the_name_in_every_delta_and_the_name_in_pieces():
    whole = [
        calls({"index": 0, "id": "x", "function": {"name": "grep", "arguments": raw}})
        for raw in ('{"n"', ":1}")
    ]
    assert made(chat(*whole)) == [("x", "grep", '{"n":1}')]
    torn = [calls({"index": 0, "id": "x", "function": {"name": name}}) for name in ("gr", "ep")]
    assert made(chat(*torn)) == [("x", "grep", "")]


def test_arguments_as_an_object():
    assert made(chat(calls({"index": 0, "id": "x", "function": {"name": "a", "arguments": {"n": 1}}}))) == [
        ("x", "a", '{"n":1}')
    ]


def test_nulls_everywhere():
    finished = chat(
        {"content": None, "tool_calls": None, "reasoning_content": None, "refusal": None},
        {"content": "Hi.", "function_call": None},
        calls({"index": None, "id": None, "function": None}),
        usage=None,
    )
    assert finished.parts[0] == Text("Hi.")


def test_chunks_that_are_none():
    decoder = ChatDecoder("p", CARD)
    for event in ({}, {"choices": None}, {"choices": []}, {"choices": ["x"]}, {"choices": [{}]}, {"note": 1}):
        assert list(decoder.feed(event)) == []
    assert decoder.finished() is None


def test_a_whole_message_instead_of_deltas():
    decoder = ChatDecoder("p", CARD)
    message = {"content": "Hi.", "tool_calls": [{"id": "x", "function": {"name": "a", "arguments": "{}"}}]}
    pieces = decoder.feed({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    assert pieces[0] == TextDelta("Hi.")
    finished = decoder.finished()
    assert finished is not None
    assert made(finished) == [("x", "a", "{}")]


def test_content_as_a_list_of_parts():
    assert chat({"content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "."}]}).parts == (
        Text("Hi."),
    )


def test_stop_with_calls_means_calls_and_a_refusal_is_one():
    finished = chat(calls({"index": 0, "id": "x", "function": {"name": "a"}}), finish="stop")
    assert finished.finish_reason == "tool-calls"
    refused = chat({"refusal": "I will not."})
    assert (refused.finish_reason, refused.parts) == ("refusal", (Text("I will not."),))


def test_done_without_a_reason():
    assert chat({"content": "Hi."}, finish=None).finish_reason == "stop"


def test_reasoning_under_either_name_and_once_where_both_come():
    for name in ("reasoning", "reasoning_content"):
        assert chat({name: "Hm."}).parts == (Reasoning("Hm.", "p", "m", opaque={"field": name}),)
    assert chat({"reasoning": "Hm.", "reasoning_content": "Hm."}).parts[0] == Reasoning(
        "Hm.", "p", "m", opaque={"field": "reasoning_content"}
    )


def test_signed_reasoning_of_a_router_adds_up_by_index():
    finished = chat(
        {"reasoning": "H", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "H"}]},
        {"reasoning": "m.", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "m."}]},
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "sig", "text": None}]},
    )
    thought = finished.parts[0]
    assert isinstance(thought, Reasoning)
    assert thought.text == "Hm."
    details = [{"type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "sig"}]
    assert thought.opaque == {"reasoning_details": details}


def messages(*events: dict[str, Any]) -> Finished:
    decoder = MessagesDecoder("anthropic", CARD)
    for event in (
        *events,
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ):
        decoder.feed(event)
    finished = decoder.finished()
    assert finished is not None
    return finished


def test_a_gateway_that_sends_arguments_whole():
    block = {"type": "tool_use", "id": "x", "name": "a", "input": {"n": 1}}
    finished = messages({"type": "content_block_start", "index": 0, "content_block": block})
    assert made(finished) == [("x", "a", '{"n":1}')]
    assert finished.finish_reason == "tool-calls"


def test_events_and_deltas_of_the_future():
    finished = messages(
        {"type": "content_block_annotation", "index": 0},
        {"type": "content_block_delta", "index": 9, "delta": {"type": "text_delta", "text": "lost"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "."}},
        {"type": "message_start", "message": None},
    )
    assert finished.parts == (Text("Hi."),)


def test_why_a_refusal_was_one():
    decoder = MessagesDecoder("anthropic", CARD)
    delta = {"stop_reason": "refusal", "stop_details": {"category": "cyber"}}
    decoder.feed({"type": "message_delta", "delta": delta})
    finished = decoder.finished()
    assert finished is not None
    assert (finished.finish_reason, finished.native_reason) == ("refusal", "refusal (cyber)")


def gemini(*events: dict[str, Any]) -> Finished | None:
    decoder = GenerateDecoder("gemini", CARD)
    for event in events:
        decoder.feed(event)
    return decoder.finished()


def candidate(*parts: Any, **rest: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, **rest}]}


def test_a_finish_reason_with_every_chunk():
    finished = gemini(*(candidate({"text": word}, finishReason="STOP") for word in ("Hi ", "there", ".")))
    assert finished is not None
    assert finished.parts == (Text("Hi there."),)


def test_chunks_of_gemini_that_are_none():
    odd = (
        {},
        {"candidates": None},
        {"candidates": []},
        {"candidates": ["x"]},
        {"candidates": [{}]},
        {"note": 1},
    )
    assert (
        gemini(*odd, {"candidates": [{"content": {"parts": None}}]}, candidate("x", {}, {"text": None}))
        is None
    )


def test_figures_that_come_one_after_the_other():
    finished = gemini(
        {"usageMetadata": {"promptTokenCount": 10, "cachedContentTokenCount": 4}},
        {"usageMetadata": {"candidatesTokenCount": 5}},
        candidate({"text": "Hi."}, finishReason="STOP"),
    )
    assert finished is not None
    assert finished.usage == Usage(6, 4, output=5)


def test_calls_without_id_name_or_arguments():
    finished = gemini(
        candidate({"functionCall": {}}, {"functionCall": {"name": "a", "args": None}}, finishReason="STOP")
    )
    assert finished is not None
    assert [(name, raw) for _, name, raw in made(finished)] == [("", "{}"), ("a", "{}")]
    assert finished.finish_reason == "tool-calls"


def test_why_a_call_was_malformed():
    told = "Malformed function call: print(default_api.grep("
    finished = gemini(
        candidate({"text": "So."}),
        {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": told}]},
    )
    assert finished is not None
    assert (finished.finish_reason, finished.native_reason) == ("other", f"MALFORMED_FUNCTION_CALL: {told}")


def responses(*events: dict[str, Any], **response: Any) -> Finished:
    decoder = ResponsesDecoder("p", CARD)
    for event in events:
        decoder.feed(event)
    decoder.feed({"type": "response.completed", "response": {"status": "completed", **response}})
    finished = decoder.finished()
    assert finished is not None
    return finished


def message_item(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def test_items_that_come_only_with_the_end():
    asked = {"type": "function_call", "call_id": "x", "name": "a", "arguments": "{}"}
    finished = responses(output=[message_item("Hi."), asked, "odd"])
    assert finished.parts[0] == Text("Hi.")
    assert made(finished) == [("x", "a", "{}")]


def test_items_that_are_cut_keep_what_they_said():
    finished = responses(
        {"type": "response.created", "response": {"id": "r"}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "reasoning", "encrypted_content": "h"},
        },
        {"type": "response.output_item.added", "output_index": 1, "item": message_item("")},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "Hi."},
        {
            "type": "response.output_item.added",
            "output_index": 3,
            "item": {"type": "function_call", "call_id": "x", "name": "a"},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 3, "delta": '{"n"'},
        {"type": "response.of.the.future", "output_index": 9},
        output=[],
    )
    assert finished.parts[0] == Text("Hi.")
    assert made(finished) == [("x", "a", '{"n"')]
    assert len(finished.parts) == 2


def test_reasoning_in_the_open_and_between_two_summaries():
    decoder = ResponsesDecoder("p", CARD)
    events = [
        {"type": "response.reasoning_text.delta", "output_index": 0, "delta": "Hm"},
        {"type": "response.reasoning_summary_part.added", "output_index": 1, "summary_index": 0},
        {"type": "response.reasoning_summary_text.delta", "output_index": 1, "delta": "One"},
        {"type": "response.reasoning_summary_part.added", "output_index": 1, "summary_index": 1},
        {"type": "response.reasoning_summary_text.delta", "output_index": 1, "delta": "Two"},
    ]
    shown = [piece for event in events for piece in decoder.feed(event)]
    assert shown == [ReasoningDelta(text) for text in ("Hm", "One", "\n\n", "Two")]
    item = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm"}]}
    finished = responses({"type": "response.output_item.done", "item": item})
    assert finished.parts == (Reasoning("Hm", "p", "m", opaque=item),)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000])
def test_json_nested_without_end_is_no_json(text: str):
    with pytest.raises(ValueError, match="nested too deeply"):
        parsed(text)
    assert arguments_of(text) is None


def test_halves_of_pairs_are_mended_where_they_come_in():
    assert arguments_of(r'{"p\ud800": ["\udc00 \ud83d\ude00", 1]}') == {"p\ufffd": ["\ufffd \U0001f600", 1]}

from __future__ import annotations

import json

import pytest

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.events import ArgumentsDelta
from agent_cli.kernel.messages import Message, Text, ToolCall, calls_of, text_of
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.pile import parsed
from tests.fakes.gemini_wire import sign
from tests.fakes.http_server import Raw, Say
from tests.providers.families import (
    READ,
    answer_of,
    answered,
    asking,
    call,
    every,
    pieces_of,
    result,
    said,
    serving,
)


@every
async def test_arguments_come_in_pieces_and_whole_at_the_end(family: str):
    raw = '{"path": "ordner/größe.txt", "limit": 12}'
    async with serving(family, Say("I read.", calls=(("read_file", raw),))) as (_, model):
        pieces = await pieces_of(model, asking(model))
    deltas = [piece for piece in pieces if isinstance(piece, ArgumentsDelta)]
    assert deltas[0].name == "read_file"
    if family == "gemini":  # arguments are an object on its wire
        raw = json_bytes(parsed(raw)).decode()
    assert "".join(piece.text for piece in deltas) == raw
    finished = pieces[-1]
    assert finished.finish_reason == "tool-calls"
    made = calls_of(finished.parts)[0]
    assert (made.name, made.raw) == ("read_file", raw)
    assert made.arguments == {"path": "ordner/größe.txt", "limit": 12}
    assert made.call_id == deltas[0].call_id != ""


@every
async def test_parallel_calls_stay_apart_and_in_order(family: str):
    calls = (("read_file", '{"path":"a"}'), ("grep", '{"path":"b"}'), ("read_file", '{"path":"c"}'))
    async with serving(family, Say(calls=calls, size=3)) as (_, model):
        made = (await answer_of(model)).parts
    assert [(part.name, part.arguments) for part in made if isinstance(part, ToolCall)] == [
        ("read_file", {"path": "a"}),
        ("grep", {"path": "b"}),
        ("read_file", {"path": "c"}),
    ]
    assert len({part.call_id for part in made if isinstance(part, ToolCall)}) == 3


@pytest.mark.parametrize("family", ["anthropic", "openai", "responses"])
@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        ("{}", {}),
        ('{"path": "a', None),
        ('["a"]', None),
        ('{"path": 1e999}', {"path": float("inf")}),
    ],
)
async def test_what_is_no_object_is_kept_as_it_was_written(family: str, raw: str, arguments: object):
    async with serving(family, Say(calls=(("read_file", raw),))) as (_, model):
        made = (await answer_of(model)).parts[0]
    assert isinstance(made, ToolCall)
    assert (made.raw, made.arguments) == (raw, arguments)


@every
async def test_a_tool_loop_goes_back_and_forth(family: str):
    replies = (Say("One.", calls=(("read_file", '{"path":"a"}'), ("grep", '{"path":"b"}'))), Say("Done."))
    async with serving(family, *replies) as (service, model):
        first = await answer_of(model)
        ids = [part.call_id for part in first.parts if isinstance(part, ToolCall)]
        results = Message(
            "user", (*(result(call_id, f"of {call_id}") for call_id in ids), Text("And quickly."))
        )
        last = await answer_of(model, said("Hello?"), Message("assistant", first.parts), results)
    assert text_of(last.parts) == "Done."
    sent = service.requests[1].raw.decode()
    assert all(f"of {call_id}" in sent for call_id in ids)
    assert "And quickly." in sent


@every
async def test_a_failed_result_is_marked_where_the_api_has_a_mark(family: str):
    messages = (said("Go."), answered(call("c1")), Message("user", (result("c1", "no such file", ok=False),)))
    async with serving(family, Say("Hm.")) as (service, model):
        await answer_of(model, *messages)
    sent = service.requests[0].raw.decode()
    assert "no such file" in sent
    assert ('"is_error":true' in sent) is (family == "anthropic")
    assert ('"response":{"error":"no such file"}' in sent) is (family == "gemini")


@every
async def test_odd_ids_and_names_of_other_models_are_made_fit_and_stay_pairs(family: str):
    odd = "functions.read file:0/" + "x" * 60
    lost = ToolCall("call 2", "no.such tool", None, '{"path": ')
    messages = (
        said("Go."),
        answered(call(odd), lost),
        Message("user", (result(odd, "yes"), result("call 2", "no", name="no.such tool", ok=False))),
    )
    async with serving(family, Say("Hm.")) as (service, model):
        await answer_of(model, *messages)
        await answer_of(model, *messages)
    assert service.requests[0].raw == service.requests[1].raw
    assert "no_such_tool" in service.requests[0].raw.decode()


@every
@pytest.mark.parametrize("choice", ["auto", "none", "grep"])
async def test_the_choice_of_a_tool(family: str, choice: str):
    async with serving(family, Say("Hm.")) as (service, model):
        await answer_of(model, tool_choice=choice)
        await answer_of(model, tool_choice=choice, tools=())
    wanted = {
        ("anthropic", "none"): {"type": "none"},
        ("anthropic", "grep"): {"type": "tool", "name": "grep"},
        ("openai", "none"): "none",
        ("openai", "grep"): {"type": "function", "function": {"name": "grep"}},
        ("responses", "none"): "none",
        ("responses", "grep"): {"type": "function", "name": "grep"},
        ("gemini", "none"): {"functionCallingConfig": {"mode": "NONE"}},
        ("gemini", "grep"): {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["grep"]}},
    }
    field = "toolConfig" if family == "gemini" else "tool_choice"
    assert service.requests[0].body.get(field) == wanted.get((family, choice))
    assert field not in service.requests[1].body
    assert "tools" not in service.requests[1].body


async def test_a_tool_is_forced_without_thinking_or_not_at_all():
    async with serving("anthropic", Say("Hm.")) as (service, model):
        await answer_of(model, tool_choice="grep")
    assert service.requests[0].body["thinking"] == {"type": "disabled"}
    async with serving("anthropic", Say("Hm."), name="claude-opus-5-5") as (_, model):
        with pytest.raises(ConfigError, match="cannot be made to call a named tool"):
            await answer_of(model, tool_choice="grep")


async def test_tools_and_their_schemas_as_each_api_has_them():
    async with serving("gemini", Say("Hm.")) as (service, model):
        await answer_of(model)
    functions = service.requests[0].body["tools"][0]["functionDeclarations"]
    assert functions[0] == {
        "name": "read_file",
        "description": READ.description,
        "parametersJsonSchema": READ.schema,
    }
    async with serving("responses", Say("Hm.")) as (service, model):
        await answer_of(model)
    tool = {"type": "function", "name": "read_file", "description": READ.description, "strict": False}
    assert service.requests[0].body["tools"][0] == {**tool, "parameters": READ.schema}


async def test_gemini_gets_our_own_ids_where_it_gave_none():
    part = {"functionCall": {"name": "grep", "args": {"path": "a"}}, "thoughtSignature": sign("x")}
    event = {"candidates": [{"content": {"parts": [part, part]}, "finishReason": "STOP"}]}
    calling = Raw(200, f"data: {json.dumps(event)}\n\n".encode(), {"content-type": "text/event-stream"})
    async with serving("gemini", calling, Say("Done.")) as (service, model):
        first = await answer_of(model)
        ids = [made.call_id for made in calls_of(first.parts)]
        results = Message("user", tuple(result(call_id, name="grep") for call_id in ids))
        await answer_of(model, said("Go."), Message("assistant", first.parts), results)
    assert first.finish_reason == "tool-calls"
    assert len(set(ids)) == 2
    sent = service.requests[1].body["contents"]
    assert [part["functionCall"]["id"] for part in sent[1]["parts"]] == ids
    assert [part["functionResponse"]["id"] for part in sent[2]["parts"][:2]] == ids


@every
async def test_arguments_that_were_mended_go_as_they_are_now(family: str):
    mended = ToolCall("c1", "grep", {"path": "a"}, '{"path": "a')
    async with serving(family, Say("Hm.")) as (service, model):
        await answer_of(model, said("Go."), answered(mended), Message("user", (result("c1", name="grep"),)))
    sent = service.requests[0].raw.decode().replace("\\", "")
    assert '{"path":"a"}' in sent
    assert '{"path": "a' not in sent

from __future__ import annotations

import pytest

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.events import ArgumentsDelta
from agent_cli.kernel.messages import Message, Text, ToolCall
from tests.fakes.http_server import Say
from tests.providers.families import (
    answer_of,
    answered,
    asking,
    both,
    call,
    pieces_of,
    result,
    said,
    serving,
)


@both
async def test_arguments_come_in_pieces_and_whole_at_the_end(family: str):
    raw = '{"path": "ordner/größe.txt", "limit": 12}'
    async with serving(family, Say("I read.", calls=(("read_file", raw),))) as (_, model):
        pieces = await pieces_of(model, asking(model))
    deltas = [piece for piece in pieces if isinstance(piece, ArgumentsDelta)]
    assert deltas[0].name == "read_file"
    assert "".join(piece.text for piece in deltas) == raw
    finished = pieces[-1]
    assert finished.finish_reason == "tool-calls"
    made = finished.parts[-1]
    assert isinstance(made, ToolCall)
    assert (made.name, made.raw) == ("read_file", raw)
    assert made.arguments == {"path": "ordner/größe.txt", "limit": 12}
    assert made.call_id == deltas[0].call_id != ""


@both
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


@both
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


@both
async def test_a_tool_loop_goes_back_and_forth(family: str):
    replies = (Say("One.", calls=(("read_file", '{"path":"a"}'), ("grep", '{"path":"b"}'))), Say("Done."))
    async with serving(family, *replies) as (service, model):
        first = await answer_of(model)
        ids = [part.call_id for part in first.parts if isinstance(part, ToolCall)]
        results = Message(
            "user", (*(result(call_id, f"of {call_id}") for call_id in ids), Text("And quickly."))
        )
        last = await answer_of(model, said("Hello?"), Message("assistant", first.parts), results)
    assert last.parts == (Text("Done."),)
    sent = service.requests[1].raw.decode()
    assert all(f"of {call_id}" in sent for call_id in ids)
    assert "And quickly." in sent


@both
async def test_a_failed_result_is_marked_where_the_api_has_a_mark(family: str):
    messages = (said("Go."), answered(call("c1")), Message("user", (result("c1", "no such file", ok=False),)))
    async with serving(family, Say("Hm.")) as (service, model):
        await answer_of(model, *messages)
    sent = service.requests[0].raw.decode()
    assert "no such file" in sent
    assert ('"is_error":true' in sent) is (family == "anthropic")


@both
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


@both
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
    }
    assert service.requests[0].body.get("tool_choice") == wanted.get((family, choice))
    assert "tool_choice" not in service.requests[1].body
    assert "tools" not in service.requests[1].body


async def test_a_tool_is_forced_without_thinking_or_not_at_all():
    async with serving("anthropic", Say("Hm.")) as (service, model):
        await answer_of(model, tool_choice="grep")
    assert service.requests[0].body["thinking"] == {"type": "disabled"}
    async with serving("anthropic", Say("Hm."), name="claude-opus-5-5") as (_, model):
        with pytest.raises(ConfigError, match="cannot be made to call a named tool"):
            await answer_of(model, tool_choice="grep")

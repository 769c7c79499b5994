from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.kernel.errors import (
    ConfigError,
    ConnectionFailed,
    ContextOverflow,
    RateLimited,
    RequestRefused,
)
from agent_cli.kernel.events import ArgumentsDelta, Finished, ReasoningDelta, TextDelta, UsageSoFar
from agent_cli.kernel.messages import Message, Prompt, Reasoning, Text, ToolCall, calls_of, text_of
from agent_cli.kernel.usage import Usage
from agent_cli.providers.echo import Echo
from agent_cli.providers.script import parse
from agent_cli.providers.scripted import Scripted
from tests.providers.families import READ, answered, call, result, said


def ask(*messages: Message) -> Prompt:
    return Prompt("scripted", ("Be brief.",), (READ,), messages or (said("Hello?"),))


async def play(provider: Scripted | Echo, prompt: Prompt | None = None) -> list[Any]:
    return [piece async for piece in provider.stream(prompt or ask())]


async def test_a_reply_comes_in_small_pieces():
    line = (
        '{"reasoning":"Hm, let me see.","text":"I will read it now.",'
        '"calls":[{"name":"read_file","arguments":{"path":"a.txt"}},{"name":"grep","arguments":"{\\"pa","id":"x"}],'
        '"usage":{"input":10,"cache_read":5,"output":7}}'
    )
    pieces = await play(Scripted(parse(line, "script")))
    finished = pieces[-1]
    assert isinstance(finished, Finished)
    assert finished.parts == (
        Reasoning("Hm, let me see.", "scripted", "scripted"),
        Text("I will read it now."),
        ToolCall("call_1", "read_file", {"path": "a.txt"}, '{"path":"a.txt"}'),
        ToolCall("x", "grep", None, '{"pa'),
    )
    assert (finished.usage, finished.finish_reason) == (Usage(10, 5, output=7), "tool-calls")
    for kind, text in ((TextDelta, "I will read it now."), (ReasoningDelta, "Hm, let me see.")):
        deltas = [piece.text for piece in pieces if isinstance(piece, kind)]
        assert len(deltas) > 2
        assert "".join(deltas) == text
    assert "".join(p.text for p in pieces if isinstance(p, ArgumentsDelta) and p.call_id == "call_1") == (
        '{"path":"a.txt"}'
    )
    assert pieces[0] == UsageSoFar(Usage(10, 5))


async def test_replies_come_in_order_until_the_script_ends():
    provider = Scripted(parse('{"text":"One."}\n\n{"text":"Two.","finish":"length"}\n', "script"))
    assert text_of((await play(provider))[-1].parts) == "One."
    assert (await play(provider))[-1].finish_reason == "length"
    with pytest.raises(RequestRefused, match="has 2 replies, and this is request 3"):
        await play(provider)
    assert len(provider.prompts) == 3


async def test_a_loop_begins_again_with_new_call_ids():
    provider = Scripted(parse('{"calls":[{"name":"read_file"}]}', "script"), loop=True)
    ids = [calls_of((await play(provider))[-1].parts)[0].call_id for _ in range(3)]
    assert ids == ["call_1", "call_2", "call_3"]
    resumed = Scripted(parse('{"calls":[{"name":"read_file"}]}', "script"))
    history = (said("Go."), answered(call("call_7")), Message("user", (result("call_7"),)))
    assert calls_of((await play(resumed, ask(*history)))[-1].parts)[0].call_id == "call_8"


@pytest.mark.parametrize(
    ("fault", "kind", "pieces"),
    [
        ('"connection"', ConnectionFailed, 0),
        ('{"kind":"rate-limit","retry_after":2.5}', RateLimited, 0),
        ('{"kind":"overflow","used":9,"limit":8,"after":2}', ContextOverflow, 3),
    ],
)
async def test_faults(fault: str, kind: type[Exception], pieces: int):
    provider = Scripted(
        parse(f'{{"text":"One two three four.","fault":{fault}}}\n{{"text":"Fine."}}', "script")
    )
    seen: list[object] = []
    with pytest.raises(kind) as caught:
        async for piece in provider.stream(ask()):
            seen.append(piece)
    assert len(seen) == pieces
    assert getattr(caught.value, "retry_after", None) == (2.5 if kind is RateLimited else None)
    assert getattr(caught.value, "used", None) == (9 if kind is ContextOverflow else None)
    assert text_of((await play(provider))[-1].parts) == "Fine."


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ('{"user":"Hello"}', ""),
        ('{"user":"Goodbye"}', "user should match 'Goodbye', but is 'Hello"),
        ('{"result":"hello"}', "result should match"),
        ('{"system":"brief","tools":["read_file"]}', ""),
        ('{"tools":["bash","read_file"]}', "the tools bash are not on offer"),
    ],
)
async def test_strict_mode_fails_on_what_the_script_was_not_made_for(expect: str, words: str):
    line = f'{{"text":"Hi.","expect":{expect}}}'
    assert text_of((await play(Scripted(parse(line, "script"))))[-1].parts) == "Hi."
    strict = Scripted(parse(line, "script"), strict=True)
    if words:
        with pytest.raises(RequestRefused, match="Reply 1 of the script does not fit the request") as caught:
            await play(strict)
        assert words in str(caught.value)
    else:
        assert text_of((await play(strict))[-1].parts) == "Hi."


async def test_an_expected_result_is_the_one_of_the_last_message():
    line = '{"text":"Hi.","expect":{"result":"^hello$"}}'
    messages = (said("Go."), answered(call("c1")), Message("user", (result("c1"), Text("[status]"))))
    assert await play(Scripted(parse(line, "script"), strict=True), ask(*messages))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"text":"Hi."}\n{"txet":"Hi."}', "s.jsonl, line 2: .*txet"),
        ("not json", "s.jsonl, line 1"),
        ('{"fault":"weather"}', "no fault is called 'weather'; there are connection"),
        ("\n", "holds no reply"),
    ],
)
def test_a_wrong_script_is_named_with_its_line(text: str, words: str, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        Scripted.from_file(path)


async def test_the_demonstration_lists_searches_and_explains():
    provider = Scripted.demo()
    provider._replies = [
        type(reply)(
            **{**{f: getattr(reply, f) for f in reply.__struct_fields__}, "delay_ms": 0, "pace_ms": 0}
        )
        for reply in provider._replies
    ]
    names: list[str] = []
    for _ in range(2):
        names += [made.name for made in calls_of((await play(provider))[-1].parts)]
    assert names == ["list_dir", "glob"]
    answer = text_of((await play(provider))[-1].parts)
    assert "```python" in answer
    assert "| to do | how |" in answer
    assert calls_of((await play(provider))[-1].parts), "it begins again"
    assert not any(reply.usage and reply.usage.cache_read for reply in provider._replies), "nothing is cached"


async def test_usage_is_estimated_where_the_script_gives_none():
    usage = (await play(Scripted(parse('{"text":"A longer answer of some words."}', "script"))))[-1].usage
    assert usage.input > 20
    assert usage.output > 5


async def test_echo_says_what_it_was_told():
    echo = Echo()
    pieces = await play(echo, ask(said("First."), answered(Text("So.")), said("Say this back.")))
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == "Say this back."
    assert pieces[-1].parts == (Text("Say this back."),)
    assert len(pieces) == 4
    await echo.close()


async def test_halves_of_pairs_in_arguments_are_played():
    line = json.dumps({"calls": [{"name": "read_file", "arguments": r'{"path": "\ud800"}'}]})
    finished = (await play(Scripted(parse(line, "script"))))[-1]
    assert isinstance(finished, Finished)
    ((_, name, arguments),) = [(one.call_id, one.name, one.arguments) for one in calls_of(finished.parts)]
    assert (name, arguments) == ("read_file", {"path": "\ufffd"})


def test_a_script_that_is_no_text_is_refused(tmp_path: Path):
    (tmp_path / "s.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        Scripted.from_file(tmp_path / "s.jsonl")

"""What a streamed reply becomes, however it is split."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.kernel.events import ArgumentsDelta, Finished, TextDelta
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.usage import Usage
from agent_cli.providers.local.reply import RAN_AWAY, LocalDecoder, Reply
from agent_cli.providers.local.simple import ANSWER, ARGUMENTS, simplified, written

words = st.text(st.characters(exclude_categories=("Cs",)), max_size=40) | st.text(
    '"\\/{}\n\t😀aé', max_size=20
)
spaces = st.sampled_from(["", " ", "\n"])


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, str, dict[str, str]]:
    """(text, tool, arguments): JSON as the schema allows it, escapes and white space as they come."""
    tool = draw(st.sampled_from(sorted(ARGUMENTS)))
    arguments = {name: draw(words) for name in ARGUMENTS[tool]}
    shown = json.dumps(arguments, ensure_ascii=draw(st.booleans()))
    gap = [draw(spaces) for _ in range(6)]
    text = f'{gap[0]}{{{gap[1]}"tool"{gap[2]}:{gap[3]}"{tool}", "args":{gap[4]}{shown}{gap[5]}}}'
    return text, tool, arguments


def pieces_of(text: str, sizes: list[int]) -> tuple[str, str, Finished]:
    """(text shown, arguments shown, the message) of a reply that came in chunks of these sizes."""
    reply, shown, arguments, rest = Reply("call_1"), "", "", text
    for size in [*sizes, len(text)]:
        chunk, rest = rest[:size], rest[size:]
        for piece in reply.feed(chunk):
            shown += piece.text if isinstance(piece, TextDelta) else ""
            arguments += piece.text if isinstance(piece, ArgumentsDelta) else ""
    return shown, arguments, reply.finish(Usage(output=1), "m", "stop")


@given(replies(), st.lists(st.integers(1, 7), max_size=60))
def test_any_split_gives_the_same_pieces(reply: tuple[str, str, dict[str, str]], sizes: list[int]) -> None:
    text, tool, arguments = reply
    shown, raw, finished = pieces_of(text, sizes)
    if tool == ANSWER:
        answer = arguments["answer"]
        assert (shown, raw) == (answer, "")
        assert finished.parts == ((Text(answer),) if answer else ())
        assert finished.finish_reason == "stop"
        return
    assert shown == ""
    assert json.loads(raw) == arguments
    (call,) = finished.parts
    assert isinstance(call, ToolCall)
    assert (call.call_id, call.name, finished.finish_reason) == ("call_1", tool, "tool-calls")
    if arguments.get("path", "").strip():
        assert simplified(call) == arguments


@given(st.text(r"\ud83c\udf0e\u00e9ab\\n", max_size=60), st.lists(st.integers(1, 5), max_size=40))
def test_escapes_are_never_shown_by_halves(inside: str, sizes: list[int]) -> None:
    text = f'{{"tool": "{ANSWER}", "args": {{"answer": "{inside}"}}}}'
    try:
        json.loads(text)
    except ValueError:
        return
    shown, _, finished = pieces_of(text, sizes)
    shown.encode()
    assert finished.parts == ((Text(shown),) if shown else ())


@given(replies(), st.integers(1, 60))
def test_a_cut_reply_keeps_what_was_shown(reply: tuple[str, str, dict[str, str]], left: int) -> None:
    text, tool, _ = reply
    cut = Reply("call_1")
    shown = "".join(piece.text for piece in cut.feed(text[:-left]))
    finished = cut.finish(Usage(), "m", "length")
    assert finished.finish_reason == "length"
    if tool == ANSWER and shown:
        assert finished.parts == (Text(shown),)
    for part in finished.parts:
        assert isinstance(part, Text) or part.arguments is None


def test_a_call_that_was_cut_off_keeps_its_raw_text() -> None:
    text = '{"tool": "write_file", "args": {"path": "a.py", "content": "def f('
    reply = Reply("call_1")
    reply.feed(text)
    (call,) = reply.finish(Usage(), "m", "length").parts
    assert call == ToolCall("call_1", "write_file", None, '{"path": "a.py", "content": "def f(')


@given(st.integers(1, 90), st.lists(st.integers(1, 90), max_size=40))
def test_a_model_that_repeats_itself_is_stopped_at_one_place(period: int, sizes: list[int]) -> None:
    unit = "".join(chr(97 + number % 26) for number in range(period - 1)) + "z"
    text = '{"tool": "write_file", "args": {"path": "a", "content": "' + unit * (2_000 // period)
    reply, rest = Reply("call_1"), text
    for size in [*sizes, len(text)]:
        chunk, rest = rest[:size], rest[size:]
        reply.feed(chunk)
    whole = Reply("call_1")
    whole.feed(text)
    assert reply.ran_away
    assert whole.ran_away
    finished = reply.finish(Usage(), "m", RAN_AWAY)
    assert finished == whole.finish(Usage(), "m", RAN_AWAY)
    assert finished.finish_reason == "length"
    assert len(finished.parts[0].raw) < 600


def test_the_decoder_is_done_where_the_model_repeats_itself() -> None:
    decoder = LocalDecoder("m", "call_1")
    chunks = ['{"tool": "final_answer", "args": {"answer": "', *["again and "] * 400]
    fed = 0
    while not decoder.done:
        decoder.feed({"choices": [{"delta": {"content": chunks[fed]}, "finish_reason": None}]})
        fed += 1
    assert fed < 60
    finished = decoder.finished()
    assert finished is not None
    assert (finished.finish_reason, finished.native_reason, finished.usage) == (
        "stop",
        RAN_AWAY,
        Usage(output=fed),
    )


@pytest.mark.parametrize(
    "text", ["word " * 70, "=" * 300, "".join(f"line {number}\n" for number in range(200))]
)
def test_honest_repetition_is_no_loop(text: str) -> None:
    assert pieces_of(written(ANSWER, {"answer": text}), [])[2].parts == (Text(text),)


def test_a_simple_edit_becomes_the_real_one() -> None:
    text = written("edit_file", {"path": "a.py", "old": "x", "new": "y"})
    (call,) = pieces_of(text, [])[2].parts
    assert isinstance(call, ToolCall)
    assert call.arguments == {"path": "a.py", "edits": [{"old": "x", "new": "y"}]}
    assert json.loads(call.raw) == call.arguments


@pytest.mark.parametrize("tool", ["list_dir", "grep"])
def test_an_empty_path_means_the_current_directory(tool: str) -> None:
    (call,) = pieces_of(written(tool, {"pattern": "x", "path": ""}), [])[2].parts
    assert isinstance(call, ToolCall)
    assert call.arguments == {"pattern": "x", "path": "."}


@pytest.mark.parametrize(
    "text",
    [
        'Sure:\n```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```',
        '<tool_call>{"name": "read_file", "arguments": "{\\"path\\": \\"a\\"}"}</tool_call>',
        '{{"tool": "read_file", "args": {"path": "a"}}}',
        '{"function": "read_file", "parameters": {"path": "a"}} and so on',
    ],
)
def test_a_model_that_the_schema_does_not_hold_is_understood(text: str) -> None:
    (call,) = pieces_of(text, [3, 3])[2].parts
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments) == ("read_file", {"path": "a"})


def test_plain_prose_is_the_answer() -> None:
    assert pieces_of("There are {3} files.", [])[2].parts == (Text("There are {3} files."),)


def test_nothing_is_an_empty_message() -> None:
    assert pieces_of("", [])[2].parts == ()


def test_an_answer_is_finished_only_when_its_end_was_told() -> None:
    decoder = LocalDecoder("m", "call_1")
    text = written(ANSWER, {"answer": "ok"})
    decoder.feed({"id": "c1", "choices": [{"delta": {"content": text}, "finish_reason": None}]})
    assert decoder.finished() is None
    decoder.feed({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    assert decoder.finished() == Finished((Text("ok"),), Usage(), "m", "stop", "stop", "c1")

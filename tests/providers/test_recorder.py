"""What was recorded can be replayed, strictly, and holds no secrets."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Interrupt
from agent_cli.kernel.errors import ConfigError, ContextOverflow, ProviderError, RateLimited, RequestRefused
from agent_cli.kernel.events import Finished, Piece, TextDelta, UsageSoFar
from agent_cli.kernel.messages import (
    Image,
    Message,
    Prompt,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    calls_of,
    text_of,
)
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.ports import OpenModel
from agent_cli.providers.recorder import Recording
from agent_cli.providers.registry import Registry
from agent_cli.providers.script import AnswerCut
from agent_cli.providers.scripted import Scripted
from tests.fakes.clock import settle
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, Playing, says
from tests.fakes.sessions import open_session, run, say
from tests.providers.families import GREP, READ, answered, call, result, said

KEY = "sk-ant-api03-qbcdYfghXjklmWopqrVtuvUxyz"
OWN = "a-key-without-a-shape"
USAGE = Usage(10, 5, 2, 7, 1)


class Says:
    """A provider that yields what it is told, and then raises what it is told."""

    name = "says"

    def __init__(self, *steps: list[Piece | Finished] | ProviderError) -> None:
        self.steps = list(steps)
        self.closed = False

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        step = self.steps.pop(0)
        if isinstance(step, ProviderError):
            yield UsageSoFar(Usage(10))
            yield TextDelta("Half an ans")
            raise step
        for piece in step:
            yield piece

    async def close(self) -> None:
        self.closed = True


def ask(*messages: Message, tools: Any = (READ, GREP)) -> Prompt:
    return Prompt("m", ("Be brief.",), tools, messages or (said("Hello?"),), session="s")


def finished(*parts: Any, reason: Any = "stop") -> list[Piece | Finished]:
    return [TextDelta("x"), Finished(parts, USAGE, "m", reason, "native", "id")]


async def play(provider: Any, prompt: Prompt) -> list[Any]:
    return [piece async for piece in provider.stream(prompt)]


CALLS = (call("c1"), ToolCall("c2", "grep", None, '{"pa'))
FIRST = ask(said(f"Use {KEY}."))
SECOND = ask(said(f"Use {KEY}."), answered(*CALLS), Message("user", (result("c1"), result("c2", OWN))))


@pytest.fixture
async def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    overflow = ContextOverflow("too long", used=9, limit=8)
    provider = Says(
        finished(Reasoning("Hm.", "says", "m"), Text(f"I look for {OWN}."), *CALLS, reason="tool-calls"),
        RateLimited("slow down", retry_after=2.5),
        overflow,
        finished(Text("Done."), reason="length"),
    )
    over = Recording(path, [OWN]).over(provider, CARD)
    assert over.name == "says"
    await play(over, FIRST)
    for _ in range(2):
        with pytest.raises(ProviderError):
            await play(over, SECOND)
    await play(over, SECOND)
    await over.close()
    assert provider.closed
    return path


async def test_what_was_recorded_is_replayed(recorded: Path):
    replay = Scripted.from_file(recorded, strict=True)
    first = (await play(replay, FIRST))[-1]
    assert text_of(first.parts) == "I look for [REDACTED:key]."
    assert calls_of(first.parts) == CALLS
    assert (first.usage, first.finish_reason) == (USAGE, "tool-calls")
    shown: list[str] = []
    with pytest.raises(RateLimited, match="slow down") as limited:
        async for piece in replay.stream(SECOND):
            shown += [piece.text] if isinstance(piece, TextDelta) else []
    assert ("".join(shown), limited.value.retry_after) == ("Half an ans", 2.5)
    with pytest.raises(ContextOverflow) as overflow:
        await play(replay, SECOND)
    assert (overflow.value.used, overflow.value.limit) == (9, 8)
    last = (await play(replay, SECOND))[-1]
    assert (text_of(last.parts), last.finish_reason) == ("Done.", "length")


def test_no_secret_is_in_it_and_nobody_else_may_read_it(recorded: Path):
    text = recorded.read_text("utf-8")
    assert KEY not in text
    assert OWN not in text
    assert stat.S_IMODE(recorded.stat().st_mode) == 0o600
    asked = [json.loads(line)["request"] for line in text.splitlines()]
    assert [len(request["messages"]) for request in asked] == [1, 2, 0, 0], (
        "only what is new since the last one"
    )
    assert asked[0]["messages"][0]["parts"] == [{"kind": "text", "text": "Use [REDACTED:anthropic-key]."}]


OTHER = Message("user", (result("c1", "HELLO"), result("c2", OWN)))


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        (ask(said("Use something else.")), "user is not what was recorded; it is 'Use something else.'"),
        (ask(said(f"Use {KEY}."), tools=(READ,)), "tools is not what was recorded; it is 'read_file'"),
        (
            msgspec.structs.replace(FIRST, messages=(*FIRST.messages, answered(*CALLS), OTHER)),
            "result is not what",
        ),
    ],
)
async def test_any_other_request_fails_strictly(recorded: Path, prompt: Prompt, words: str):
    with pytest.raises(RequestRefused, match=words):
        await play(Scripted.from_file(recorded, strict=True), prompt)
    assert (await play(Scripted.from_file(recorded), prompt))[-1].parts


async def test_another_key_in_the_same_place_is_no_other_request(recorded: Path):
    prompt = ask(said(f"Use {KEY[:-1]}0."))
    assert (await play(Scripted.from_file(recorded, strict=True), prompt))[-1].parts


async def test_a_call_that_the_program_answered_itself_is_answered_in_the_replay(tmp_path: Path):
    """As Claude Code does of a tool that it does not know: we would say that in other words."""
    path = tmp_path / "talk.jsonl"
    own = ToolResult("c2", "", (Text("No such tool available"),), ok=False)
    told = Finished(CALLS, USAGE, "m", "tool-calls", answered=(own,))
    live = Playing(told, says("done"))
    session = open_session(Playing(), model=OpenModel(Recording(path).over(live, CARD), CARD))
    await run(session, say("go"))

    replay = Scripted.from_file(path, strict=True)
    again = open_session(Playing(), model=OpenModel(replay, replay.card))
    await run(again, say("go"))
    assert again.state.answer == "done"
    (results,) = [m for m in replay.prompts[-1].messages if any(isinstance(p, ToolResult) for p in m.parts)]
    second = results.parts[1]
    assert isinstance(second, ToolResult)
    assert (second.content, second.ok) == (own.content, False)


async def test_an_answer_that_nobody_waited_for_is_cut(tmp_path: Path):
    path = tmp_path / "talk.jsonl"
    over = Recording(path).over(Says(finished(Text("x")), finished(Text("y"))), CARD)
    async with aclosing(over.stream(ask())) as stream:
        await anext(stream)
    await play(over, ask())
    replay = Scripted.from_file(path, strict=True)
    shown: list[str] = []
    with pytest.raises(AnswerCut) as caught:
        async for piece in replay.stream(ask()):
            shown += [piece.text] if isinstance(piece, TextDelta) else []
    assert (shown, caught.value.retryable) == (["x"], False)
    assert text_of((await play(replay, ask()))[-1].parts) == "y"


async def test_a_whole_answer_is_not_cut_by_who_leaves_after_it(tmp_path: Path):
    path = tmp_path / "talk.jsonl"
    async with aclosing(Recording(path).over(Says(finished(Text("x"))), CARD).stream(ask())) as stream:
        while not isinstance(await anext(stream), Finished):
            pass
    (line,) = path.read_text("utf-8").splitlines()
    assert "fault" not in json.loads(line)


@pytest.mark.parametrize("shown", [True, False], ids=["in mid-stream", "before the first byte"])
async def test_an_interrupted_session_is_replayed_line_by_line(tmp_path: Path, shown: bool):
    async def silent(provider: Playing) -> AsyncGenerator[Piece | Finished, None]:
        await asyncio.Event().wait()
        yield TextDelta("never")

    async def begun(provider: Playing) -> AsyncGenerator[Piece | Finished, None]:
        yield UsageSoFar(Usage(input=100))
        yield TextDelta("a long")
        await asyncio.Event().wait()

    path, live = tmp_path / "talk.jsonl", Playing(begun if shown else silent, says("second"))
    model = OpenModel(Recording(path).over(live, CARD), CARD)
    session = open_session(Playing(), model=model)
    session.send(say("go"))
    await settle()
    session.send(Interrupt())
    await session.idle()
    await run(session, say("go on"))
    assert path.read_text("utf-8").count("\n") == 2

    log, replay = ListLog(), Scripted.from_file(path, strict=True)
    again = open_session(Playing(), model=OpenModel(replay, replay.card), log=log)
    await run(again, say("go"))
    await run(again, say("go on"))
    assert [prompt.messages for prompt in replay.prompts] == [prompt.messages for prompt in live.asked]
    ended = [event for event in log.events if isinstance(event, ev.TERMINAL)]
    assert [event.outcome for event in ended] == ["error", "completed"]
    assert not [event for event in log.events if isinstance(event, ev.Retry)], (
        "asking again would take the next line"
    )
    assert again.state.answer == "second"


async def test_a_script_says_what_its_model_is_taken_for(tmp_path: Path):
    path = tmp_path / "talk.jsonl"
    small = ModelCard("tiny", "local", window=8_192, max_output=1_536, tier="small", profile="compact")
    recording = Recording(path)
    for _ in range(2):
        await play(recording.over(Says(finished(Text("x"))), small), ask())
    assert ["card" in json.loads(line) for line in path.read_text("utf-8").splitlines()] == [True, False]
    card = Registry({}, script=path).open("scripted").card
    assert (card.window, card.max_output, card.tier, card.profile) == (8_192, 1_536, "small", "compact")
    assert Registry({}).open("scripted").card.profile == "full"


async def test_images_are_named_instead_of_kept(tmp_path: Path):
    path = tmp_path / "talk.jsonl"
    picture = Message("user", (Text("See."), Image("image/png", "QUJD" * 100)))
    await play(Recording(path).over(Says(finished(Text("x"))), CARD), ask(picture))
    assert "(400 characters)" in path.read_text()
    assert "QUJD" not in path.read_text()


async def test_errors_of_third_parties_become_kinds_that_scripts_know(tmp_path: Path):
    class Odd(ProviderError):
        kind = "odd"
        retryable = True

    path = tmp_path / "talk.jsonl"
    with pytest.raises(Odd):
        await play(Recording(path).over(Says(Odd("hm")), CARD), ask())
    with pytest.raises(ProviderError, match="hm") as caught:
        await play(Scripted.from_file(path, strict=True), ask())
    assert caught.value.retryable


def test_a_file_that_holds_something_is_left_alone(recorded: Path, tmp_path: Path):
    with pytest.raises(ConfigError, match="holds something already"):
        Recording(recorded)
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        Recording(tmp_path / "nowhere" / "x.jsonl")
    (tmp_path / "empty").touch()
    Recording(tmp_path / "empty")


async def test_a_disk_that_fills_up_ends_the_recording_and_not_the_run(caplog: pytest.LogCaptureFixture):
    over = Recording(Path("/dev/full")).over(Says(finished(Text("x")), finished(Text("y"))), CARD)
    for _ in range(2):
        assert (await play(over, ask()))[-1].parts
    assert caplog.text.count("is not complete") == 1

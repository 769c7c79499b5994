"""A prompt that was cut without a word is an overflow, not an answer."""

from __future__ import annotations

import msgspec
import pytest

from agent_cli.kernel.errors import ContextOverflow
from agent_cli.kernel.events import Finished
from agent_cli.kernel.messages import Message, Prompt, Text, ToolCall, ToolResult
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.providers.faults import Service
from agent_cli.providers.http import Http
from agent_cli.providers.openai import Dialect, OpenAI
from agent_cli.providers.silent import SilentCuts, is_trusted
from tests.fakes.http_server import FakeService, Say

LLAMA = ModelCard("llama3.2", "ollama")


def prompt(size: int) -> Prompt:
    return Prompt("llama3.2", ("Be brief.",), (), (Message("user", (Text("word " * (size // 5)),)),))


@pytest.mark.parametrize(
    ("sent", "read", "cut"),
    [
        (80_000, 4_096, True),
        (80_000, 19_000, False),
        (80_000, 11_000, False),  # long words: it read all of it
        (80_000, 0, False),  # a service that counts nothing
        (80_000, 40, False),  # one that does not count what it had in its cache
        (7_000, 1_100, False),  # too little to tell
    ],
)
def test_a_figure_far_below_what_was_sent(sent: int, read: int, cut: bool):
    finished = Finished((Text("ok"),), Usage(input=read, output=1), "llama3.2")
    found = SilentCuts("ollama", LLAMA).found(prompt(sent), finished, sent)
    assert (found is not None) == cut
    if found is not None:
        assert (found.limit, found.used) == (read, 20_003)
        assert "num_ctx" in str(found)


def test_a_figure_over_the_window_is_a_prompt_that_was_cut():
    card = ModelCard("glm-4.6", "zai", window=10_000)
    finished = Finished((Text("ok"),), Usage(input=12_000, output=1), "glm-4.6")
    found = SilentCuts("zai", card).found(prompt(40_000), finished, 40_000)
    assert found is not None
    assert (found.used, found.limit) == (12_000, 10_000)


@pytest.mark.parametrize("dialect", ["openai", "compatible"])
async def test_whoever_is_not_openai_itself_is_looked_at_also_under_its_name(dialect: Dialect):
    async with FakeService([Say("fine", usage={"prompt_tokens": 4_096, "completion_tokens": 1})]) as service:
        url = f"{service.url}/v1/chat/completions"
        provider = OpenAI(LLAMA, Http(Service("ollama", url), {}), name="ollama", dialect=dialect)
        with pytest.raises(ContextOverflow) as problem:
            _ = [piece async for piece in provider.stream(prompt(80_000))]
        assert problem.value.limit == 4_096
        await provider.close()


def test_openai_itself_is_trusted():
    assert is_trusted("https://api.openai.com/v1/chat/completions")
    assert not is_trusted("https://api.openai.com.example.com/v1/chat/completions")
    assert not is_trusted("http://localhost:11434/v1/chat/completions")


def test_a_service_that_read_more_before_leaves_out_what_was_in_its_cache():
    cuts = SilentCuts("gateway", LLAMA)
    for read in (20_000, 2_000):
        finished = Finished((Text("ok"),), Usage(input=read, output=1), "llama3.2")
        assert cuts.found(prompt(80_000), finished, 80_000) is None


def loop(steps: int, size: int = 20_000, said: str = "") -> Prompt:
    """A prompt with so many steps behind it, each with a result of that size; at its end what somebody said."""
    messages = [Message("user", (Text("go"),))]
    for at in range(steps):
        messages.append(Message("assistant", (ToolCall(f"c{at}", "read", {}),)))
        result = ToolResult(f"c{at}", "read", (Text("a word\n" * (size // 7)),))
        last = (Text(said),) if said and at == steps - 1 else ()
        messages.append(Message("user", (result, *last)))
    return Prompt("llama3.2", ("Be brief.",), (), tuple(messages))


def figures(*played: tuple[Prompt, int]) -> list[bool]:
    """Which of those prompts, with what was said to be read of each, are told as cut."""
    cuts = SilentCuts("ollama", LLAMA)
    return [
        cuts.found(sent, Finished((Text("ok"),), Usage(input=read, output=9), "llama3.2"), 0) is not None
        for sent, read in played
    ]


@pytest.mark.parametrize(
    ("read", "cut"),
    [
        ((3_000, 8_000, 13_000, 13_100), True),  # the oldest was left out, so that the rest fits
        ((3_000, 8_000, 13_000, 12_000), True),
        ((3_000, 8_000, 13_000, 18_000), False),
        ((3_000, 8_000, 13_000, 15_600), False),  # dense text before, long words now
        ((3_000, 5_000, 5_000, 5_000), False),  # a service that counts only what is new
        ((3_000, 8_000, 13_000, 5_000), False),  # what it had in its cache was not counted this time
        ((3_000, 8_000, 13_000, 0), False),
    ],
)
def test_a_figure_that_does_not_grow_with_the_conversation_is_a_prompt_that_was_cut(
    read: tuple[int, ...], *, cut: bool
):
    played = [(loop(step), tokens) for step, tokens in enumerate(read)]
    assert figures(*played) == [False, False, False, cut]


def test_a_conversation_that_did_not_only_grow_may_have_a_lower_figure():
    begun = [(loop(0), 3_000), (loop(1), 8_000), (loop(2), 13_000)]
    assert not figures(*begun, (loop(3, said="and now?"), 9_000))[-1], "thoughts before it may be gone"
    assert not figures(*begun, (loop(3, size=9_000), 11_000))[-1], "it was reduced"
    assert not figures(*begun, (msgspec.structs.replace(loop(3), system=("Be long.",)), 9_000))[-1]

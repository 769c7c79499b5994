"""A prompt that was cut without a word is an overflow, not an answer."""

from __future__ import annotations

import pytest

from agent_cli.kernel.errors import ContextOverflow
from agent_cli.kernel.events import Finished
from agent_cli.kernel.messages import Message, Prompt, Text
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.providers.faults import Service
from agent_cli.providers.http import Http
from agent_cli.providers.openai import Dialect, OpenAI
from agent_cli.providers.silent import SilentCuts
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
async def test_openai_itself_is_trusted_and_others_are_looked_at(dialect: Dialect):
    async with FakeService([Say("fine", usage={"prompt_tokens": 4_096, "completion_tokens": 1})]) as service:
        url = f"{service.url}/v1/chat/completions"
        provider = OpenAI(LLAMA, Http(Service("ollama", url), {}), name="ollama", dialect=dialect)
        try:
            pieces = [piece async for piece in provider.stream(prompt(80_000))]
        except ContextOverflow as problem:
            assert dialect == "compatible"
            assert problem.limit == 4_096
        else:
            assert dialect == "openai"
            assert isinstance(pieces[-1], Finished)
        finally:
            await provider.close()


def test_a_service_that_read_more_before_leaves_out_what_was_in_its_cache():
    cuts = SilentCuts("gateway", LLAMA)
    for read in (20_000, 2_000):
        finished = Finished((Text("ok"),), Usage(input=read, output=1), "llama3.2")
        assert cuts.found(prompt(80_000), finished, 80_000) is None

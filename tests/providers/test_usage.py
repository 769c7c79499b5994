from __future__ import annotations

import pytest

from agent_cli.kernel.events import UsageSoFar
from agent_cli.kernel.usage import Usage
from tests.fakes.http_server import Say
from tests.providers.families import answer_of, asking, pieces_of, serving

ANTHROPIC = {
    "input_tokens": 20,
    "cache_read_input_tokens": 1000,
    "cache_creation_input_tokens": 300,
    "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 100},
    "output_tokens": 50,
    "output_tokens_details": {"thinking_tokens": 30},
}
CHAT = {
    "prompt_tokens": 1320,
    "completion_tokens": 50,
    "total_tokens": 1370,
    "prompt_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 300},
    "completion_tokens_details": {"reasoning_tokens": 30},
}
GEMINI = {
    "promptTokenCount": 1320,
    "cachedContentTokenCount": 1000,
    "candidatesTokenCount": 20,
    "thoughtsTokenCount": 30,
    "toolUsePromptTokenCount": 4,
    "totalTokenCount": 1374,
}
RESPONSES = {
    "input_tokens": 1320,
    "input_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 300},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 30},
}


@pytest.mark.parametrize(
    ("family", "native", "usage"),
    [
        ("anthropic", ANTHROPIC, Usage(20, 1000, 300, 50, 30, 100)),
        ("anthropic", {"cache_read_input_tokens": None}, Usage(10, output=5)),
        ("openai", CHAT, Usage(20, 1000, 300, 50, 30)),
        ("openai", {"prompt_cache_hit_tokens": 4}, Usage(6, 4, output=5)),
        ("openai", {"prompt_tokens_details": None, "completion_tokens_details": None}, Usage(10, output=5)),
        (
            "openai",
            {"total_tokens": 22, "completion_tokens_details": {"reasoning_tokens": 7}},
            Usage(10, output=12, reasoning=7),
        ),
        ("gemini", GEMINI, Usage(324, 1000, 0, 50, 30)),
        ("gemini", {"candidatesTokenCount": None, "thoughtsTokenCount": 7}, Usage(10, output=7, reasoning=7)),
        ("responses", RESPONSES, Usage(20, 1000, 300, 50, 30)),
        ("responses", {"input_tokens_details": None, "output_tokens_details": None}, Usage(10, output=5)),
    ],
)
async def test_usage_is_split(family: str, native: dict[str, object], usage: Usage):
    async with serving(family, Say("Hi.", usage=native)) as (_, model):
        assert (await answer_of(model)).usage == usage


async def test_totals_of_anthropic_are_replaced_and_not_summed():
    async with serving("anthropic", Say("Hi.", usage=ANTHROPIC)) as (_, model):
        pieces = await pieces_of(model, asking(model))
    begun = [piece.usage for piece in pieces if isinstance(piece, UsageSoFar)]
    assert begun == [Usage(20, 1000, 300, 1, 0, 100)]
    assert pieces[-1].usage.output == 50


async def test_figures_with_every_chunk_are_replaced_too():
    async with serving("openai", Say("Hi.", usage=CHAT)) as (_, model):
        pieces = await pieces_of(model, asking(model))
    assert [piece.usage for piece in pieces if isinstance(piece, UsageSoFar)] == [pieces[-1].usage]


async def test_gemini_says_with_each_chunk_what_was_spent_so_far():
    async with serving("gemini", Say("Hello there.", usage=GEMINI)) as (_, model):
        pieces = await pieces_of(model, asking(model))
    assert [piece.usage for piece in pieces if isinstance(piece, UsageSoFar)] == 3 * [
        Usage(324, 1000, 0, 50, 30)
    ]


async def test_a_server_that_counts_nothing_gives_zeros():
    async with serving("openai", Say("Hi.", leave_out=("prompt_tokens",))) as (_, model):
        assert (await answer_of(model)).usage == Usage()

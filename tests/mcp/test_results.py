"""What a server returns, as the model reads it."""

from __future__ import annotations

from typing import Any

from agent_cli.mcp.results import LARGEST_TEXT, MOST_PIECES, output_of


def returned(*texts: str, structured: Any = None) -> Any:
    from mcp_types import CallToolResult, TextContent

    pieces: Any = [TextContent(type="text", text=text) for text in texts]
    return CallToolResult(content=pieces, structured_content=structured)


def test_of_an_endless_result_the_beginning_counts_and_that_it_was_cut():
    half = "x" * (LARGEST_TEXT // 2 + 1)
    one, two, cut = output_of(returned(half, half, "never")).for_model
    assert len(one.text) + len(two.text) == LARGEST_TEXT
    assert cut.text.startswith("[cut: ")
    assert len(output_of(returned(half)).for_model) == 1
    many = output_of(returned(*["piece"] * (MOST_PIECES + 50))).for_model
    assert len(many) == MOST_PIECES + 1
    assert many[-1].text == cut.text
    told = output_of(returned(structured={"rows": ["y" * LARGEST_TEXT]})).for_model
    assert [len(block.text) > 1_000 for block in told] == [True, False]

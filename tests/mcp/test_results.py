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
    (told,) = output_of(returned(half, half, "never")).for_model
    taken, cut = told.text.rsplit("\n", 1)
    assert len(taken.replace("\n", "")) == LARGEST_TEXT
    assert cut.startswith("[cut: ")
    assert output_of(returned(half)).for_model[0].text == half
    (many,) = output_of(returned(*["piece"] * (MOST_PIECES + 50))).for_model
    assert many.text.split("\n") == ["piece"] * MOST_PIECES + [cut]
    (rows,) = output_of(returned(structured={"rows": ["y" * LARGEST_TEXT]})).for_model
    assert rows.text.endswith(cut)


def test_texts_side_by_side_are_one_text_which_can_be_read_on():
    assert [block.text for block in output_of(returned("one", "two")).for_model] == ["one\ntwo"]

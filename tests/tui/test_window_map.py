"""The picture of the window in /context."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.context.breakdown import Share
from agent_cli.tui.blocks.window_map import FREE, FULL, ROWS, THRESHOLD, WindowMap
from agent_cli.tui.ink import DARK, ink_of

INK = ink_of(DARK)
SHARES = (Share("system prompt", 2_000), Share("messages", 30_000), Share("results of read_file", 8_000))


def drawn(made: WindowMap, width: int = 60) -> tuple[list[str], list[list[str]]]:
    """The texts of the lines, and the styles of the map's cells, line by line."""
    lines = made.body(width, INK)
    at = next(n for n, line in enumerate(lines) if any("What fills it" in piece.text for piece in line)) + 1
    return (
        ["".join(piece.text for piece in line) for line in lines],
        [[str(piece.style) for piece in line[1:]] for line in lines[at : at + ROWS]],
    )


def test_each_part_has_its_share_of_the_cells_in_a_colour_of_its_own_and_the_threshold_is_marked():
    texts, styles = drawn(WindowMap("Context", [], SHARES, (40_000, 200_000, 170_000)))
    cells = [style for row in styles for style in row]
    assert len(cells) == 40 * ROWS
    text = "\n".join(texts)
    assert text.count(FULL) == 40 + len(SHARES), "a fifth of the cells, and one in each row of the legend"
    assert len(set(cells[:40])) == len(SHARES)
    assert cells[0] != cells[2] != cells[39]
    assert cells[170] == str(INK.warn)
    assert "system prompt         2.0k  1.0%" in text
    assert f"{FREE} free" in text
    assert f"{THRESHOLD} threshold             170k  85.0%" in text


def test_a_window_that_nobody_knows_has_no_threshold_and_nothing_free():
    texts, _ = drawn(WindowMap("Context", [], SHARES, (40_000, None, 102_400)))
    text = "\n".join(texts)
    assert THRESHOLD not in text
    assert "free" not in text
    assert "messages              30k  75.0%" in text


@given(
    st.lists(st.integers(1, 300_000), min_size=1, max_size=12),
    st.none() | st.integers(1_000, 1_000_000),
    st.none() | st.integers(1, 1_000_000),
    st.integers(20, 200),
)
def test_whatever_fills_it_the_map_keeps_its_size(
    sizes: list[int], window: int | None, limit: int | None, width: int
):
    shares = tuple(Share(f"part {n}", size) for n, size in enumerate(sizes))
    _, styles = drawn(WindowMap("Context", [], shares, (sum(sizes), window, limit)), width)
    assert len({len(row) for row in styles}) == 1
    assert len(styles) == ROWS

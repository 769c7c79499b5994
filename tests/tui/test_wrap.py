"""Styled text wraps at words, at cells, and loses nothing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from agent_cli.tui.wrap import Line, cut, height, padded, wrap

BOLD = Style(bold=True)
TEXTS = st.lists(st.text(st.sampled_from("ab c漢é👍-"), max_size=20), min_size=1, max_size=5)


def texts(lines: list[Line]) -> list[str]:
    return ["".join(segment.text for segment in line) for line in lines]


@settings(deadline=None)
@given(TEXTS, st.integers(2, 30))
def test_every_line_fits_and_no_letter_is_lost(parts: list[str], width: int):
    line = [Segment(part, BOLD) for part in parts]
    rows = texts(wrap(line, width))
    assert all(cell_len(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == "".join(parts).replace(" ", "")


@settings(deadline=None)
@given(TEXTS, st.integers(2, 30))
def test_without_words_every_blank_stays(parts: list[str], width: int):
    rows = texts(wrap([Segment(part) for part in parts], width, words=False))
    assert "".join(rows) == "".join(parts)
    assert len(rows) == height("".join(parts), width)


def test_words_stay_whole_and_styles_stay_with_them():
    rows = wrap([Segment("one two "), Segment("three", BOLD), Segment(" four")], 9)
    assert texts(rows) == ["one two", "three", "four"]
    assert rows[1][0].style is BOLD


def test_a_word_longer_than_the_line_is_cut():
    assert texts(wrap([Segment("a aaaaaaaaaaaa b")], 5)) == ["a", "aaaaa", "aaaaa", "aa b"]


def test_wide_characters_count_twice():
    assert texts(wrap([Segment("漢字漢字")], 5)) == ["漢字", "漢字"]
    assert cut("漢字漢字", 5) == "漢字…"
    assert cut("abc", 5) == "abc"
    assert texts([padded([Segment("漢")], 4, BOLD)]) == ["漢  "]

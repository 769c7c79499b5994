"""Nothing of a model or a tool reaches the terminal as a control code."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.talk.untrusted import clean, clean_line
from tests.tui.samples import HOSTILE

ALLOWED_FORMAT = {"\u200c", "\u200d", "\u00ad"}
"""Joiners that emoji and scripts need, and the soft hyphen."""


def harmless(text: str) -> bool:
    return all(
        character == "\n"
        or character in ALLOWED_FORMAT
        or (
            unicodedata.category(character) not in {"Cc", "Cs"}
            and unicodedata.bidirectional(character)
            not in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
        )
        for character in text
    )


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_what_is_cleaned_holds_no_control_code(text: str):
    assert harmless(clean(text))
    assert "\n" not in clean_line(text)


@settings(deadline=None)
@given(st.text(st.sampled_from("a\x1b[]0;mP\\\x07\x9b\x9d\x90\r\t\n "), max_size=40))
def test_broken_escape_sequences_are_harmless_too(text: str):
    assert harmless(clean(text))


def test_sequences_are_dropped_and_other_bytes_are_named():
    assert (
        clean("\x1b[31mred\x1b[0m \x1b]0;title\x07x \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\") == "red x link"
    )
    assert clean("bell \x07 nul \x00 c1 \x85") == "bell \\x07 nul \\x00 c1 \\x85"
    assert clean("\u202eevil\u2066 \U000e0041 \ud800") == "\\u202eevil\\u2066 \\U000e0041 \\ud800"


def test_a_title_that_never_ends_takes_no_more_than_its_line():
    assert clean("before \x1b]0;title\nnext line") == "before \nnext line"


def test_tabs_and_carriage_returns():
    assert clean("a\tb\r\nc") == "a   b\nc"
    assert clean("10%\r50%\r100%\n") == "100%\n"


@pytest.mark.parametrize("text", ["plain", "ä 漢字 👩‍👩‍👧 e\u0301", "many\nlines\n"])
def test_ordinary_text_stays_as_it_is(text: str):
    assert clean(text) == text


def test_markup_is_text():
    assert "[bold]markup[/bold]" in clean(HOSTILE)

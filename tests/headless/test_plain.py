from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.headless.plain import one_line, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\x", "x"),
        ("\x1b(Bx\x1b7", "x"),
        ("a\r\nb\rc", "a\nb\\x0dc"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202edef", "abc\\u202edef"),
        ("ünï 日本 😀", "ünï 日本 😀"),
    ],
)
def test_what_a_terminal_would_obey_is_dropped_or_shown(text, shown):
    assert plain(text) == shown


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text):
    assert not any(ord(char) < 0x20 and char not in "\n\t" for char in plain(text))
    assert "\x1b" not in plain(text)


def test_one_line_is_bounded():
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("x" * 300, 10) == "x" * 9 + "…"

"""What a terminal sends comes through the reader of keys as what it is, however it is split."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.events import Key, Paste

from agent_cli.tui.incoming import Decoder, whole

COLOURED = "red \x1b[31mtext\x1b[0m \x1b and \x1b]0;title\x07 end"


def read(data: bytes, cuts: list[int]) -> list[Key | Paste]:
    """What Textual makes of these bytes when they come in these parts."""
    decoder, parser = Decoder(), XTermParser()
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    found: list[Key | Paste] = []
    for start, end in pairwise(places):
        if text := decoder.decode(data[start:end]):
            found += [event for event in parser.feed(text) if isinstance(event, Key | Paste)]
    return found


@given(st.text(alphabet="ab\x1b[201~é\n", max_size=30), st.lists(st.integers(0, 200), max_size=12))
def test_a_paste_comes_whole_between_keys(text: str, cuts: list[int]):
    pasted = text.replace("\x1b[201~", "").replace("\x1b[201~", "") or "x"
    if "\x1b[201~" in pasted + "\x1b[201~"[:-1]:
        pasted = "x"
    events = read(b"k\x1b[200~" + pasted.encode() + b"\x1b[201~z", cuts)
    assert [event.key for event in events if isinstance(event, Key)] == ["k", "z"]
    assert [whole(event.text) for event in events if isinstance(event, Paste)] == [pasted]


def test_without_the_decoder_it_would_be_broken():
    """The reason for all this; where it fails, Textual has mended it and the decoder can go."""
    parser = XTermParser()
    events = [
        event for event in parser.feed(f"\x1b[200~{COLOURED}\x1b[201~") if isinstance(event, Key | Paste)
    ]
    assert [event.text for event in events if isinstance(event, Paste)] != [COLOURED]


def test_escapes_of_keys_pass_as_they_are():
    decoder = Decoder()
    assert decoder.decode(b"\x1b[A\x1b") == "\x1b[A\x1b"
    assert decoder.decode(b"[200~a\x1bb\x1b[201~\x1b[B") == "[200~a\ue01bb\x1b[201~\x1b[B"


def test_bytes_that_are_no_text_are_replaced():
    assert Decoder().decode(b"a\xffb") == "a\ufffdb"


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        (b"a\x1b\rb", ["a", "alt+enter", "b"]),
        (b"\x1b[27;2;13~", ["shift+enter"]),
        (b"\x1b[27;5;13~x", ["ctrl+enter", "x"]),
        (b"\x1b[13;2u", ["shift+enter"]),
        (b"\x1b[1;3A", ["alt+up"]),
    ],
)
def test_keys_with_modifiers_as_terminals_send_them(sent: bytes, keys: list[str]):
    assert [event.key for event in read(sent, []) if isinstance(event, Key)] == keys

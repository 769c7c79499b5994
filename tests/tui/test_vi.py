"""The keys of vi: each command by what it leaves, and that no keys ever break anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.talk.door import Welcome
from agent_cli.tui.vi import Vi
from tests.fakes.screen import screen, shown, strike, until

NAMED = {"⎋": "escape", "®": "ctrl+r"}


def typed(keys: str, text: str, at: int = 0) -> tuple[str, int, list[str]]:
    """Text, cursor and actions after these keys, begun in normal mode with the cursor at `at`."""
    vi = Vi()
    vi.inserting = False
    actions: list[str] = []
    for key in keys:
        done = vi.press(NAMED.get(key, key), None if key in NAMED else key, text, at)
        if done is None:
            if vi.inserting and key not in NAMED:
                text, at = text[:at] + key + text[at:], at + 1
            continue
        assert 0 <= done.start <= done.end <= len(text)
        if done.text is not None:
            text = text[: done.start] + done.text + text[done.end :]
        at = done.at
        assert 0 <= at <= len(text)
        actions += [done.action] if done.action else []
    return text, at, actions


@pytest.mark.parametrize(
    ("keys", "text", "at", "after", "place"),
    (
        ("h", "abc", 1, "abc", 0),
        ("l", "abc", 2, "abc", 2),
        ("2l", "abcd", 0, "abcd", 2),
        ("w", "one two", 0, "one two", 4),
        ("w", "a.b", 0, "a.b", 1),
        ("W", "a.b c", 0, "a.b c", 4),
        ("b", "one two", 5, "one two", 4),
        ("b", "one two", 4, "one two", 0),
        ("B", "x a.b", 4, "x a.b", 2),
        ("e", "one two", 0, "one two", 2),
        ("e", "one two", 2, "one two", 6),
        ("0", "  ab", 3, "  ab", 0),
        ("^", "  ab", 3, "  ab", 2),
        ("$", "ab\ncd", 0, "ab\ncd", 1),
        ("G", "ab\n cd", 0, "ab\n cd", 4),
        ("gg", "ab\ncd", 4, "ab\ncd", 0),
        ("2G", "a\nb\nc", 0, "a\nb\nc", 2),
        ("j", "abc\nd", 2, "abc\nd", 4),
        ("k", "abc\nde", 5, "abc\nde", 1),
        ("fc", "abcabc", 0, "abcabc", 2),
        ("2fc", "abcabc", 0, "abcabc", 5),
        ("fc;", "abcabc", 0, "abcabc", 5),
        ("fc;,", "abcabc", 0, "abcabc", 2),
        ("tc", "abc", 0, "abc", 1),
        ("Fa", "abca", 3, "abca", 0),
        ("Ta", "abca", 3, "abca", 1),
        ("fz", "abc", 1, "abc", 1),
        ("x", "abc", 1, "ac", 1),
        ("x", "abc", 2, "ab", 1),
        ("3x", "abcd", 0, "d", 0),
        ("X", "abc", 1, "bc", 0),
        ("dw", "one two", 0, "two", 0),
        ("d2w", "a b c", 0, "c", 0),
        ("dw", "one\ntwo", 0, "\ntwo", 0),
        ("de", "one two", 0, " two", 0),
        ("db", "one two", 4, "two", 0),
        ("d$", "one two", 3, "one", 2),
        ("D", "one two", 3, "one", 2),
        ("d0", "one two", 4, "two", 0),
        ("dd", "a\nb\nc", 2, "a\nc", 2),
        ("dd", "a\nb", 2, "a", 0),
        ("dd", "abc", 1, "", 0),
        ("2dd", "a\nb\nc", 0, "c", 0),
        ("dj", "a\nb\nc", 0, "c", 0),
        ("dG", "a\nb\nc", 2, "a", 0),
        ("dfb", "abc", 0, "c", 0),
        ("dtb", "abc", 0, "bc", 0),
        ("diw", "one two", 5, "one ", 3),
        ("daw", "one two", 0, "two", 0),
        ("daw", "one two", 5, "one", 2),
        ("cwxyz⎋", "one two", 0, "xyz two", 2),
        ("cclong⎋", "a\nb", 2, "a\nlong", 5),
        ("Cx⎋", "one two", 4, "one x", 4),
        ("ciwnew⎋", "one two", 1, "new two", 2),
        ("sx⎋", "abc", 1, "axc", 1),
        ("rx", "abc", 1, "axc", 1),
        ("2rx", "abc", 0, "xxc", 1),
        ("~", "aBc", 1, "abc", 2),
        ("J", "a\n  b", 0, "a b", 1),
        ("yyp", "ab", 0, "ab\nab", 3),
        ("yyP", "ab", 1, "ab\nab", 0),
        ("ywP", "one two", 0, "one one two", 3),
        ("ddp", "a\nb", 0, "b\na", 2),
        ("xp", "abc", 0, "bac", 1),
        ("x2p", "abc", 0, "baac", 2),
        ("ix⎋", "ab", 1, "axb", 1),
        ("ax⎋", "ab", 0, "axb", 1),
        ("Ix⎋", "  ab", 3, "  xab", 2),
        ("Ax⎋", "ab", 0, "abx", 2),
        ("ox⎋", "ab\nc", 0, "ab\nx\nc", 3),
        ("Ox⎋", "ab", 1, "x\nab", 0),
        ("d⎋x", "abc", 0, "bc", 0),
        ("Z", "abc", 1, "abc", 1),
        ("dZ", "abc", 1, "abc", 1),
    ),
)
def test_what_a_command_does(keys: str, text: str, at: int, after: str, place: int):
    assert typed(keys, text, at)[:2] == (after, place)


def test_what_is_not_in_the_text_is_asked_of_the_line():
    assert typed("u", "abc")[2] == ["undo"]
    assert typed("®", "abc")[2] == ["redo"]
    assert typed("k", "abc")[2] == ["up"]
    assert typed("j", "abc")[2] == ["down"]


def test_escape_backs_out_of_vi_first_and_then_of_what_is_around_it():
    vi = Vi()
    assert vi.press("escape", None, "abc", 3) is not None
    vi.press("d", "d", "abc", 2)
    assert vi.press("escape", None, "abc", 2) is not None
    assert vi.press("escape", None, "abc", 2) is None


def test_a_command_can_be_begun_on_an_empty_line():
    vi = Vi()
    vi.press("escape", None, "", 0)
    assert vi.press("slash", "/", "", 0) is None
    assert vi.inserting


@given(
    st.text("hlwbeWBE0^$gGfFtT;,dcyiaIAoOxXDCYsSr~JpPuvw12⎋®z ", max_size=40),
    st.text("ab. \n_é", max_size=30),
)
def test_no_keys_lead_out_of_the_text(keys: str, text: str):
    typed(keys, text, 0)


@given(st.text("ab \n", min_size=1, max_size=30), st.data())
def test_what_is_cut_and_put_back_is_the_text(text: str, data: st.DataObject):
    at = data.draw(st.integers(0, len(text) - 1))
    motion = data.draw(st.sampled_from(["w", "e", "$", "fa", "l"]))
    cut, place, _ = typed(f"d{motion}", text, at)
    if len(cut) < len(text) and place == at:
        assert typed(f"d{motion}P", text, at)[0] == text


async def test_the_line_has_the_keys_of_vi_where_config_says_so():
    async with screen(welcome=Welcome(vi=True)) as (app, pilot):
        composer = app.conversation.composer
        strike(app, "one two")
        await until(pilot, lambda: composer.text == "one two")
        await pilot.press("escape")
        await until(pilot, lambda: "NORMAL" in shown(app))
        await pilot.press("b", "c", "w")
        strike(app, "three")
        await until(pilot, lambda: composer.text == "one three")
        await pilot.press("escape", "u")
        await until(pilot, lambda: composer.text != "one three")


async def test_without_it_the_letters_are_letters():
    async with screen() as (app, pilot):
        await pilot.press("escape")
        strike(app, "dd")
        await until(pilot, lambda: app.conversation.composer.text == "dd")
        assert "NORMAL" not in shown(app)


async def test_nothing_moves_by_itself_where_config_says_so():
    async with screen(welcome=Welcome(motion=False)) as (app, _):
        assert app.animation_level == "none"

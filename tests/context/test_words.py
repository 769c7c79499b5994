"""The operator's own words over any number of reductions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.context.reduce import composed, last_words
from agent_cli.context.view import SUMMARY_OPENING, Item
from agent_cli.context.words import LAST_HEADING, Rooms, section, words_in
from agent_cli.kernel.messages import Text

messages = st.lists(st.text("abcé \n", min_size=1, max_size=300).filter(str.strip), min_size=1, max_size=8)


@given(st.lists(messages, min_size=1, max_size=4), st.integers(40, 600), st.integers(0, 1_200))
def test_the_last_message_stays_whole_however_often_it_is_reduced(
    rounds: list[list[str]], room: int, last: int
):
    rooms = Rooms(room, last)
    text, newest = "", ""
    for number, said in enumerate(rounds):
        before = (Item(number, "user", Text(SUMMARY_OPENING + text)),) if text else ()
        items = (*before, *(Item(100 + at, "user", Text(one)) for at, one in enumerate(said)))
        text, newest = composed("S", items, rooms), said[-1]
    if len(newest.encode()) <= max(room, last):
        assert text.rstrip().endswith(newest.strip())
        assert last_words(SUMMARY_OPENING + text) == newest.strip()
    assert len(text.encode()) <= max(room, last) + room + 2_000


def test_a_long_last_message_leaves_something_of_the_room_to_those_before_it():
    text = section(["never touch main.py", "x" * 5_000], Rooms(1_000, 6_000))
    assert "never touch main.py" in text
    assert text.endswith("x" * 5_000)
    assert text.count(LAST_HEADING) == 1


def test_what_an_earlier_version_wrote_is_read_as_one_message():
    assert words_in("first\n\nsecond") == ("", "first\n\nsecond")
    assert words_in(f"first\n\n{LAST_HEADING}\n\nsecond") == ("first", "second")
    assert words_in("") == ("", "")

"""A stream is cut into pieces; how it arrives changes nothing of what is shown."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.tui.blocks.answer import Answer
from agent_cli.tui.blocks.code import Code
from agent_cli.tui.blocks.item import Item
from tests.fakes.screen import INK, rendered
from tests.tui.samples import MARKDOWN


def whole(text: str) -> Answer:
    answer = Answer()
    answer.feed(text)
    answer.finish()
    return answer


def lines(answer: Answer, width: int = 80) -> str:
    return "\n".join(text for item in answer.items if (text := rendered(item, width)))


PIECES = st.lists(
    st.sampled_from(
        [
            "# head\n",
            "text ",
            "**bold**",
            "\n",
            "\n\n",
            "- item\n",
            "  more\n",
            "1. one\n",
            "```py\n",
            "```\n",
            "x = 1\n",
            "~~~\n",
            "| a | b |\n",
            "|---|---|\n",
            "> quote\n",
            "    code\n",
            "`",
            "---\n",
            "   ```\n",
            "\t",
            "2) two\n",
        ]
    ),
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(PIECES, st.lists(st.integers(1, 30), max_size=20))
def test_the_portions_do_not_matter(pieces: list[str], sizes: list[int]):
    text = "".join(pieces)
    answer, at = Answer(), 0
    for size in [*sizes, len(text) + 1]:
        answer.feed(text[at : at + size])
        at += size
        answer.take()
        lines(answer)
    answer.finish()
    assert lines(answer) == lines(whole(text))
    assert answer.source() == text


def test_a_dash_may_still_become_a_rule():
    answer = Answer()
    for part in ("- item\n-", "--\n"):
        answer.feed(part)
        answer.take()
    answer.finish()
    assert lines(answer) == lines(whole("- item\n---\n"))


def test_each_character_alone_gives_the_same_as_all_at_once():
    answer = Answer()
    for character in MARKDOWN:
        answer.feed(character)
        answer.take()
    answer.finish()
    assert lines(answer) == lines(whole(MARKDOWN))


def test_a_finished_piece_is_never_set_again():
    answer = Answer()
    answer.feed("First paragraph.\n\nSecond para")
    first, second = answer.take()
    first.layout(80, INK)
    made = first.line(1)
    answer.feed("graph.\n\nThird")
    answer.take()
    assert first.line(1) is made
    assert second.source() == "Second paragraph."


def test_take_returns_what_is_new():
    answer = Answer()
    answer.feed("one\n\ntwo")
    assert [item.source() for item in answer.take()] == ["one", "two"]
    answer.feed(" and more")
    assert answer.take() == []
    answer.feed("\n\nthree")
    assert [item.source() for item in answer.take()] == ["three"]
    assert answer.finish() == []


def test_blank_lines_inside_a_fence_end_nothing():
    answer = whole("before\n```python\na = 1\n\n\nb = 2\n```\nafter")
    assert [type(item).__name__ for item in answer.items] == ["Prose", "Code", "Prose"]
    assert answer.codes() == ["a = 1\n\n\nb = 2"]


def test_a_fence_that_is_never_closed_is_code():
    answer = whole("```\na\n\nb")
    assert [item.source() for item in answer.items] == ["a\n\nb"]
    assert isinstance(answer.items[0], Code)
    assert not answer.items[0].open


def test_a_longer_fence_holds_a_shorter_one():
    assert whole("````md\n```py\nx\n```\n````\n").codes() == ["```py\nx\n```"]


def test_list_items_are_pieces_and_their_continuations_belong_to_them():
    answer = whole("- one\n\n  still one\n- two\n   - nested\n- three\n\ntext")
    assert [item.source() for item in answer.items] == [
        "- one\n\n  still one",
        "- two\n   - nested",
        "- three",
        "text",
    ]
    assert [item.gap for item in answer.items] == [1, 0, 0, 1]


def test_a_fence_in_a_list_item_stays_in_it():
    answer = whole("1. do this\n   ```sh\n   ls\n\n   pwd\n   ```\n2. then that")
    assert len(answer.items) == 2
    assert answer.codes() == ["ls\n\npwd"]


def test_the_pieces_belong_together():
    answer = whole("one\n\ntwo")
    groups: list[object] = [item.group for item in answer.items]
    assert groups == [answer, answer]


def test_an_open_table_is_plain_until_it_is_whole():
    answer = Answer()
    answer.feed("| a | b |\n|---|---|\n| 1 | 2")
    (table,) = answer.take()
    assert "|---|---|" in rendered(table, 40)
    answer.finish()
    assert "─┼─" in rendered(table, 40)


def test_an_answer_that_grows_costs_what_is_new():
    """Laying out after each portion touches the open piece only."""
    made: list[Item] = []
    answer = Answer()
    for number in range(300):
        answer.feed(f"Paragraph {number} of the answer.\n\n")
        answer.take()
        made.extend(item for item in answer.items if item.known(80) is None)
        for item in answer.items:
            item.layout(80, INK)
    assert len(made) <= 2 * 300

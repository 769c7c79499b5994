"""Only what is near the screen is laid out; every line belongs to one item."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.segment import Segment

from agent_cli.tui.blocks.item import Item
from agent_cli.tui.column import KEEP_LINES, Column
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line
from tests.fakes.screen import INK


class Rows(Item):
    """A given number of rows; guesses badly, and counts how often it was laid out."""

    made = 0

    def __init__(self, rows: int) -> None:
        super().__init__(gap=0)
        self.rows = rows

    def body(self, width: int, ink: Ink) -> list[Line]:
        Rows.made += 1
        return [[Segment(f"row {row}")] for row in range(self.rows)]

    def estimate(self, width: int) -> int:
        return 3


def column(*rows: int) -> Column:
    made = Column()
    made.shape(80, INK)
    made.add([Rows(count) for count in rows])
    return made


def test_ten_thousand_items_cost_what_the_screen_shows():
    Rows.made = 0
    long = column(*[5] * 10_000)
    while long.measure(20_000, 40):
        pass
    assert 0 < Rows.made < 100
    assert len(long.starts) == 10_001


def test_what_was_measured_is_not_made_again():
    small = column(1, 2, 3)
    assert small.measure(0, 10)
    assert not small.measure(0, 10)
    Rows.made = 0
    small.measure(0, 10)
    assert Rows.made == 0
    assert small.starts == [0, 1, 3, 6]


def test_every_line_finds_its_item():
    small = column(1, 0, 2)
    small.measure(0, 10)
    assert [small.find(y) for y in range(4)] == [(0, 0), (2, 0), (2, 1), None]
    assert "".join(segment.text for segment in small.line(2)[1]) == "row 1"


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("adu"), st.integers(0, 9), st.integers(0, 4)), max_size=40))
def test_starts_are_the_sums_of_the_heights(steps: list[tuple[str, int, int]]):
    some = column(2, 2)
    for what, at, rows in steps:
        if what == "a":
            some.add([Rows(rows)], at=min(at, len(some.items)))
        elif some.items and what == "d":
            some.drop([some.items[at % len(some.items)]])
        elif some.items:
            some.update(some.items[at % len(some.items)])
        if rows % 2:
            some.measure(at, 5)
        assert some.starts == [sum(some.heights[:count]) for count in range(len(some.items) + 1)]


def test_another_width_makes_heights_guesses_again():
    small = column(1, 1)
    small.measure(0, 10)
    small.shape(40, INK)
    assert small.heights == [3, 3]


def test_lines_far_away_are_given_back():
    long = column(*[10] * 2_000)
    for top in range(0, 12_000, 30):
        while long.measure(top, 40):
            pass
    kept = [item for item in long.items if isinstance(item, Rows) and item._lines]
    assert sum(item.rows for item in kept) <= KEEP_LINES + 4 * 40 + 200
    assert all(item.known(80) == 10 for item in kept)

"""What is typed before there is anything to type into comes in its order."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.events import Key
from textual.widgets import Input

from agent_cli.tui.early import PERIOD, Patient
from tests.fakes.screen import until


class Waiting(Patient[None]):
    def compose(self) -> ComposeResult:
        yield Input()

    def strike(self, text: str) -> None:
        for letter in text:
            self.post_message(Key(letter, letter))


async def test_keys_that_came_early_are_not_overtaken_by_later_ones():
    app = Waiting()
    async with app.run_test() as pilot:
        entry = app.query_one(Input)
        entry.focus()
        app.strike("one")
        await until(pilot, lambda: len(app._early) == 3)
        app.strike("two")  # is on its way when the first are taken
        app.accept()
        app.strike("six")
        await until(pilot, lambda: len(entry.value) == 9)
        assert entry.value == "onetwosix"


async def test_a_key_behind_a_frame_waits_for_no_more_than_two_short_periods():
    app = Waiting()
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.screen._update_timer._interval == PERIOD < 1 / 100

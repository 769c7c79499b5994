"""A list that is left before what it looked for has come, and a command that is typed over it."""

from __future__ import annotations

import threading

from agent_cli.talk.stage import Picking, Row
from agent_cli.tui.picker import Picker
from tests.fakes.screen import screen, sees, strike, until


async def test_a_preview_that_comes_after_the_choice_is_nobodys():
    """Between the choice and the end of its own work the list has no parts any more."""
    chosen: list[str] = []
    picking = Picking("Which?", lambda: [Row("a", "the first")], chosen.append, preview=lambda key: key)
    async with screen() as (app, pilot):
        app.conversation.stage.pick(picking)
        await sees(pilot, "the first")
        picker = app.screen.query_one(Picker)
        await pilot.press("enter")
        await until(pilot, lambda: chosen == ["a"] and not picker.children)
        await picker._look("a")
        assert app.crash == ""


async def test_rows_that_come_after_it_was_left_are_nobodys():
    asked, go_on = threading.Event(), threading.Event()

    def rows() -> list[Row]:
        asked.set()
        go_on.wait(30)
        return [Row("a", "the first")]

    async with screen() as (app, pilot):
        app.conversation.stage.pick(Picking("Which?", rows, lambda _: None))
        await until(pilot, asked.is_set)
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is app.conversation.composer)
        go_on.set()
        await pilot.pause()
        assert app.crash == ""


async def test_a_command_is_typed_over_a_list():
    async with screen() as (app, pilot):
        app.conversation.stage.pick(Picking("Which?", lambda: [Row("a", "the first")], lambda _: None))
        await sees(pilot, "the first")
        await pilot.press("slash")
        await until(pilot, lambda: app.focused is app.conversation.composer)
        strike(app, "help")
        await until(pilot, lambda: app.conversation.composer.text == "/help")


async def test_a_slash_within_a_filter_is_a_letter():
    async with screen() as (app, pilot):
        rows = [Row("a", "vendor/one"), Row("b", "two")]
        app.conversation.stage.pick(Picking("Which?", lambda: rows, lambda _: None))
        await sees(pilot, "two")
        strike(app, "r/o")
        await until(pilot, lambda: "two" not in str(pilot.app.screen.query("OptionList").first().options))


async def test_a_long_list_takes_no_more_room_than_it_shows():
    rows = [Row(str(number), f"row {number}") for number in range(40)]
    async with screen(size=(80, 24)) as (app, pilot):
        app.conversation.stage.pick(Picking("Which?", lambda: rows, lambda _: None))
        await sees(pilot, "row 11")
        picker = app.screen.query_one(Picker)
        await until(pilot, lambda: picker.size.height == 2 + 12)
        await pilot.resize_terminal(80, 16)
        await until(pilot, lambda: picker.size.height == 2 + 8)
        strike(app, "row 39")
        await until(pilot, lambda: picker.size.height == 2 + 1)


async def test_what_comes_of_a_choice_is_seen():
    async with screen(size=(80, 24)) as (app, pilot):
        strike(app, "/help")
        await pilot.press("enter")
        await sees(pilot, "Beginnings")
        await until(pilot, lambda: not app.conversation.reader.follows)
        app.conversation.stage.pick(Picking("Which?", lambda: [Row("a", "the first")], lambda _: None))
        await sees(pilot, "the first")
        await pilot.press("enter")
        await until(pilot, lambda: app.conversation.reader.follows)

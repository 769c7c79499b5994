"""The transcript on a screen: following, holding still, resizing, copying."""

from __future__ import annotations

import pytest
from textual.geometry import Offset
from textual.selection import Selection

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.tui.blocks.markdown import Prose
from agent_cli.tui.blocks.notice import Notice
from tests.fakes.screen import answer, screen, sees, shown, turn, until
from tests.fakes.session import FakeSession
from tests.tui.samples import MARKDOWN, whole_turn


def first_line(text: str) -> str:
    return text.split("\n", maxsplit=1)[0]


async def test_it_follows_while_at_the_bottom():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        for number in range(60):
            session.play(ev.TextDelta(f"Paragraph {number}.\n\n"))
        await sees(pilot, "Paragraph 59.")
        assert app.conversation.reader.follows


async def test_it_stays_where_the_reader_scrolled_to():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session)
        session.play(*(ev.TextDelta(f"Paragraph {number}.\n\n") for number in range(60)))
        await sees(pilot, "Paragraph 59.")
        await pilot.press("pageup")
        await until(pilot, lambda: "Paragraph 59." not in shown(app))
        before = first_line(shown(app))
        session.play(*(ev.TextDelta(f"Later {number}.\n\n") for number in range(60)))
        frames = app.conversation.feed.frames
        await until(pilot, lambda: app.conversation.feed.frames > frames)
        assert first_line(shown(app)) == before
        await sees(pilot, "↓ more below")
        await pilot.press(*["pagedown"] * 10)
        await sees(pilot, "Later 59.")
        assert app.conversation.reader.follows


async def test_scrolling_up_over_guessed_heights_loses_no_line():
    """Two thousand answers whose heights are only guessed: every paragraph appears once, in order."""
    session = FakeSession()
    for number in range(2_000):
        text = f"Answer {number}. " + "and more words " * (number % 40)
        session.play(ev.AssistantMessage((Text(text),), "p", "m"))
    async with screen(session) as (app, pilot):
        await sees(pilot, "Answer 1999.")
        seen: list[int] = [1999]
        for _ in range(20):
            await pilot.press("pageup")
            numbers = [
                int(line.split(".")[0].split()[1]) for line in shown(app).split("\n") if "Answer " in line
            ]
            assert numbers == sorted(numbers)
            assert numbers[-1] >= seen[-1] - 1, "a jump over lines that were never shown"
            seen.append(numbers[0])
        assert seen[-1] < 1_950


async def test_a_storm_of_resizes_ends_at_the_bottom_and_whole():
    session = FakeSession()
    whole_turn(session)
    async with screen(session) as (app, pilot):
        for width, height in [(40, 10), (120, 40), (20, 5), (81, 24), (33, 9), (200, 60), (80, 24)] * 2:
            await pilot.resize_terminal(width, height)
        await sees(pilot, "── done")
        assert app.conversation.reader.follows
        await sees(pilot, "It is repaired; parse raises now.")


async def test_a_resize_keeps_what_is_read_in_place():
    session = FakeSession()
    session.play(
        *(ev.AssistantMessage((Text(f"Number {n}. " + "word " * 60),), "p", "m") for n in range(200))
    )
    async with screen(session) as (app, pilot):
        await sees(pilot, "Number 199.")
        for _ in range(4):
            await pilot.press("pageup")
        top = app.conversation.reader.column.find(app.conversation.reader.scroll_offset.y)
        assert top is not None
        await pilot.resize_terminal(50, 30)
        await pilot.pause()
        after = app.conversation.reader.column.find(app.conversation.reader.scroll_offset.y)
        assert after is not None
        assert after[0] == top[0]


async def test_the_smallest_terminals():
    session = FakeSession()
    whole_turn(session)
    for size in [(20, 5), (10, 3), (3, 2), (1, 1)]:
        async with screen(session, size=size) as (app, pilot):
            await pilot.press("x")
            assert app.conversation.composer.text == "x"


async def test_ten_thousand_items_lay_out_what_is_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_cli.tui.older.AT_ONCE", 20_000)
    session = FakeSession()
    session.play(*(ev.OperatorNote(f"note {number}") for number in range(10_000)))
    async with screen(session) as (app, pilot):
        await sees(pilot, "note 9999")
        column = app.conversation.reader.column
        assert len(column.items) == 10_002
        assert sum(item.known(column._width) is not None for item in column.items) < 300


async def test_two_thousand_tokens_are_few_frames_and_every_piece_is_made_once():
    session = FakeSession()
    text = (MARKDOWN * 12)[:8_000]
    async with screen(session) as (app, pilot):
        turn(session)
        frames = app.conversation.feed.frames
        for at in range(0, len(text), 20):
            session.play(ev.TextDelta(text[at : at + 20]))
            if at % 400 == 0:
                await pilot.pause()
        session.play(ev.AssistantMessage((Text(text),), "p", "m"), ev.TurnCompleted("completed", "stop"))
        await sees(pilot, "── done")
        assert 1 <= app.conversation.feed.frames - frames <= 60
        answers = [item for item in app.conversation.reader.column.items if isinstance(item, Prose)]
        assert len(answers) > 50


async def test_a_selection_with_the_mouse_is_copied():
    session = FakeSession()
    session.play(ev.AssistantMessage((Text("alpha beta\n\ngamma"),), "p", "m"))
    async with screen(session) as (app, pilot):
        await sees(pilot, "gamma")
        reader = app.conversation.reader
        y = next(at for at, line in enumerate(shown(app).split("\n")) if "alpha" in line)
        selection = Selection(Offset(8, y), Offset(4, y + 2))
        assert reader.get_selection(selection) == ("beta\n\n  ga", "\n")
        await pilot.mouse_down(reader, offset=(2, y))
        await pilot.hover(reader, offset=(7, y))
        await pilot.mouse_up(reader, offset=(7, y))
        await until(pilot, lambda: app.clipboard.startswith("alpha"))
        await sees(pilot, "copied the selection")
        await pilot.press("escape")
        assert not app.screen.selections


async def test_wide_characters_are_measured_in_cells():
    session = FakeSession()
    session.play(ev.AssistantMessage((Text("漢字" * 60 + " 👩‍👩‍👧 e\u0301"),), "p", "m"))
    async with screen(session, size=(41, 20)) as (app, pilot):
        await sees(pilot, "漢字")
        for strip in app.screen._compositor.render_strips():
            assert strip.cell_length == 41


async def test_other_colours_repaint_everything():
    session = FakeSession()
    whole_turn(session)
    async with screen(session) as (app, pilot):
        before = app.export_screenshot()
        app.theme = "agent-light"
        await until(pilot, lambda: app.export_screenshot() != before)
        assert "#fbfbfa" in app.export_screenshot()


async def test_clearing_leaves_the_screen_empty_and_usable():
    session = FakeSession()
    whole_turn(session)
    async with screen(session) as (app, pilot):
        app.conversation.reader.clear()
        app.conversation.put(Notice("after"))
        await sees(pilot, "after")
        assert "repaired" not in shown(app)


async def test_clearing_the_screen_leaves_what_is_not_done_yet():
    session = FakeSession()
    async with screen(session) as (app, pilot):
        turn(session, "an old question")
        call = ToolCall("c1", "bash", {"command": "make"})
        session.play(ev.ToolCallProposed(call), ev.ToolCallStarted("c1", "bash", "make", "allow"))
        session.play(ev.ReasoningDelta("a thought"), ev.TextDelta("One paragraph.\n\nHalf of"))
        await sees(pilot, "Half of")
        app.conversation.desk.take("/clear")
        await sees(pilot, "The screen is empty")
        assert "an old question" not in shown(app)
        session.play(ev.TextDelta(" another."), ev.ToolReturned("c1", "bash", ev.Output((Text("made"),))))
        await sees(pilot, "Half of another.")
        await sees(pilot, "made")
        answer(session, "One paragraph.\n\nHalf of another.")
        await sees(pilot, "done")
        assert shown(app).count("Half of another.") == 1

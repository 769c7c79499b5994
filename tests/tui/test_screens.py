"""Whole screens: as text and as pictures at four widths, and in light colours."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from agent_cli.kernel import events as ev
from agent_cli.talk.door import Welcome
from tests.fakes.screen import pictured, screen, sees, shown, still
from tests.fakes.session import FakeSession
from tests.tui.samples import HOSTILE, whole_turn

SIZES = [(40, 16), (80, 24), (120, 40), (200, 50)]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size[0]))
async def test_a_turn(size: tuple[int, int], words: SnapshotAssertion, picture: SnapshotAssertion):
    session = FakeSession()
    whole_turn(session)
    async with screen(session, size=size) as (app, pilot):
        await sees(pilot, "── done")
        assert await still(pilot) == words
        assert pictured(app) == picture


@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_colours(theme: str, picture: SnapshotAssertion):
    session = FakeSession()
    whole_turn(session)
    session.play(
        ev.GuardrailTrip("watchdog", "repeated-call", "halt", "turn", "The same call five times.", True)
    )
    welcome = Welcome("0.1.0", "~/src/parser", "scripted-1", theme=theme)
    async with screen(session, size=(100, 48), welcome=welcome) as (app, pilot):
        await sees(pilot, "five times")
        await still(pilot)
        assert pictured(app) == picture


async def test_without_colour_nothing_is_lost(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    session = FakeSession()
    whole_turn(session)
    async with screen(session, size=(80, 40)) as (app, pilot):
        await sees(pilot, "── done")
        text = shown(app)
        for sign in ("✓ edit_file", "✗ bash", "- ", "+ ", "failed"):
            assert sign in text
        colours = {
            segment.style.color.triplet
            for strip in app.screen._compositor.render_strips()
            for segment in strip.apply_filter(app._filters[0], app.screen.styles.background)
            if segment.style and segment.style.color and segment.style.color.triplet
        }
        assert all(red == green == blue for red, green, blue in colours)


async def test_no_byte_of_a_model_reaches_the_terminal_as_a_control_code():
    """The bytes that a frame writes hold no escape sequence that the text brought along."""
    session = FakeSession()
    session.play(ev.OperatorNote(HOSTILE), ev.TurnStarted(HOSTILE), ev.TextDelta(HOSTILE))
    session.play(
        ev.ReasoningDelta(HOSTILE), ev.ArgumentsDelta("c", HOSTILE, HOSTILE), ev.ToolProgress("c", HOSTILE)
    )
    async with screen(session, size=(120, 40)) as (app, pilot):
        await sees(pilot, "\\u202eevil")
        update = app.screen._compositor.render_update(full=True)
        assert update is not None
        written = update.render_segments(app.console)
        for bad in ("\x1b]0;", "\x07", "\x08", "\x9b", "\x00", "\u202e", "\U000e0041"):
            assert bad not in written

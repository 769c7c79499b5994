"""The screen under test: an app on a fake session, how to wait for it, and what it shows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual import events
from textual.app import App
from textual.pilot import Pilot

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text
from agent_cli.talk.door import Door, Welcome
from agent_cli.tui.app import AgentApp
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.ink import DARK, ink_of
from tests.fakes.pictures import svg
from tests.fakes.session import FakeSession

INK = ink_of(DARK)
ROUNDS = 50
"""Turns of the loop in which no timer is to be seen."""
WELCOME = Welcome("0.1.0", "~/src/parser", "scripted-1")


def rendered(item: Item, width: int) -> str:
    """The lines of one item, as text."""
    height = item.layout(width, INK)
    lines = ["".join(segment.text for segment in item.line(row)) for row in range(height)]
    return "\n".join(line.rstrip() for line in lines)


def drawn(item: Item, width: int) -> str:
    """The lines of one item as a picture."""
    return svg([item.line(row) for row in range(item.layout(width, INK))], width)


def pictured(app: App[Any]) -> str:
    """What the whole screen shows, as a picture."""
    return svg(app.screen._compositor.render_strips(), app.size.width)


def shown(app: App[Any]) -> str:
    """What the whole screen shows, as text. The compositor is private to Textual; this is the only use of it."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


async def until(pilot: Pilot[Any], true: Callable[[], object], seconds: float = 30.0) -> None:
    """Waits until that holds."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"it never came to that:\n{shown(pilot.app)}"
        await asyncio.sleep(0.005)


async def still(pilot: Pilot[Any]) -> str:
    """What the screen shows once nothing moves any more."""
    before = ""
    while (now := shown(pilot.app)) != before:
        before = now
        await pilot.pause()
        await pilot.pause()
    return now


def timers() -> list[Any]:
    """What the loop would wake for."""
    loop: Any = asyncio.get_running_loop()
    return [handle for handle in loop._scheduled if not handle.cancelled()]


async def nothing_wakes() -> bool:
    for _ in range(ROUNDS):
        if timers():
            return False
        await asyncio.sleep(0)
    return True


async def comes_to_rest(seconds: float = 20.0) -> None:
    """Waits until nothing more would happen by itself."""
    end = time.monotonic() + seconds
    while not await nothing_wakes():
        assert time.monotonic() < end, timers()
        await asyncio.sleep(0.01)


def strike(app: App[Any], text: str) -> None:
    """The keys of that text, as the terminal sends them: without waiting for the screen in between."""
    for character in text:
        app.post_message(events.Key("space" if character == " " else character, character))


@asynccontextmanager
async def screen(
    session: Door | None = None, size: tuple[int, int] = (80, 24), welcome: Welcome = WELCOME, **options: Any
) -> AsyncIterator[tuple[AgentApp, Pilot[Any]]]:
    """An app that has drawn its session."""
    opened = session if session is not None else FakeSession()

    async def open_session() -> Door:
        return opened

    app = AgentApp(open_session, welcome=welcome, **options)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.session is opened and app.conversation.feed.frames)
        yield app, pilot


async def sees(pilot: Pilot[Any], text: str) -> None:
    await until(pilot, lambda: text in shown(pilot.app))


def turn(session: FakeSession, text: str = "go on") -> None:
    """A turn begins."""
    session.play(
        ev.TurnStarted("scripted-1"), ev.OperatorMessage((Text(text),)), ev.StepStarted("scripted-1")
    )


def answer(session: FakeSession, text: str) -> None:
    """An answer that was not streamed, and the end of its turn."""
    session.play(
        ev.AssistantMessage((Text(text),), "scripted", "scripted-1"), ev.TurnCompleted("completed", "stop")
    )

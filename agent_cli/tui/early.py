"""What is typed before there is anything to type into."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

from textual import constants
from textual.app import App
from textual.driver import Driver
from textual.events import Event, Key, Paste

from agent_cli.tui.incoming import whole

Result = TypeVar("Result")


class Patient(App[Result], inherit_bindings=False):
    """Keeps keys that come before `accept`, and takes them then, in their order."""

    def __init__(self) -> None:
        super().__init__()
        _hasten()
        self._accepts = False
        self._early: list[Key | Paste] = []

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Paste):
            event.text = whole(event.text)
        if isinstance(event, Key | Paste) and not self._accepts:
            self._early.append(event)
        else:
            await super().on_event(event)

    def get_driver_class(self) -> type[Driver]:
        if sys.platform == "win32" or constants.DRIVER:
            return super().get_driver_class()
        from agent_cli.tui.reading import TerminalDriver

        return TerminalDriver

    def accept(self) -> None:
        self.call_later(self._take_early)

    async def _take_early(self) -> None:
        """Here and not by way of the queue: in that, later keys may stand already, and would overtake these.

        The terminal made line feeds of the Enters that came before it was asked not to.
        """
        early, self._early = self._early, []
        self._accepts = True
        for event in early:
            entered = isinstance(event, Key) and event.key == "ctrl+j"
            await super().on_event(Key("enter", "\r") if entered else event)


PERIOD = 1 / 120
"""Seconds between two looks at whether something is to be painted."""


def _hasten() -> None:
    """A key that comes right behind a frame waits up to two periods of Textual's (8.x, timer.py skips one too many): 33 ms
    with its own. Frames are no more by that: text that streams is shown at most ten times a second.
    """
    from textual import screen

    period: Any = screen
    period.UPDATE_PERIOD = PERIOD

"""What is typed before there is anything to type into."""

from __future__ import annotations

from typing import TypeVar

from textual.app import App
from textual.events import Event, Key, Paste

Result = TypeVar("Result")


class Patient(App[Result], inherit_bindings=False):
    """Keeps keys that come before `accept`, and takes them then, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self._accepts = False
        self._early: list[Key | Paste] = []

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Key | Paste) and not self._accepts:
            self._early.append(event)
        else:
            await super().on_event(event)

    def accept(self) -> None:
        """The terminal made line feeds of the Enters that came before it was asked not to."""
        self._accepts = True
        for event in self._early:
            entered = isinstance(event, Key) and event.key == "ctrl+j"
            self.post_message(Key("enter", "\r") if entered else event)
        self._early.clear()

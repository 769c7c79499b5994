"""One line to type into."""

from __future__ import annotations

from textual.widgets import Input


class Entry(Input):
    """Its cursor stands still: one that blinks would wake the program twice a second, and moves where nothing shall."""

    def __init__(self, placeholder: str = "", *, password: bool = False) -> None:
        super().__init__(placeholder=placeholder, password=password, compact=True)
        self.cursor_blink = False

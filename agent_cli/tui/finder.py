"""The line in which one types what to search for in the transcript."""

from __future__ import annotations

from textual.widgets import Input


class Finder(Input):
    DEFAULT_CSS = """
    Finder { height: 1; border: none; padding: 0 1; margin: 1 1 0 1; background: $surface; border-left: outer $accent; }
    Finder:focus { border: none; border-left: outer $accent; }
    """

    def __init__(self) -> None:
        super().__init__(placeholder="search upwards; Enter finds, n and N go on", compact=True)

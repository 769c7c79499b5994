"""The line in which one types what to search for in the transcript."""

from __future__ import annotations

from agent_cli.tui.entry import Entry


class Finder(Entry):
    DEFAULT_CSS = """
    Finder { height: 1; border: none; padding: 0 1; margin: 1 1 0 1; background: $surface; border-left: outer $accent; }
    Finder:focus { border: none; border-left: outer $accent; }
    """

    def __init__(self) -> None:
        super().__init__("search upwards; Enter finds, n and N go on")

"""What /help and /keys say here."""

from __future__ import annotations


def lacks(*, screen: bool) -> frozenset[str]:
    """Commands that are about a screen: lines have no colours, and not every terminal can be emptied."""
    return frozenset({"theme"}) if screen else frozenset({"theme", "clear"})


ROWS = (
    ("Enter", "send; a backslash at the end of the line goes on in the next one"),
    ("a line while a turn runs", "a command, or a message that the model gets before its next step"),
    ("Up, Down", "earlier and later messages"),
    ("Ctrl+R", "search the earlier messages"),
    ("Tab", "complete a command"),
    ("Ctrl+C", "interrupt the turn; twice within a second: quit"),
    ("Ctrl+D", "quit, when nothing is typed"),
    ("Ctrl+Z", "back to the shell; fg goes on"),
)


class LineGuide:
    title = "Keys; lines are edited as in a shell (Emacs keys)"
    beginnings = (
        ("/", "a command"),
        ("#", "a line for the instructions in AGENTS.md"),
        ("!", "runs a shell command; its output goes into your next message"),
    )

    def usual(self) -> tuple[tuple[str, str], ...]:
        return ROWS

    def all(self) -> tuple[tuple[str, str], ...]:
        return ROWS

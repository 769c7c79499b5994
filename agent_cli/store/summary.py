"""What single entries say about their session as a whole: the read model that lists show."""

from __future__ import annotations

from typing import NamedTuple

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import text_of

TITLE = 60
"""Characters."""


class Said(NamedTuple):
    """None and "" where the event says nothing about it. The first title stays, the last of the others."""

    title: str = ""
    model: str | None = None
    cwd: str | None = None


NOTHING = Said()


def said_by(entry: ev.Entry) -> Said:
    """A subtask says nothing about its session."""
    event = entry.event
    if entry.branch:
        return NOTHING
    if isinstance(event, ev.SessionStarted):
        return Said(model=f"{event.provider}/{event.model}", cwd=event.cwd)
    if isinstance(event, ev.OperatorMessage):
        return Said(title=_title(text_of(event.content)))
    if isinstance(event, ev.ModelSwitched):
        return Said(model=f"{event.provider}/{event.model}")
    return NOTHING


def _title(text: str) -> str:
    """The first line with something in it."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= TITLE else line[: TITLE - 1] + "…"

"""Lines about the session: notes, banners of guardrails and errors, the end of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from rich.segment import Segment
from rich.style import Style

from agent_cli.talk.untrusted import clean
from agent_cli.tui.blocks.item import INDENT, Item
from agent_cli.tui.ink import Ink
from agent_cli.tui.wrap import Line, wrap

Level: TypeAlias = Literal["info", "warning", "error"]

_MARKS: dict[Level, str] = {"info": "· ", "warning": "! ", "error": "✗ "}


def _style(level: Level, ink: Ink) -> Style:
    return {"info": ink.dim, "warning": ink.warn, "error": ink.bad}[level]


class Notice(Item):
    """A note in one colour."""

    __slots__ = ("_level", "_text")

    def __init__(self, text: str, level: Level = "info", *, gap: int = 1) -> None:
        super().__init__(gap=gap)
        self._text = text
        self._level: Level = level

    def say(self, text: str) -> None:
        """Another text in its place."""
        self._text = text
        self.changed()

    def body(self, width: int, ink: Ink) -> list[Line]:
        style = _style(self._level, ink)
        mark = _MARKS[self._level]
        lines: list[Line] = []
        for text in clean(self._text).split("\n"):
            for row in wrap([Segment(text, style)], width - 6):
                lead = mark if not lines else " " * len(mark)
                lines.append([Segment(INDENT), Segment(lead, style), *row])
        return lines

    def source(self) -> str:
        return self._text


class Banner(Item):
    """Something that the operator must not miss: a heavy bar, a title, and the whole text."""

    __slots__ = ("_level", "_text", "_title")

    def __init__(self, title: str, text: str, level: Level = "error") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._level: Level = level

    def body(self, width: int, ink: Ink) -> list[Line]:
        style = _style(self._level, ink)
        bar = [Segment(INDENT), Segment("┃ ", style)]
        inner = width - 6
        lines = [[*bar, *row] for row in wrap([Segment(clean(self._title), style + Style(bold=True))], inner)]
        for text in clean(self._text).rstrip().split("\n") if self._text else []:
            lines.extend([*bar, *row] for row in wrap([Segment(text, ink.text)], inner))
        return lines

    def source(self) -> str:
        return f"{self._title}\n{self._text}"


class Ending(Item):
    """How a turn ended and what it took."""

    __slots__ = ("_facts", "_level")

    def __init__(self, facts: Sequence[str], level: Level = "info") -> None:
        super().__init__()
        self._facts = facts
        self._level: Level = level

    def body(self, width: int, ink: Ink) -> list[Line]:
        style = ink.faint if self._level == "info" else _style(self._level, ink)
        text = clean(" · ".join(self._facts))
        rows = wrap([Segment(text, style)], width - 10)
        lead = "── " if self._level == "info" else f"── {_MARKS[self._level]}"
        rows[0] = [Segment(lead, style), *rows[0]]
        rows[1:] = [[Segment(" " * len(lead)), *row] for row in rows[1:]]
        return [[Segment(INDENT), *row] for row in rows]

    def source(self) -> str:
        return " · ".join(self._facts)

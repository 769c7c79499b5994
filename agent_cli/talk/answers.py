"""What the program itself says to a person. A front end draws it as it can; it may hold text of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from agent_cli.context.breakdown import Share
from agent_cli.kernel.todo import TodoItem
from agent_cli.talk.changed import Changed

Level: TypeAlias = Literal["info", "warning", "error"]


class Note(NamedTuple):
    """A line or a few. `tight` ones have no air above them."""

    text: str
    level: Level = "info"
    tight: bool = False


class Alarm(NamedTuple):
    """Something that the operator must not miss."""

    title: str
    text: str
    level: Level = "error"


class Table(NamedTuple):
    """A row with an empty name continues; a row with an empty text is a heading between rows."""

    title: str
    rows: Sequence[tuple[str, str]]


class Filling(NamedTuple):
    """A table, and what fills the window. `used` of `window` tokens are filled; `limit` is where reduction begins."""

    title: str
    rows: Sequence[tuple[str, str]]
    shares: Sequence[Share]
    used: int
    window: int | None
    limit: int | None


class Todos(NamedTuple):
    items: tuple[TodoItem, ...]


Answer: TypeAlias = Note | Alarm | Table | Filling | Todos | Changed

"""What a slash command may open on the screen: a list to choose from, another session, text where one types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from agent_cli.kernel.messages import Block
from agent_cli.kernel.values import Plain
from agent_cli.talk.answers import Answer


class Row(NamedTuple):
    """One line of a list. `find` is what a filter looks through besides the label and the note."""

    key: str
    label: str
    note: str = ""
    find: str = ""


class Picking(NamedTuple):
    """A list to choose from. `rows` and `preview` (of a row, by its key) may take a while and are called in a thread.

    `moved` is told which row is highlighted, `left` that nothing was chosen. Both raise nothing; `rows` and
    `preview` raise AgentError.
    """

    title: str
    rows: Callable[[], Sequence[Row]]
    chosen: Callable[[str], None]
    empty: str = "there is nothing to choose from"
    preview: Callable[[str], str] | None = None
    moved: Callable[[str], None] | None = None
    left: Callable[[], None] | None = None
    first: str = ""


class Wish(Plain, frozen=True):
    """Another session in this one's place: the one of that id or name, a fork (ID or ID@ENTRY), else a new one.

    `anew` says that it is the present one, opened again. `model` is the one to go on with, "" for its own.
    """

    resume: str = ""
    fork: str = ""
    anew: bool = False
    model: str = ""


class Stage(Protocol):
    def pick(self, picking: Picking, /) -> None:
        """Opens the list in place of what is open."""
        ...

    def switch(self, wish: Wish, /) -> None:
        """The present session stays where the other one cannot be opened."""
        ...

    def write(self, text: str, files: tuple[Block, ...] = (), /) -> None:
        """Puts it where the operator types; the files go along for as long as the text names them."""
        ...

    def themes(self) -> Sequence[str]: ...

    def paint(self, theme: str, /) -> str:
        """Puts on these colours, "" for none; returns the name of those before."""
        ...

    def copy(self, text: str, what: str, /) -> None:
        """Into the clipboard; `what` names it in a few words."""
        ...

    def meanwhile(self, doing: str, work: Callable[[], Awaitable[Answer | None]], /) -> None:
        """As `later`, for what does not block."""
        ...

    def later(self, doing: str, work: Callable[[], Answer | None], /) -> None:
        """Shows at once what is done, does it in a thread, and puts what came of it into the transcript.

        An AgentError of it is told. Esc lets go of it.
        """
        ...

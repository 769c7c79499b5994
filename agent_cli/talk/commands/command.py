"""What a slash command is, and what it may do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from agent_cli.kernel.commands import Command as Order
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.door import Door, Sources, Welcome
from agent_cli.talk.ledger import Ledger
from agent_cli.talk.stage import Stage


class Guide(Protocol):
    """What a front end says about its keys: rows of a key, or an action, and what it does."""

    @property
    def title(self) -> str: ...

    @property
    def beginnings(self) -> Sequence[tuple[str, str]]:
        """What a line may begin with to be no message."""
        ...

    def usual(self) -> Sequence[tuple[str, str]]: ...

    def all(self) -> Sequence[tuple[str, str]]: ...


class Host(Protocol):
    """What a command may do with the screen."""

    @property
    def welcome(self) -> Welcome: ...

    @property
    def session(self) -> Door | None: ...

    @property
    def sources(self) -> Sources: ...

    @property
    def guide(self) -> Guide: ...

    @property
    def lacks(self) -> frozenset[str]:
        """Names of commands that have no use in this front end."""
        ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def stage(self) -> Stage: ...

    @property
    def own(self) -> Sequence[Command]:
        """Commands of the operator's own."""
        ...

    @property
    def compacting(self) -> float:
        """Since when a compaction runs, 0 while none does."""
        ...

    def order(self, command: Order, /) -> None:
        """Sends it to the session."""
        ...

    def wipe(self) -> None:
        """Empties the transcript on the screen."""
        ...

    def leave(self) -> None: ...


class Command(NamedTuple):
    """`run` gets what stands behind the name, and returns what the transcript is to show, if anything.

    `now` is what /help adds to the description, as things stand.
    """

    name: str
    description: str
    run: Callable[[Host, str], Answer | None]
    aliases: tuple[str, ...] = ()
    arguments: str = ""
    now: Callable[[Host], str] | None = None


def ordered(host: Host, order: Order) -> Answer | None:
    """Sends it to the session, if there is one."""
    if host.session is None:
        return not_yet()
    host.order(order)
    return None


def away(host: Host, what: str) -> Note:
    """What is refused because the session runs elsewhere."""
    return Note(
        f"{what} does not go over HTTP: the session runs at {host.sources.elsewhere}. Use it in a terminal on that machine.",
        "warning",
    )


def not_yet() -> Note:
    return Note("There is no session yet; try again when it is open.", "warning")

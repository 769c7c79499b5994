"""What the screen needs of the rest: a session, how to get one, and what to say before there is one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple, Protocol

from agent_cli.context.breakdown import Share
from agent_cli.engine.state import State
from agent_cli.kernel.commands import Command, Mode
from agent_cli.kernel.events import Entry, Event
from agent_cli.kernel.messages import ToolSpec
from agent_cli.kernel.values import Plain


class Door(Protocol):
    """The session as a front end sees it."""

    @property
    def id(self) -> str: ...

    @property
    def state(self) -> State: ...

    def send(self, command: Command, /) -> None:
        """Raises StoreError."""
        ...

    def events(self, since: int = 0) -> AsyncIterator[Event]: ...

    def past(self, since: int, until: int) -> list[Entry]:
        """Facts with since < seq <= until. Raises StoreError."""
        ...

    @property
    def halted(self) -> str:
        """Why every turn is refused, "" if none is."""
        ...

    def tools(self) -> tuple[ToolSpec, ...]:
        """What the model may call, as it sees them."""
        ...

    def shares(self) -> tuple[Share, ...]:
        """What fills the window now, by what it is."""
        ...

    async def idle(self) -> None: ...

    async def close(self, reason: str = "") -> None: ...


class Welcome(Plain, frozen=True):
    """What is known before a session is open; it makes the first frame.

    `resume` is the command line that opens the session again; `{session}` in it is replaced.
    `history` is the file of earlier messages, "" for none.
    `keys` are other keys for actions, by the names of `tui.keys.ACTIONS`, several with commas between.
    `theme` is "dark", "light", or the name of one of Textual's. `mouse` off leaves the mouse to the terminal.
    `log` is the file of what goes wrong inside, "" for none.
    `status_command` is told where the session stands, and its line is shown; "" for none.
    """

    version: str = ""
    cwd: str = ""
    model: str = ""
    mode: Mode = "ask"
    history: str = ""
    theme: str = "dark"
    mouse: bool = True
    resume: str = "agent-cli --resume {session}"
    keys: dict[str, str] = {}
    status_command: str = ""
    log: str = ""


class Sources(NamedTuple):
    """What the screen asks for when it needs it. `rules` is None where nobody knows them.

    `models` and `files` (paths below the working directory) may take a while and are called in a thread. `watchdog` is its mode, "" where nobody knows it.
    `gates` are what decides about calls beside mode and rules, with how it is set.
    """

    models: Callable[[], Sequence[str]] = tuple
    rules: Callable[[], Sequence[str]] | None = None
    watchdog: Callable[[], str] = str
    files: Callable[[], Sequence[str]] = tuple
    gates: Callable[[], Sequence[tuple[str, str]]] = tuple


class Leave(Plain, frozen=True):
    """What is left when the screen is gone. `session` is "" where nothing was said."""

    session: str = ""
    exit_code: int = 0

"""What the screen needs of the rest: a session, how to get one, and what to say before there is one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias

from agent_cli.context.breakdown import Share
from agent_cli.engine.state import State
from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.commands import Command, Mode, Wanted
from agent_cli.kernel.events import Entry, Event, Output
from agent_cli.kernel.messages import ToolSpec
from agent_cli.kernel.serving import Served
from agent_cli.kernel.values import Plain
from agent_cli.talk.changed import Changed
from agent_cli.talk.health import Condition
from agent_cli.talk.stage import Wish

Form: TypeAlias = Literal["jsonl", "markdown", "html"]
"""Of a session in a file; JSONL can be taken in again."""


class Asker(Protocol):
    @property
    def agents(self) -> Sequence[AgentDefinition]:
        """Those that the model may hand tasks to."""
        ...

    async def ask(self, question: str, /) -> str:
        """A side question, which never enters the conversation. Raises AgentError."""
        ...

    async def gather(
        self, name: str, wanted: Sequence[Wanted], allow: tuple[str, ...] = (), /
    ) -> tuple[Output, ...]:
        """Calls that a command of the operator's makes before its message: what each gives. Raises AgentError."""
        ...


class Hosting(Protocol):
    @property
    def servers(self) -> Served | None:
        """Servers of tools, None where there are none."""
        ...


class Door(Hosting, Protocol):
    """The session as a front end sees it."""

    @property
    def id(self) -> str: ...

    @property
    def state(self) -> State: ...

    @property
    def since(self) -> int:
        """The last fact from before this run; 0 where the session began with it."""
        ...

    def send(self, command: Command, /) -> None:
        """Raises StoreError."""
        ...

    def events(self, since: int = 0) -> AsyncIterator[Event]: ...

    def past(self, since: int, until: int) -> list[Entry]:
        """Facts with since < seq <= until. Raises StoreError."""
        ...

    @property
    def subtasks(self) -> Asker: ...

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
    `motion` off: nothing moves by itself. `vi` gives its keys to the line one types into.
    `log` is the file of what goes wrong inside, "" for none.
    `notify` is how the terminal tells somebody who looks elsewhere; `title` says where the session stands in its title.
    `status_command` is told where the session stands, and its line is shown; "" for none.
    """

    version: str = ""
    cwd: str = ""
    model: str = ""
    mode: Mode = "ask"
    history: str = ""
    theme: str = "dark"
    mouse: bool = True
    motion: bool = True
    vi: bool = False
    resume: str = "agent-cli --resume {session}"
    keys: dict[str, str] = {}
    status_command: str = ""
    log: str = ""
    notify: Literal["auto", "bell", "osc9", "osc777", "off"] = "auto"
    title: bool = True


class Known(Plain, frozen=True):
    """A session that can be gone on with. `updated` is in epoch seconds; `title` is the first line said in it."""

    id: str
    title: str = ""
    name: str = ""
    cwd: str = ""
    model: str = ""
    updated: float = 0.0
    turns: int = 0


class Sessions(Protocol):
    """The sessions that are kept. Everything but `open` blocks and is called in a thread. Raises AgentError."""

    def listed(self) -> Sequence[Known]:
        """The latest first."""
        ...

    def preview(self, session: str, /) -> str:
        """What was said last: by the operator, and by the model."""
        ...

    def rename(self, session: str, name: str, /) -> None: ...

    def export(self, session: Door, form: Form, file: Path, /) -> None: ...

    async def check(self) -> None:
        """Whether the config is in order, so that a session can be opened."""
        ...

    async def open(self, wish: Wish, /) -> Door: ...


class Instructed(NamedTuple):
    """A file of instructions: its path and bytes, and whether only its beginning is told to the model."""

    path: str
    size: int
    cut: bool


class Prompt(NamedTuple):
    """A slash command of the operator's own: its body is sent as a message, `model` and `tools` count for its turn.

    `problem` says why it cannot be used.
    """

    name: str
    body: str
    path: str
    description: str = ""
    arguments: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    problem: str = ""


class Skilled(NamedTuple):
    """A skill that can be used, or with `problem` one that cannot. `scope` says whose it is, `size` is in bytes.

    `remarks` are what is odd about it, with the place.
    """

    name: str
    path: str
    description: str = ""
    scope: str = ""
    size: int = 0
    problem: str = ""
    remarks: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    body: str = ""


class Symbol(NamedTuple):
    """A function, a class or the like, and where it is defined: a path below the working directory, and a line from 1."""

    name: str
    path: str
    line: int


class Workplace(Protocol):
    """What is on disk around a session. Everything blocks and is called in a thread. Raises AgentError."""

    def instructions(self) -> Sequence[Instructed]: ...

    def prompts(self) -> Sequence[Prompt]: ...

    def skills(self) -> Sequence[Skilled]:
        """Those that cannot be used behind the others."""
        ...

    def remember(self, line: str, /) -> str:
        """Adds a line to the instructions; returns the file."""
        ...

    def keep(self, key: str, value: str, /) -> str:
        """Sets a key of the user's config; returns the file."""
        ...

    def moments(self, session: str, /) -> Mapping[int, int]:
        """How many files were changed after each message, by its entry."""
        ...

    def changes(self, session: str, /, since: int = 0) -> Changed:
        """What differs now from what files held before the session, or before the message at the entry `since`."""
        ...

    def report(self, session: Door | None, words: str, /) -> str:
        """Writes a report about the program, without secrets; returns the file."""
        ...


class Sources(NamedTuple):
    """What the screen asks for when it needs it. `rules` is None where nobody knows them.

    `sessions` is None where none are kept, `workplace` where nobody knows the files. `models`, `files` (paths below the working directory) and `symbols` may take a while and are called in a thread. `watchdog` is its mode, "" where nobody knows it.
    `examine` looks whether everything needed is there, None where nobody can; it blocks.
    `gates` are what decides about calls beside mode and rules, with how it is set.
    `elsewhere` is the address of the server on which the session runs, "" where it runs in this process.
    """

    models: Callable[[], Sequence[str]] = tuple
    rules: Callable[[], Sequence[str]] | None = None
    watchdog: Callable[[], str] = str
    files: Callable[[], Sequence[str]] = tuple
    gates: Callable[[], Sequence[tuple[str, str]]] = tuple
    sessions: Sessions | None = None
    workplace: Workplace | None = None
    examine: Callable[[], Sequence[Condition]] | None = None
    symbols: Callable[[], Sequence[Symbol]] = tuple
    elsewhere: str = ""


class Leave(Plain, frozen=True):
    """What is left when the screen is gone. `session` is "" where nothing was said."""

    session: str = ""
    exit_code: int = 0

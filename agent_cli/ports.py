"""What is asked of the world: Protocols, and the values that cross them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from agent_cli.kernel.commands import Mode
from agent_cli.kernel.events import Display, Entry, Finished, Output, Piece, Recorded, Severity, StopScope
from agent_cli.kernel.messages import Message, Prompt, ToolSpec
from agent_cli.kernel.usage import ModelCard
from agent_cli.kernel.values import Plain

# ── models ───────────────────────────────────────────────────────────────────────────────────────────────


class Provider(Protocol):
    """One model family behind one door. Raises ProviderError and nothing else."""

    @property
    def name(self) -> str: ...

    def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        """Pieces, then exactly one Finished. Closing the generator closes the connection."""
        ...

    async def close(self) -> None: ...


async def _nothing(session: str, /) -> None:
    """Nothing is kept running between requests."""


class OpenModel(NamedTuple):
    """A provider with the card of the model that it is to serve.

    `endpoint` names the service for the circuit breaker; models of one service share it.
    `after_turn` ends what the provider kept running from one request of a session's turn to the next.
    """

    provider: Provider
    card: ModelCard
    endpoint: str = ""
    after_turn: Callable[[str], Awaitable[None]] = _nothing


class Models(Protocol):
    """Opens models by the names that `--model` takes. Raises ConfigError with the nearest names."""

    def open(self, name: str, /) -> OpenModel: ...


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────

Effect: TypeAlias = Literal["read", "write", "execute", "network", "none"]
Say: TypeAlias = Callable[[str], None]
"""Shows a piece of a running tool's output; may be lost."""


class PathUse(Plain, frozen=True):
    """`path` is absolute with symlinks resolved, also where the file does not exist yet."""

    path: str
    access: Literal["r", "w"]


class Touches(Plain, frozen=True):
    """What a call would touch: what rules look at. `subject` is what rules match and people read.

    Where `unresolved` says why a path is not known, it is out of scope. `programs` of a command have their paths.
    """

    effect: Effect
    subject: str
    paths: tuple[PathUse, ...] = ()
    command: str | None = None
    hosts: tuple[str, ...] = ()
    unresolved: str = ""
    programs: tuple[tuple[str, str], ...] = ()
    deletes: int | None = None


class Tool(Protocol):
    """One tool. `arguments` is a frozen dataclass; its schema is the schema that the model gets."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def arguments(self) -> type[Any]: ...

    @property
    def read_only(self) -> bool:
        """Read-only calls of one batch run side by side."""
        ...

    @property
    def bounded(self) -> bool:
        """True where the tool keeps its own bound, so that the common one does not apply."""
        ...

    def touches(self, args: Any, /) -> Touches: ...

    def preview(self, args: Any, /) -> Display | None:
        """What the person sees before deciding: a diff or a command. May read files, changes nothing."""
        ...

    async def run(self, args: Any, say: Say, /) -> Output:
        """Raises ToolError with the text for the model. Cancellation stops all it started."""
        ...


@runtime_checkable
class Editable(Protocol):
    """A tool whose text the operator may change when he is asked about a call."""

    def edited(self, args: Any, text: str, /) -> Any:
        """The arguments with that text in them."""
        ...


@runtime_checkable
class Asking(Editable, Protocol):
    """A tool that asks the operator something: the text of his answer is what it is run for."""

    def options(self, args: Any, /) -> tuple[str, ...]:
        """Answers to choose from; others may be given."""
        ...


class Restored(NamedTuple):
    """Paths that have their content of then again, and those that have not, each with the reason."""

    paths: tuple[str, ...]
    failed: tuple[str, ...]


class Folds(Protocol):
    """What a session's log came to, as bytes that may be lost at any time. Raises nothing."""

    def get(self) -> bytes | None:
        """None where there is none that this program made."""
        ...

    def put(self, fold: bytes, /) -> None: ...


class Snapshots(Protocol):
    """What files held before they were changed. `moment` is the entry of the operator's last message. May block."""

    def wants(self, moment: int, touches: Touches, /) -> bool:
        """Whether `before` has anything to do. Does not block."""
        ...

    def before(self, moment: int, touches: Touches, /) -> None:
        """A call that may change files is about to run. Raises OSError where nothing can be kept."""
        ...

    def after(self, moment: int, changed: tuple[str, ...] | None, /) -> None:
        """It changed these; None where it was cut short, so that nobody knows."""
        ...

    def moments(self) -> dict[int, int]:
        """How many files were changed after each message."""
        ...

    def restore(self, moment: int, /) -> Restored:
        """Brings back what each file held before its first change at that moment or later, but what others changed since."""
        ...


# ── permissions ──────────────────────────────────────────────────────────────────────────────────────────


class Proposal(Plain, frozen=True):
    """One call as the gate sees it."""

    tool: str
    read_only: bool
    touches: Touches


class Facts(Plain, frozen=True):
    """What rules may know. `roots` are (absolute resolved path, "r" | "w" | "rw").

    `attended` is False where nobody can answer. `grants` are rules given for this session. `control` are resolved
    paths whose writing needs its own live approval in every mode. `needs_plan` says why nothing may be changed before a
    plan is recorded, "" where it may. `approves_plans` is set where the operator is asked about each. `tools` are those
    that the model has. `killed` pairs tools with the kill switch that closes them, "*" for all. `search_gate` says what
    becomes of shell lines that only search. `url_allow` and `url_deny` are rules for hosts. `questions` of the model are answered also
    where nobody approves. `workplaces` are directories that were made for an agent: what lies there is none of `control`.
    """

    mode: Mode
    attended: bool
    roots: tuple[tuple[str, str], ...]
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    control: tuple[str, ...] = ()
    needs_plan: str = ""
    approves_plans: bool = False
    tools: frozenset[str] = frozenset()
    search_gate: Literal["enforce", "warn", "allow"] = "enforce"
    url_allow: tuple[str, ...] = ()
    url_deny: tuple[str, ...] = ()
    questions: bool = False
    killed: tuple[tuple[str, str], ...] = ()
    workplaces: tuple[str, ...] = ()


class Ruling(Plain, frozen=True):
    """`rule` names what decided; `reason` is for the person; `remedy` tells an unattended run what to pass.

    `once_only` says that an approval of this holds for this one call, whatever the operator answers.
    `warning` is a line for the operator about a call that runs.
    """

    verdict: Literal["allow", "ask", "deny"]
    rule: str
    reason: str
    remedy: str = ""
    once_only: bool = False
    warning: str = ""


class Policy(Protocol):
    """Rules on one proposal, or passes (None) to the next policy. Pure."""

    def __call__(self, proposal: Proposal, facts: Facts, /) -> Ruling | None: ...


# ── guardrails ───────────────────────────────────────────────────────────────────────────────────────────


class Alert(Plain, frozen=True):
    """`reason` is for the operator, `guidance` for the model (empty: the reason).

    `at_once` speaks to the model inside the turn, after the results of the step; others wait for its next turn.
    `about` are the places of the calls that make up the behaviour: as long as it lasts it is told once, by one signal;
    without a reason it only says that it lasts.
    """

    signal: str
    severity: Severity
    scope: StopScope
    reason: str
    guidance: str = ""
    at_once: bool = False
    about: frozenset[str] = frozenset()


class Called(Plain, frozen=True):
    """A proposed call as signals see it. `key` is one text for all its spellings; `rest` and `paths` are its parts.

    `epoch` counts the changes of files that came before it, `step` the model's requests. `waits` marks the tool that
    is made for polling, `reports` those that say what they find and what they change: of others an answer like "done"
    tells nothing.
    """

    call_id: str
    name: str
    key: str
    rest: str = ""
    paths: tuple[str, ...] = ()
    epoch: int = 0
    step: int = 0
    waits: bool = False
    reports: bool = True

    @property
    def place(self) -> str:
        """The call in the state of the files that it meets: after a change the same call is another one."""
        return f"{self.epoch} {self.key}"


class Came(Plain, frozen=True):
    """The result of a call. `digest` is of what the model reads, `masked` the same without times and hashes; both
    are "" where it cannot be told (images).

    `fresh` says that it changed a file in a way that has not come before in this turn; `denied` that a person
    refused the call; `last` that no call of its step is open any more.
    """

    call: Called
    digest: str
    masked: str
    ok: bool = True
    no_op: bool = False
    empty: bool = False
    denied: bool = False
    fresh: bool = False
    last: bool = True


class Signal(Protocol):
    """Watches one kind of behaviour; what it sees is what of the protocols below it has, each fed once, in order.
    It holds what it needs to know itself, and is rebuilt on resume by feeding it the log.
    """

    @property
    def name(self) -> str: ...

    def forget(self) -> None:
        """Begins again: the operator said so."""
        ...


@runtime_checkable
class SeesCalls(Protocol):
    """Each call as it is proposed, before it runs."""

    def called(self, call: Called, /) -> Alert | None: ...


@runtime_checkable
class SeesResults(Protocol):
    def returned(self, result: Came, /) -> Alert | None: ...


@runtime_checkable
class SeesText(Protocol):
    def spoke(self) -> bool:
        """The model said something that people see. Whether an alert that still waits is taken back."""
        ...


@runtime_checkable
class SeesTurns(Protocol):
    def began(self) -> None:
        """A message of the operator came; nothing else begins a turn. What is remembered from before it counts no more."""
        ...


@runtime_checkable
class Claims(Protocol):
    def forming(self) -> frozenset[str]:
        """The calls of a pattern that this signal sees coming: signals after it stand down on them."""
        ...


class TaskHeuristic(Protocol):
    """Knows by itself where a task ends. Fed every recorded event once, in order, as a signal is."""

    def feed(self, event: Recorded, /) -> str | None:
        """The note of the checkpoint that is due at the start of the next turn; None for none."""
        ...


# ── what a program may replace ───────────────────────────────────────────────────────────────────────────


class Compactor(Protocol):
    """Writes the hand-over that takes the place of the older part of a conversation."""

    async def summarize(self, conversation: tuple[Message, ...], focus: str, /) -> str:
        """`focus` is what it is to dwell on, "" for nothing. What it raises, and an empty text, count as a failed
        summary: the session goes on as after one of its own.
        """
        ...


class Checkpointer(Protocol):
    """Writes the record that takes the place of what was said about a task that is done."""

    async def record(self, conversation: tuple[Message, ...], note: str, /) -> str:
        """`note` says what was done. What it raises, and an empty text, count as a failed record."""
        ...


# ── log and clock ────────────────────────────────────────────────────────────────────────────────────────


class Log(Protocol):
    """One session's facts, append-only. Raises StoreError and nothing else."""

    @property
    def session(self) -> str: ...

    def append(self, entry: Entry, /) -> None:
        """Durable against the death of this process when it returns. `entry.seq` must be the next one."""
        ...

    def read(self, since: int = 0) -> Iterator[Entry]:
        """Entries with seq > since, in order."""
        ...

    def close(self) -> None:
        """Gives up the right to write. Idempotent."""
        ...


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float, /) -> None: ...

"""A session that says what a test tells it to say, and remembers what it was sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Protocol

from agent_cli.context.breakdown import Share
from agent_cli.engine.state import State
from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.commands import Command, Wanted
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Text, ToolSpec
from agent_cli.kernel.usage import ModelCard

CARD = ModelCard("scripted-1", "scripted", window=200_000)
NOON = 1_796_000_000.0
"""When the first fact happens; each later one is a second later."""


class Facts(Protocol):
    """Where the facts of a session are kept: a list, or a file."""

    def append(self, entry: ev.Entry, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[ev.Entry]: ...
    def __getitem__(self, part: slice, /) -> list[ev.Entry]: ...


class Asked:
    """Answers every side question alike."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.wanted: list[tuple[str, tuple[Wanted, ...], tuple[str, ...]]] = []
        self.agents: tuple[AgentDefinition, ...] = ()

    async def gather(
        self, name: str, wanted: Sequence[Wanted], allow: tuple[str, ...] = (), /
    ) -> tuple[ev.Output, ...]:
        self.wanted.append((name, tuple(wanted), allow))
        return tuple(ev.Output((Text(f"what {each.tool} gave"),)) for each in wanted)

    async def ask(self, question: str, /) -> str:
        self.questions.append(question)
        return "because of the lexer"


class FakeSession:
    """`play` records facts and shows previews. `refuses` is raised by the next `send`."""

    def __init__(
        self, card: ModelCard = CARD, limits: Limits | None = None, log: Facts | None = None
    ) -> None:
        self.state = State("01SESSION", card, limits or Limits())
        self.state.checkpoint = "model"
        self.commands: list[Command] = []
        self.subtasks = Asked()
        self.closed = ""
        self._since: int | None = None  # what is played before somebody listens is from before this run
        self.halted = ""
        self.servers: Any = None
        self.refuses: AgentError | None = None
        self._log: Facts = [] if log is None else log
        self._queues: list[asyncio.Queue[ev.Event | Exception | None]] = []

    @property
    def id(self) -> str:
        return self.state.session

    @property
    def since(self) -> int:
        return self._since if self._since is not None else self.state.seq

    @since.setter
    def since(self, seq: int) -> None:
        self._since = seq

    def send(self, command: Command, /) -> None:
        if self.refuses is not None:
            refusal, self.refuses = self.refuses, None
            raise refusal
        self.commands.append(command)

    def events(self, since: int = 0) -> AsyncIterator[ev.Event]:
        queue: asyncio.Queue[ev.Event | Exception | None] = asyncio.Queue()
        self._queues.append(queue)
        self._since = self.since
        return self._follow([entry for entry in self._log if entry.seq > since], queue)

    def tools(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("read_file", "Read a file.", {}, "Read a file."),)

    def shares(self) -> tuple[Share, ...]:
        used = self.state.context_tokens
        return (Share("system prompt", used // 4), Share("messages", used - used // 4)) if used else ()

    def past(self, since: int, until: int) -> list[ev.Entry]:
        return self._log[since:until]

    async def idle(self) -> None:
        return

    async def close(self, reason: str = "") -> None:
        self.closed = reason
        self._put(None)

    def play(self, *events: ev.Recorded | ev.Live) -> None:
        for event in events:
            if isinstance(event, ev.Live):
                self._put(event)
                continue
            seq = len(self._log) + 1
            turn = self.state.turn + isinstance(event, ev.TurnStarted)
            step = self.state.step + isinstance(event, ev.StepStarted)
            self._keep(ev.Entry(self.id, seq, NOON + seq, turn, step, event))

    def play_below(self, branch: str, *events: ev.Recorded) -> None:
        """Facts of a subtask."""
        for event in events:
            seq = len(self._log) + 1
            self._keep(ev.Entry(self.id, seq, NOON + seq, self.state.turn, 1, event, branch))

    def _keep(self, entry: ev.Entry) -> None:
        self._log.append(entry)
        self.state.feed(entry)
        self._put(entry)

    def breaks(self, problem: Exception) -> None:
        """The log cannot be written any more."""
        self._put(problem)

    def _put(self, event: ev.Event | Exception | None) -> None:
        for queue in self._queues:
            queue.put_nowait(event)

    async def _follow(
        self, past: list[ev.Entry], queue: asyncio.Queue[ev.Event | Exception | None]
    ) -> AsyncIterator[ev.Event]:
        for entry in past:
            yield entry
        while (event := await queue.get()) is not None:
            if isinstance(event, Exception):
                raise event
            yield event

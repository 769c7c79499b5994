"""The agent as a library: one session in the event loop of somebody's program."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from agent_cli.compose.operators_log import follow
from agent_cli.compose.options import RunOptions
from agent_cli.compose.reductions import Reductions
from agent_cli.compose.session import open_session
from agent_cli.compose.switches import Switches
from agent_cli.engine.parts import Parts
from agent_cli.engine.session import Session
from agent_cli.engine.subtasks import SubtaskResult, SubtaskSpec
from agent_cli.kernel.commands import Command, Say
from agent_cli.kernel.errors import AgentError, TurnInFlightError
from agent_cli.kernel.events import Event, Exhausted, Outcome, TurnError
from agent_cli.kernel.messages import Block, Text
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.values import Plain
from agent_cli.ports import Checkpointer, Compactor, Signal, TaskHeuristic, Tool


class Reply(Plain, frozen=True):
    """How one turn ended. `text` is its answer, "" where there is none; `problem` then says why.

    `cost` is USD of the turn with its subtasks and summaries, None where a request had no price.
    """

    text: str
    outcome: Outcome
    exhausted: Exhausted | None
    problem: str
    steps: int
    calls: int
    usage: Usage
    cost: float | None


class Agent(Reductions, Switches):
    """One session. Made by `open`; belongs to the event loop in which it is used; `async with` closes it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._log: asyncio.Task[None] | None = None

    @classmethod
    def open(  # noqa: PLR0913 - one place names all that a program may choose
        cls,
        model: str = "",
        *,
        cwd: str | Path = ".",
        settings: Mapping[str, Any] | None = None,
        resume: str | None = None,
        ephemeral: bool = True,
        attended: bool = False,
        tools: Iterable[Tool] = (),
        script: str | Path | None = None,
        compactor: Compactor | None = None,
        checkpointer: Checkpointer | None = None,
        heuristic: TaskHeuristic | None = None,
        signals: Callable[[], Iterable[Signal]] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """A new session, or the one that `resume` names (an id, its beginning, or a name).

        `model` is what `--model` takes, `settings` are config keys like {"budgets.max_steps": 20} over the files of
        config. `attended` says that your program answers approvals; without, what would ask is refused. `tools` are
        your own beside the built-in ones. An `ephemeral` session is in no database. `script` is what the model
        "scripted" says, for tests of your program. `compactor` and `checkpointer` write summaries and records in the
        place of the model; `heuristic` knows by itself where a task ends, in the place of `checkpoint.heuristic`.
        `signals` makes what watches the session, and once more for each subtask, in the place of the built-in ones.

        Raises ConfigError and StoreError.
        """
        options = RunOptions(
            cwd=Path(cwd).absolute(),
            environ=os.environ if environ is None else environ,
            attended=attended,
            flags={**(settings or {}), **({"model.name": model} if model else {})},
            resume=resume,
            ephemeral=ephemeral and resume is None,
            script=Path(script) if script else None,
        )
        writers = {"compactor": compactor, "checkpointer": checkpointer, "heuristic": heuristic}
        given = _given(writers, signals)
        return cls(open_session(options, adapt=lambda parts: _adapted(parts, tools, given)).session)

    @property
    def session(self) -> Session:
        """The door beneath: commands in, events out."""
        return self._session

    async def run(self, message: str | tuple[Block, ...]) -> Reply:
        """One turn, from your message to its end. Raises TurnInFlightError while one runs, StoreError."""
        session = self._session
        if session.state.running:
            raise TurnInFlightError("a turn is running: wait for it, interrupt it, or send a Say to steer it")
        self.send(Say((Text(message),) if isinstance(message, str) else message, "now"))
        await session.idle()
        return self._reply()

    def send(self, command: Command) -> None:
        """Steers a running turn, interrupts it, answers an approval. Raises StoreError."""
        if self._log is None and isinstance(command, Say):
            self._log = follow(self._session)
        self._session.send(command)

    def events(self, since: int = 0) -> AsyncIterator[Event]:
        """The same stream that every front end gets: the past from the log, then the present, until the end."""
        return self._session.events(since)

    async def run_subtask(self, spec: SubtaskSpec) -> SubtaskResult:
        """A question to a fresh context, at any time; only its digest comes back.

        Raises ConfigError for a model or tool that is not there, AgentError where nothing is left to spend.
        """
        return await self._session.subtasks.run(spec)

    async def close(self) -> None:
        """Stops a running turn and lets go of log and model. Idempotent."""
        await self._session.close()
        if self._log is not None:
            await self._log

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _reply(self) -> Reply:
        state = self._session.state
        ending = state.ending
        if ending is None:
            raise AgentError("the session ended before the turn did")
        cut = isinstance(ending, TurnError)
        return Reply(
            text="" if cut else state.answer,
            outcome=ending.outcome,
            exhausted=ending.exhausted,
            problem=ending.message if isinstance(ending, TurnError) else "",
            steps=state.turn_steps,
            calls=state.turn_calls,
            usage=state.turn_row.usage,
            cost=None if state.turn_row.unpriced else state.turn_row.cost,
        )


def _given(parts: Mapping[str, object], signals: Callable[[], Iterable[Signal]] | None) -> Mapping[str, Any]:
    """What takes the place of our parts: only what a program named."""
    given: dict[str, Any] = {name: part for name, part in parts.items() if part is not None}
    fresh = signals
    if fresh is not None:
        given |= {"signals": tuple(fresh()), "fresh_signals": lambda: tuple(fresh())}
    return given


def _adapted(parts: Parts, tools: Iterable[Tool], given: Mapping[str, Any]) -> Parts:
    world, own = parts.tools, {tool.spec.name: tool for tool in tools}

    def every(card: ModelCard) -> Mapping[str, Tool]:
        return {**world(card), **own}

    return msgspec.structs.replace(parts, tools=every, **given)

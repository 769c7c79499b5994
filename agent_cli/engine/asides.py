"""Subtasks that a program starts beside the turns of its session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from agent_cli.engine.core import Core
from agent_cli.engine.subtasks import SubtaskResult, SubtaskSpec, run_subtask
from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.commands import Wanted
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import text_of

T = TypeVar("T")
BTW = "btw"
"""The name of the operator's side questions."""
BESIDE = (
    "You answer a side question of the person whom you work for. Below is the end of the conversation that you are "
    "working in; it goes on without this question and without your answer. You have no tools here: answer from what you "
    "know, briefly, and say what you do not know."
)
TAIL = 24_000
"""Characters of the conversation's end that a side question comes with."""


class Asides:
    """`begin` makes sure that the session has its first fact, `watch` that kill switches are looked at."""

    def __init__(self, core: Core, begin: Callable[[], None], watch: Callable[[], None]) -> None:
        self._core = core
        self._begin = begin
        self._watch = watch
        self._running: set[asyncio.Task[Any]] = set()
        self._stopped: set[asyncio.Task[Any]] = set()
        self._closed = False

    @property
    def agents(self) -> tuple[AgentDefinition, ...]:
        """Those that the model may hand tasks to."""
        staff = self._core.parts.staff
        return staff.offered if staff is not None else ()

    @property
    def busy(self) -> bool:
        return bool(self._running)

    async def run(self, spec: SubtaskSpec) -> SubtaskResult:
        """A question to a fresh context, also while a turn runs. Its cost is the session's; interrupts leave it alone.

        Raises ConfigError for a model or tool that is not there, AgentError where the session is closed or halted, or
        nothing is left to spend, StoreError.
        """
        return await self._beside(lambda: run_subtask(self._core, spec))

    async def gather(
        self, name: str, wanted: Sequence[Wanted], allow: tuple[str, ...] = ()
    ) -> tuple[ev.Output, ...]:
        """Calls before a message of the operator's: what each gives. Raises what `run` raises."""
        from agent_cli.engine.gathering import gather  # few sessions have such commands

        return await self._beside(lambda: gather(self._core, name, wanted, allow))

    async def _beside(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        halts = _why(self._core)
        if self._closed or halts:
            raise AgentError(f"no subtask is started: {halts or 'the session is closed'}")
        self._begin()
        task = asyncio.create_task(work())
        self._running.add(task)
        self._watch()
        try:
            return await task
        except asyncio.CancelledError:
            if task not in self._stopped:
                raise
            raise AgentError(f"the subtask was stopped: {_why(self._core)}") from None
        finally:
            task.cancel()
            self._running.discard(task)
            self._stopped.discard(task)

    async def ask(self, question: str) -> str:
        """A question of the operator's about the conversation, which never learns of it. Raises what `run` raises."""
        core = self._core
        system = f"{BESIDE}\n\n<conversation>\n{_said(core)}\n</conversation>"
        spec = SubtaskSpec(BTW, system, question, model=core.model.card.id, max_steps=1)
        return (await self.run(spec)).digest

    def stop(self) -> None:
        """Ends those that run; who waits for one is told why."""
        self._stopped.update(self._running)
        for task in self._running:
            task.cancel()

    async def close(self) -> None:
        """Stops those that run."""
        self._closed = True
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


def _why(core: Core) -> str:
    return "; ".join(halt.reason for halt in core.halts())


def _said(core: Core) -> str:
    """The end of the conversation, without results of tools."""
    lines: list[str] = []
    size = 0
    for message in reversed(core.view.messages()):
        text = text_of(message.parts)
        if text:
            lines.append(f"{'person' if message.role == 'user' else 'you'}: {text}"[:TAIL])
            size += len(lines[-1])
        if size > TAIL:
            break
    return "\n\n".join(reversed(lines))

"""What stops a run, or single tools of it, from outside: the kill switches as this run sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent_cli.engine.parts import Parts
from agent_cli.guardrails import kill_switch
from agent_cli.guardrails.kill_switch import Killed, Place


@dataclass(slots=True)
class Working:
    """A call whose tool runs. `why` is set where it, and not the turn, is cancelled."""

    tool: str
    task: asyncio.Task[Any]
    why: str = ""


class Outside:
    """One a session; its subtasks share it. `mode` gives its permission mode now. `at_work` are running calls by their
    ids. Every look is a new one.
    """

    def __init__(self, parts: Parts, mode: Callable[[], str]) -> None:
        directories = (parts.started.cwd, *(path for path, _ in parts.facts.roots[:1]))
        self._place = Place(parts.log.session, parts.task_class, directories)
        self._mode = mode
        self._switches = parts.switches
        self.at_work: dict[str, Working] = {}

    @property
    def is_watched(self) -> bool:
        """Whether there can be any switches."""
        return self._switches is not kill_switch.none_on

    def killed(self) -> Killed | None:
        """What stops the run as a whole."""
        return kill_switch.killed(self._switches, self._here)

    def closed(self) -> tuple[tuple[str, str], ...]:
        """Tools that are not to run, each with the reason."""
        return kill_switch.closed_tools(self._switches, self._here)

    @property
    def _here(self) -> Place:
        return self._place._replace(mode=self._mode())

    def begin(self, call_id: str, tool: str) -> Working | None:
        """The task that runs works on that call from here on."""
        task = asyncio.current_task()
        if task is None:
            return None
        working = self.at_work[call_id] = Working(tool, task)
        return working

    def stop_tools(self) -> None:
        """Cancels calls of tools that are closed; the turn goes on without them."""
        if not self.at_work:
            return
        closed = dict(self.closed())
        for working in self.at_work.values():
            if not working.why and working.tool in closed:
                working.why = closed[working.tool]
                working.task.cancel()

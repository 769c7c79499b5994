"""One turn with its deadline: whatever happens in it becomes its one ending."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from agent_cli.engine import endings, stopping, tree
from agent_cli.engine.core import Core
from agent_cli.engine.deadline import Deadline
from agent_cli.engine.endings import Ending, Stopped
from agent_cli.engine.reduction import Reducer
from agent_cli.engine.turn import Turn
from agent_cli.guardrails import budgets
from agent_cli.kernel.errors import StoreError

log = logging.getLogger("agent_cli.engine")


class Course:
    """Of a session or of a subtask. `cancelled` says that somebody else than the deadline cut it."""

    def __init__(self, core: Core, reducer: Reducer, steer: Callable[[], int]) -> None:
        self._core = core
        self._reducer = reducer
        self._steer = steer
        self._task: asyncio.Task[object] | None = None
        self._timed_out = False
        self._halted = False
        self._over = False
        self.cancelled = False

    async def ending(self) -> Ending | None:
        """Runs the turn in the task that awaits it. None when the log broke."""
        ending = await self._ending()
        if ending is not None and self._core.parts.hooks is not None:
            from agent_cli.engine.hooking import over  # only who has hooks pays for them

            await over(self._core, ending)
        return ending

    async def _ending(self) -> Ending | None:
        core = self._core
        limit = core.parts.limits.max_duration
        above = core.above.deadline if core.above and not core.beside else None
        self._task = asyncio.current_task()
        deadline = core.deadline = Deadline(core.parts.clock, limit, self._time_out, above)
        deadline.start()
        try:
            return await Turn(core, self._reducer, deadline, self._steer).run()
        except Stopped as stopped:
            return stopped.ending
        except asyncio.CancelledError:
            return self._cut(limit or 0.0)
        except StoreError:
            return None
        except Exception as problem:
            log.exception("turn failed")
            return endings.failed(problem)
        finally:
            self._over = True
            deadline.stop()
            core.deadline = None
            await _rest(core)

    def _cut(self, limit: float) -> Ending:
        others = self._task.cancelling() if self._task else 0
        for _ in range(self._timed_out + self._halted):
            others = self._task.uncancel() if self._task else 0
        self.cancelled = others > 0
        if self.cancelled:
            above = self._core.above
            return endings.interrupted(tree.cut_off(above) if above else "")
        if self._halted:
            return self._stopped()
        breach = budgets.duration_breach(limit)
        stopping.trip(self._core, breach, halted_turn=True)
        return endings.exhausted(breach)

    def halt(self) -> None:
        """What runs is cancelled; the core knows why."""
        if not (self._halted or self._over) and self._task is not None:
            self._halted = True
            self._task.cancel()

    def _stopped(self) -> Ending:
        try:
            stopping.check(self._core)
        except Stopped as stopped:
            return stopped.ending
        return endings.interrupted()

    def _time_out(self) -> None:
        self._timed_out = True
        now = self._core.parts.clock.now()
        self._core.cut_times = now, now
        self._core.cut_off = budgets.duration_breach(self._core.parts.limits.max_duration or 0.0).reason
        if self._task is not None:
            self._task.cancel()


async def _rest(core: Core) -> None:
    """Nothing that a model kept running for the turn goes on."""
    for opened in (*core.root.left.values(), core.model):
        await opened.after_turn(core.key)

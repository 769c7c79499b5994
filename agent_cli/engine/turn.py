"""One turn: from an operator's message to idle."""

from __future__ import annotations

from collections.abc import Callable

from agent_cli.engine import endings, tree
from agent_cli.engine.batch import Batch
from agent_cli.engine.core import Core
from agent_cli.engine.deadline import Deadline
from agent_cli.engine.endings import Ending, Stopped
from agent_cli.engine.reduction import Reducer
from agent_cli.engine.request import Answered, Request, context_size
from agent_cli.guardrails import budgets
from agent_cli.guardrails.budgets import Breach
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import ContextOverflow
from agent_cli.kernel.messages import Text, ToolCall, calls_of, text_of

GO_ON: dict[ev.FinishReason, str] = {
    "length": "Your answer was cut off by its output limit. Go on exactly where it stopped, without repeating anything.",
    "pause": "Go on.",
    "other": "Your answer broke off ({reason}); a tool call in it did not run. Go on, and make the call again.",
}
"""What the model is told where its answer broke off, by the reason."""
SETTLED = "not run: {reason}"
EMPTY = "the model returned neither text nor a tool call"


class Turn:
    """`steer` takes the messages that came while the turn ran; each is recorded as it is taken."""

    def __init__(self, core: Core, reducer: Reducer, deadline: Deadline, steer: Callable[[], int]) -> None:
        self._core = core
        self._reducer = reducer
        self._deadline = deadline
        self._steer = steer
        self._grace: Breach | None = None
        self._empty = 0
        self._continued = False
        self._told: set[ev.Exhausted] = set()

    async def run(self) -> Ending:
        """Raises Stopped where a guardrail cuts it, ProviderError where the service ended it."""
        while True:
            await self._seam()
            finished, cut = await self._step()
            self._check()
            calls = calls_of(finished.parts)
            if calls:
                await self._batch(calls, cut)
            elif not text_of(finished.parts).strip():
                self._count_empty(finished)
            elif self._broke_off(finished):
                told = GO_ON[finished.finish_reason].format(reason=finished.native_reason)
                self._core.record(ev.OperatorMessage((Text(told),), by="product"))
            elif not self._steer():
                return self._answered(finished)

    # ── between steps ──

    async def _seam(self) -> None:
        """Before each model request: what came in, what is used up, what still fits."""
        core = self._core
        self._steer()
        self._check()
        self._warn()
        breach = tree.step_breach(core)
        if breach is not None and self._grace is None:
            self._land(breach)
        await self._reducer.seam()
        self._check()
        budget = self._reducer.budget
        if context_size(core) >= budget.full and core.model.card.window is not None:
            core.record(
                ev.ContextReductionDegraded("turn-cut", core.model.card.id, context_size(core), budget.window)
            )
            raise Stopped(endings.window_full(context_size(core), budget.window))

    def _check(self) -> None:
        """Money and the watchdog: never a grace step."""
        core = self._core
        alert = tree.take_stop(core)
        if alert is not None:
            core.record(
                ev.GuardrailTrip(
                    "watchdog", alert.signal, alert.severity, alert.scope, alert.reason, halted_turn=True
                )
            )
            raise Stopped(endings.watched(alert.signal, alert.reason))
        breach = tree.cost_breach(core)
        if breach is not None:
            core.trip(breach, halted_turn=True)
            raise Stopped(endings.exhausted(breach))

    def _warn(self) -> None:
        for warning in budgets.warnings(self._core.spent(), self._core.limits, frozenset(self._told)):
            self._told.add(warning.dimension)
            self._core.record(warning)

    def _land(self, breach: Breach) -> None:
        """A soft landing: one more step, without tools. Or none, where the operator wants that."""
        hard = self._core.limits.on_exhaustion == "fail"
        self._core.trip(breach, halted_turn=hard)
        if hard:
            raise Stopped(endings.exhausted(breach))
        self._grace = breach

    # ── a step ──

    async def _step(self) -> Answered:
        core = self._core
        core.hub.step += 1
        core.record(ev.StepStarted(core.model.card.id))
        try:
            return await Request(core, grace=self._grace is not None).send()
        except ContextOverflow as problem:
            if not await self._reducer.overflowed(problem):
                raise
        return await Request(core, grace=self._grace is not None).send()

    async def _batch(self, calls: tuple[ToolCall, ...], cut: frozenset[str]) -> None:
        core = self._core
        self._empty = 0
        batch = Batch(core, calls, self._deadline, cut)
        if self._grace is not None:
            batch.settle_rest(SETTLED.format(reason=self._grace.reason))
            raise Stopped(endings.exhausted(self._grace))
        breach = budgets.batch_breach(core.spent(), len(calls), core.limits)
        if breach is not None:
            batch.settle_rest(SETTLED.format(reason=breach.reason))
            self._land(breach)
            return
        await batch.run()
        self._check()
        if word := core.watchdog.word():
            core.record(ev.OperatorMessage((Text(word),), by="product"))

    def _broke_off(self, finished: ev.Finished) -> bool:
        """An answer that broke off in its text is continued once in a turn."""
        broke_off = finished.finish_reason in GO_ON and not self._continued
        self._continued = self._continued or broke_off
        return broke_off

    def _count_empty(self, finished: ev.Finished) -> None:
        """An empty answer is asked for once more, then it is an error that carries the service's reason."""
        self._empty += 1
        if self._empty > 1 or finished.finish_reason in ("refusal", "safety", "context"):
            reason = finished.native_reason or finished.finish_reason
            message = f"{EMPTY} (finish reason: {reason})"
            raise Stopped(ev.TurnError("error", "error", endings.EXIT_CUT, message))

    def _answered(self, finished: ev.Finished) -> Ending:
        if self._grace is not None:
            return endings.landed(self._grace.exhausted)
        return endings.answered(finished.native_reason or finished.finish_reason)

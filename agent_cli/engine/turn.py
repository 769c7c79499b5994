"""One turn: from an operator's message to idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import msgspec

from agent_cli.engine import endings, nested, stopping, tree
from agent_cli.engine.batch import Batch
from agent_cli.engine.core import Core
from agent_cli.engine.deadline import Deadline
from agent_cli.engine.endings import Cut, Ending, Stopped
from agent_cli.engine.joining import join
from agent_cli.engine.reduction import Reducer
from agent_cli.engine.request import Answered, Request
from agent_cli.engine.size import context_size
from agent_cli.engine.window import budget_for
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
BROKE_OFF = "the model's answer broke off twice ({reason}), and a tool call in it did not run"
CUT_SHORT = "the answer was cut off by its output limit and is not whole: ask for the rest, or allow more with --max-output-tokens"
SHORTER = "the answer does not count: it is asked for again with a shorter conversation"
EMPTY = "the model returned neither text nor a tool call"


class Turn:
    """`steer` takes the messages that came while the turn ran; each is recorded as it is taken."""

    def __init__(self, core: Core, reducer: Reducer, deadline: Deadline, steer: Callable[[], int]) -> None:
        self._core = core
        self._reducer = reducer
        self._deadline = deadline
        self._steer = steer
        self._grace: Breach | None = None
        self._empty = self._gone_on = 0
        self._continued = False
        self._told: set[ev.Exhausted] = set()
        self._must = ""
        self._were_forced: set[str] = set()

    async def run(self) -> Ending:
        """Raises Stopped where a guardrail cuts it, ProviderError where the service ended it."""
        stopping.check(self._core)
        if self._core.parts.hooks is not None:
            from agent_cli.engine.hooking import begin  # only who has hooks pays for them

            await begin(self._core)
        await self._reducer.begin()
        while True:
            await self._seam()
            answered = await self._step()
            stopping.withheld(self._core)
            finished = answered.finished
            self._must = ""
            self._warn()
            calls = calls_of(finished.parts)
            if finished.finish_reason in ("refusal", "safety"):
                self._withheld(calls, finished)
            if self._grace is not None:
                return self._last_word(self._grace, finished)
            if calls:
                stopping.check(self._core)
                await self._batch(calls, answered)
            elif not text_of(finished.parts).strip():
                self._count_empty(finished)
            elif self._broke_off(finished):
                told = GO_ON[finished.finish_reason].format(reason=finished.native_reason)
                self._core.record(ev.OperatorMessage((Text(told),), by="product"))
            elif finished.finish_reason == "other":
                raise Stopped(
                    endings.invalid(BROKE_OFF.format(reason=finished.native_reason or "no reason given"))
                )
            elif not await self._goes_on(finished):
                return self._answered(finished)

    def _forced(self) -> bool:
        """Whether one more step is due, in which a required tool must be called. Once in a turn for each of them."""
        core = self._core
        owed = core.tally.owed(core.hub.turn, core.parts.settings.tunings)
        due = [name for name in owed if name in core.tools() and name not in self._were_forced]
        self._must = due[0] if due else ""
        self._were_forced.update(due[:1])
        return bool(due)

    async def _goes_on(self, finished: ev.Finished) -> bool:
        """Whether anything keeps the turn from ending with its answer."""
        return bool(
            await self._steered() or self._forced() or await self._reported() or await self._held_up(finished)
        )

    async def _steered(self) -> int:
        """Messages that came, but for those that a hook does not let through."""
        if self._core.parts.hooks is not None:
            from agent_cli.engine.hooking import steered

            await steered(self._core)
        return self._steer()

    async def _held_up(self, finished: ev.Finished) -> bool:
        """Whether a hook has the turn go on; a message that came while it was asked does, too."""
        if self._core.parts.hooks is None:
            return False
        from agent_cli.engine.hooking import goes_on

        if await goes_on(self._core, text_of(finished.parts), self._gone_on):
            self._gone_on += 1
            return True
        return bool(await self._steered())

    async def _reported(self) -> bool:
        """Whether there is more to be told: where nobody says the next word, a turn waits for those that it started."""
        core, crew = self._core, self._core.crew
        alone = not core.parts.facts.attended or core.parts.gate is not None
        if core.above is not None or not alone or not crew.running:
            return False
        stop = asyncio.create_task(core.stopping.wait())
        try:
            await asyncio.wait({stop, *crew.tasks()}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
        return True

    # ── between steps ──

    async def _seam(self) -> None:
        """Before each model request: what came in, what is used up, what still fits."""
        core = self._core
        await self._steered()
        stopping.check(core)
        await join(core)
        self._warn()
        breach = tree.step_breach(core)
        if breach is not None and self._grace is None:
            self._land(breach)
        with suppress(Cut):
            await self._reducer.seam()
        stopping.check(core)
        budget, card = budget_for(core), core.model.card
        # what refusals taught or made us guess is for reductions: it keeps nothing from being sent
        if context_size(core) >= budget.full and card.window is not None and core.learned != card.id:
            unmeasured = core.state.boundaries.unmeasured_bytes
            core.record(
                ev.ContextReductionDegraded(
                    "turn-cut", core.model.card.id, context_size(core), budget.window, unmeasured
                )
            )
            reduces = core.parts.compaction.enabled
            raise Stopped(endings.window_full(context_size(core), budget.window, reduces=reduces))

    def _warn(self) -> None:
        """At 80 %: once a turn for each dimension, once for each ceiling of the session."""
        core = self._core
        spent = msgspec.structs.replace(core.spent(), seconds=self._deadline.used)
        for warning in budgets.warnings(spent, core.limits, frozenset(self._told)):
            self._told.add(warning.dimension)
            of_session = warning.dimension == "cost" and warning.limit == core.limits.max_session_cost
            if not (of_session and ("cost", warning.limit) in core.state.budget_warned):
                core.record(warning)

    def _land(self, breach: Breach, *, answered: bool = False) -> None:
        """A soft landing: one more step, without tools. Or none, where the operator wants that, or it is `answered`."""
        hard = self._core.limits.on_exhaustion == "fail"
        stopping.trip(self._core, breach, halted_turn=hard, answered=answered)
        if hard:
            raise Stopped(endings.exhausted(breach))
        self._grace = breach

    # ── a step ──

    async def _step(self) -> Answered:
        core = self._core
        core.hub.step += 1
        core.record(ev.StepStarted(core.model.card.id))
        try:
            return await self._asked()
        except Cut:
            stopping.check(core)
            raise

    async def _asked(self) -> Answered:
        """Once more where the prompt was refused as too long, and is shorter now."""
        core, grace = self._core, self._grace is not None
        request = Request(core, grace=grace, must=self._must)
        try:
            return await request.send()
        except ContextOverflow as problem:
            if not await self._reducer.overflowed(problem):
                request.keep_partial()
                raise endings.too_long(problem, core.model.card, context_size(core)) from problem
            if problem.status is None:  # what no service said the operator has to know, and can mend
                core.record(ev.OperatorNote(str(problem), "warning"))
            if request.shown:
                core.record(ev.Retry(1, 2, 0.0, problem.kind, SHORTER))
        request = Request(core, grace=grace, must=self._must)
        try:
            return await request.send()
        except ContextOverflow as problem:
            request.keep_partial()
            raise endings.too_long(problem, core.model.card, context_size(core)) from problem

    async def _batch(self, calls: tuple[ToolCall, ...], answered: Answered) -> None:
        core = self._core
        self._empty, self._continued = 0, False
        batch = Batch(core, calls, self._deadline, answered.cut, answered.settled)
        breach = tree.token_breach(core) or tree.batch_breach(core, len(calls))
        if breach is not None:
            batch.settle_rest(SETTLED.format(reason=breach.reason))
            self._land(breach)
            return
        await batch.run()
        stopping.check(core)
        nested.join(core)
        if core.hooked.words:
            from agent_cli.engine.hooking import join

            join(core)
        if word := core.watchdog.word():
            core.record(ev.OperatorMessage((Text(word),), by="product"))

    def _last_word(self, grace: Breach, finished: ev.Finished) -> Ending:
        """Of the grace step: its text is the answer; a tool call in it never runs; there is no other step."""
        calls = calls_of(finished.parts)
        if calls:
            Batch(self._core, calls, self._deadline, frozenset(), {}).settle_rest(
                SETTLED.format(reason=grace.reason)
            )
        stopping.boundary(self._core)
        if calls or not text_of(finished.parts).strip():
            return endings.exhausted(grace)
        return endings.landed(grace.exhausted)

    def _withheld(self, calls: tuple[ToolCall, ...], finished: ev.Finished) -> None:
        """An answer that the model or its service did not want to give, or not to its end. Always raises Stopped."""
        ending = endings.withheld(finished)
        if calls:
            reason = SETTLED.format(reason=ending.message)
            Batch(self._core, calls, self._deadline, frozenset(), {}).settle_rest(reason)
        stopping.boundary(self._core)
        raise Stopped(ending)

    def _broke_off(self, finished: ev.Finished) -> bool:
        """An answer that broke off in its text is continued once."""
        self._continued = finished.finish_reason in GO_ON and not self._continued
        return self._continued

    def _count_empty(self, finished: ev.Finished) -> None:
        """An empty answer is asked for once more, then it is an error that carries the service's reason."""
        self._empty += 1
        if self._empty > 1:
            reason = finished.native_reason or finished.finish_reason
            message = f"{EMPTY} (finish reason: {reason})"
            raise Stopped(endings.invalid(message))

    def _answered(self, finished: ev.Finished) -> Ending:
        core = self._core
        used_up = budgets.token_breach(core.spent(), core.limits)
        if used_up is not None:
            self._land(used_up, answered=True)
        stopping.boundary(core)
        if finished.finish_reason == "length":
            core.record(ev.OperatorNote(CUT_SHORT, "warning"))
        if used_up is not None:
            return endings.landed(used_up.exhausted)
        return endings.answered(finished.native_reason or finished.finish_reason)

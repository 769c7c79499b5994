"""One model request: built from the log, sent, and sent again where that can help."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from agent_cli.context import prefix
from agent_cli.context.budget import FULL_SHARE
from agent_cli.context.status import Progress, status_line
from agent_cli.engine import killing
from agent_cli.engine.core import Core
from agent_cli.engine.endings import Cut
from agent_cli.engine.received import mended, settled, with_own_ids
from agent_cli.engine.reserving import Hold, reserved, today
from agent_cli.engine.saying import Saying
from agent_cli.engine.size import at_least, context_size, estimated_size, is_whole
from agent_cli.guardrails.budgets import Breach, cost_breach
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import CircuitOpen, ConfigError, ContextOverflow, ProviderError, StreamCut
from agent_cli.kernel.messages import Effort, Prompt, Text, text_of
from agent_cli.kernel.usage import ModelCard, Usage, cost_of, saved_of
from agent_cli.ports import OpenModel

COUNTDOWN = 1.0
"""Seconds between two tellings of how long a wait still is."""
ROOM_FOR_ANSWER = 1_024
OUTGREW = "The answer of {model} filled the context window before its end ({reason}), so it is not whole."


class Answered(NamedTuple):
    """`cut` are the ids of calls whose arguments were cut off by the output limit and had to be closed.

    `settled` are results by id of calls that were answered where they were made.
    """

    finished: ev.Finished
    cut: frozenset[str]
    settled: Mapping[str, ev.Output]


class Request:
    """`grace` forbids tools: the one answer that a spent budget still allows. `must` names the tool to be called."""

    def __init__(self, core: Core, *, grace: bool = False, must: str = "") -> None:
        self._core = core
        self._grace = grace
        self._must = must
        self._saying = Saying(core)
        self._usage = Usage()
        self._reported = False
        self._whole = True
        self._size = 0
        self._cut_off: list[str] = []
        self._fallbacks = list(core.parts.fallbacks)

    async def send(self) -> Answered:
        """Records what was spent and said. Raises ProviderError after the last attempt: a fallback model that cannot be
        used at all changes nothing about why the first one could not.

        Cancelled in mid-stream, it records the text so far as partial, and what was spent on it.
        """
        asked, why = self._core.model, None
        while True:
            try:
                return await self._guarded()
            except ContextOverflow:
                self._report_spent()  # what it said is kept only where nothing better comes
                raise
            except ProviderError as problem:
                why = self._elsewhere(problem, why, asked)

    def _elsewhere(
        self, problem: ProviderError, why: ProviderError | None, asked: OpenModel
    ) -> ProviderError:
        """The next of the fallback models is asked, because of what this returns; raises where there is none."""
        if not (problem.retryable or why):
            self.keep_partial()
            raise problem
        core = self._core
        if why is not None and not problem.retryable:
            core.record(ev.OperatorNote(f"fallback model {core.model.card.id}: {problem}", "warning"))
        reason = problem if why is None or problem.retryable else why
        if self._fall_back(reason):
            return reason
        self.keep_partial()
        if not problem.retryable:
            core.switch(asked, "no fallback model can be used")
        raise reason

    @property
    def shown(self) -> bool:
        """Whether the last attempt said something."""
        return bool(self._saying.text.strip())

    async def _guarded(self) -> Answered:
        """One operation behind the circuit breaker of its service. Overflow and refusals never count as failures."""
        core = self._core
        breaker = core.parts.breakers.of(core.model.endpoint or core.model.provider.name)
        admitted = breaker.admit(core.parts.clock.monotonic())
        if admitted is None:
            raise CircuitOpen(breaker.refusal(core.parts.clock.monotonic()))
        try:
            answered = await self._attempts()
        except ProviderError as problem:
            if problem.retryable:
                breaker.failed(core.parts.clock.monotonic(), admitted)
            else:
                breaker.succeeded()
            raise
        except BaseException:
            breaker.abandoned(admitted)
            raise
        breaker.succeeded()
        return answered

    def _fall_back(self, problem: ProviderError) -> bool:
        """Goes on with the next of the fallback models, if there is one that can be opened."""
        core = self._core
        while self._fallbacks:
            name = self._fallbacks.pop(0)
            if name == core.model.card.id:
                continue
            try:
                opened = core.parts.models.open(name)
            except ConfigError as unknown:
                core.record(ev.OperatorNote(f"fallback model: {unknown}", "warning"))
                continue
            self._report_spent()
            core.switch(opened, f"fallback: {problem}")
            return True
        return False

    async def _attempts(self) -> Answered:
        settings = self._core.parts.settings
        attempt = 1
        while True:
            try:
                return await self._attempt()
            except ProviderError as problem:
                if not problem.retryable or attempt >= settings.attempts:
                    raise
                self._report_spent()
                await self._wait(attempt, problem)
                attempt += 1

    async def _attempt(self) -> Answered:
        core = self._core
        killing.before_model(core)
        self._saying, self._usage, self._reported, self._whole = Saying(core), Usage(), False, True
        prompt = self.prompt()
        self._compare(prompt)
        size = self._size = context_size(core)
        known = min(core.state.context_measured, size)
        with reserved(core, core.model.card, prompt, known, size - known) as hold:
            return await self._stream(prompt, hold)

    async def _stream(self, prompt: Prompt, hold: Hold) -> Answered:
        core = self._core
        stream = core.model.provider.stream(prompt)
        came, self._cut_off = False, []
        try:
            async for piece in stream:
                came = True
                self._cut_off.append(
                    "" if isinstance(piece, (ev.Finished, ev.UsageSoFar, ev.SpentBeside)) else piece.text
                )
                if isinstance(piece, ev.Finished):
                    return await self._finish(piece)
                self._stop_here(piece)
                await self._show(piece)
        except BaseException as problem:
            if not isinstance(problem, Exception):
                self.keep_partial()
            raise
        finally:
            hold.paid = not came or (self._whole and (self._reported or self._usage != Usage()))
            await stream.aclose()
        raise StreamCut("the model's answer broke off before its end")

    def _compare(self, prompt: Prompt) -> None:
        """Says once where a prompt does not begin as the last one did, and nothing that happened explains it."""
        core = self._core
        before, core.last_prompt = core.last_prompt, prompt
        if before is not None and (change := prefix.change(before, prompt)):
            core.record(
                ev.OperatorNote(
                    f"the prompt cache is lost from here on and written anew: {change}", "warning"
                )
            )

    async def _show(self, piece: ev.Piece) -> None:
        match piece:
            case ev.UsageSoFar(usage):
                self._usage = usage.sound
                self._core.cut(self._breach())
            case ev.SpentBeside(card, beside):
                record_usage(self._core, card, beside, "subtask")
            case ev.TextDelta() | ev.ReasoningDelta() | ev.ArgumentsDelta():
                await self._saying.feed(piece)

    def _stop_here(self, piece: ev.Piece) -> None:
        """Raises Cut where more of an answer comes that cannot be paid for. What came last is not cut: it is paid."""
        if self._core.stop is not None and not isinstance(piece, ev.UsageSoFar):
            self.keep_partial()
            raise Cut

    def _breach(self) -> Breach | None:
        """Whether what this request has cost so far reaches a ceiling; then whatever still comes is not waited for."""
        core = self._core
        if not (core.limits.max_turn_cost or core.limits.max_session_cost):
            return None
        spent, cost = core.spent(), cost_of(self._usage, core.model.card, today(core)) or 0.0
        so_far = msgspec.structs.replace(
            spent, turn_cost=spent.turn_cost + cost, session_cost=spent.session_cost + cost
        )
        return cost_breach(so_far, core.limits)

    async def _finish(self, finished: ev.Finished) -> Answered:
        core = self._core
        self._usage, came, self._cut_off = finished.usage.sound, "".join(self._cut_off), []
        self._whole = self._is_whole(finished.usage, came or text_of(finished.parts))
        await self._saying.over()
        if finished.finish_reason == "context":
            raise ContextOverflow(
                OUTGREW.format(model=core.model.card.id, reason=finished.native_reason or "no reason given"),
                used=finished.usage.total or None,
            )
        own = with_own_ids(core, finished.parts)
        parts, closed = mended(own)
        if parts:
            core.record(
                ev.AssistantMessage(
                    await self._saying.said(parts),
                    core.model.provider.name,
                    core.model.card.id,
                    finished.finish_reason,
                    finished.native_reason,
                    finished.response_id,
                )
            )
        self._report_spent(self._served(finished.model))
        cut = closed if finished.finish_reason == "length" else frozenset[str]()
        return Answered(msgspec.structs.replace(finished, parts=parts), cut, settled(finished, own))

    def keep_partial(self) -> None:
        """Of a stream that was cut for good: its text, as far as it was shown."""
        self._saying.cut()
        core, text = self._core, self._saying.text
        if text.strip():
            said = (Text(text),)
            core.record(
                ev.AssistantMessage(said, core.model.provider.name, core.model.card.id, "other", partial=True)
            )
        self._report_spent()

    def _report_spent(self, served: ModelCard | None = None) -> None:
        """What the service counted; where an answer was cut off before it did, at least what was sent and came."""
        card = served or self._core.model.card
        usage, self._usage = self._usage, Usage()
        pieces, self._cut_off = self._cut_off, []
        told = usage
        if pieces and not card.delegated and not self._core.state.boundaries.uncounted:
            told = at_least(usage, self._size, "".join(pieces))
        if told != Usage():
            self._reported = True
            record_usage(self._core, card, told, "step", estimated=told != usage)

    def _served(self, name: str) -> ModelCard | None:
        """The card of the model that answered, where it is another one than was asked and its price is known."""
        core, asked = self._core, self._core.model.card
        if name in ("", asked.id) or asked.delegated or not asked.prices:
            return None
        with contextlib.suppress(ConfigError):
            card = core.parts.models.open(f"{asked.provider}/{name}").card
            return card if card.prices else None
        return None

    async def _wait(self, attempt: int, problem: ProviderError) -> None:
        settings = self._core.parts.settings
        delay = settings.first_delay * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
        if problem.retry_after is not None:
            delay = problem.retry_after
        delay = min(delay, settings.longest_delay)
        self._core.record(ev.Retry(attempt, settings.attempts, round(delay, 3), problem.kind, str(problem)))
        clock = self._core.parts.clock
        deadline = clock.monotonic() + delay
        while (left := deadline - clock.monotonic()) > 0:
            self._core.hub.show(ev.Waiting(left, str(problem)))
            await clock.sleep(min(left, COUNTDOWN))

    # ── the prompt ──

    def prompt(self) -> Prompt:
        core = self._core
        settings = core.parts.settings
        return Prompt(
            model=core.model.card.id,
            system=core.prefix().system,
            tools=tuple(tool.spec for tool in core.tools().values()),
            messages=core.view.messages(),
            status=self._status(),
            max_output=self._max_output(),
            effort=_effort(core),
            temperature=settings.temperature,
            tool_choice="none" if self._grace else self._must or "auto",
            session=core.key,
            steps_left=self._steps_left(),
        )

    def _status(self) -> str | None:
        core = self._core
        landing = "the budget of this turn is used up: answer now, without tools" if self._grace else ""
        if not core.parts.settings.run_status:
            return landing or None
        spent = core.spent()
        progress = Progress(spent.steps, spent.calls, spent.tokens, context_size(core), spent.seconds)
        return "\n".join(filter(None, (status_line(progress, core.limits), landing)))

    def _is_whole(self, counted: Usage, came: str) -> bool:
        """Whether hard budgets can go by what the service counted. The prompt is estimated by its text: what was
        measured before may hold thoughts that are not sent again.
        """
        core = self._core
        if core.model.card.delegated or not core.root.parts.limits.reserve:
            return True
        return is_whole(counted, estimated_size(core), came)

    def _steps_left(self) -> int | None:
        if self._grace:
            return 1
        most = self._core.limits.max_steps
        return max(1, most - self._core.state.turn_steps + 1) if most else None

    def _max_output(self) -> int | None:
        """Never more than what the window leaves; None for the model's own limit."""
        wanted, card = self._core.parts.settings.max_output, self._core.model.card
        if card.window is None or card.delegated:
            return wanted
        full = int(card.window * FULL_SHARE)  # the size is an estimate: the rest is its margin
        left = max(full - context_size(self._core), min(ROOM_FOR_ANSWER, card.window - full))
        most = min(limit for limit in (wanted, card.max_output, card.window) if limit is not None)
        return left if left < most else wanted


def _effort(core: Core) -> Effort | None:
    """The effort in force, where the model takes it. One that this run named for its model goes out as it is."""
    effort, card = core.state.effort or None, core.model.card
    named = effort == core.parts.settings.effort and core.model is core.parts.model
    if effort is None or named or effort in card.efforts:
        return effort
    if (told := f"effort {card.id}") not in core.root.told:
        core.root.told.add(told)
        core.record(
            ev.OperatorNote(f"{card.id} does not take the effort {effort}, so it thinks as it does by itself")
        )
    return None


def record_usage(
    core: Core, card: ModelCard, usage: Usage, purpose: ev.Purpose, *, estimated: bool = False
) -> None:
    """What one request took, at the prices of the day."""
    day, usage = today(core), usage.sound
    cost, saved = cost_of(usage, card, day), saved_of(usage, card, day)
    core.record(ev.UsageReported(card.id, usage, cost, purpose, saved, estimated))

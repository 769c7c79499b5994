"""Makes the conversation fit: prune, then summarize; mechanical truncation where no summary is to be had.

A failure here never ends a turn.
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from agent_cli.context import reduce
from agent_cli.context.budget import Budget, budget_of
from agent_cli.engine.core import Core
from agent_cli.engine.request import context_size
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import AgentError, ContextOverflow, StreamCut
from agent_cli.kernel.messages import Message, Prompt, Text, ToolSpec, text_of
from agent_cli.kernel.usage import Usage, cost_of

WORTH = 0.10
"""Of the conversation: a reduction that saves less is not done."""
FAILURES_TO_MECHANICAL = 2
LONGEST_COOLDOWN = 32
DEEP = 0.55
"""Of the threshold: a prune that leaves more is repeated soon, and each one costs the cached prefix."""
REFILLS = 3
QUICK_STEPS = 2
"""A conversation that is full again after so few steps was refilled right after its reduction."""
WORDS_SHARE, DIGEST_SHARE = 0.20, 0.20
"""Of the threshold: what the operator's own words, and a digest, may take."""
SHRINK = (1.0, 0.7, 0.5, 0.35)
"""Sizes of a chunk that are tried, one after the other, where the summarizer's prompt is refused as too long."""
CHUNK_SHARE = 0.5
MOST_CHUNKS = 8
TERMINAL = frozenset({"length", "refusal", "safety", "context"})
SUMMARY_TOKENS = 8_000
SMALLEST_WINDOW = 4_000
"""What a refusal that names no limit is never taken to mean."""


class Reducer:
    """One a session. `failures` in a row turn to mechanical truncation; a failed try cools down for some turns."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._failures = 0
        self._cool_until = 0
        self._last = (0, 0)
        self._refills = 0
        self._refused: dict[str, int] = {}
        self._announced: set[str] = set()

    @property
    def budget(self) -> Budget:
        card = self._core.model.card
        refused = self._refused.get(card.id)
        if refused and (card.window is None or refused < card.window):
            card = msgspec.structs.replace(card, window=refused)
        return budget_of(card, self._core.parts.compaction)

    async def seam(self) -> None:
        """Before a request is built: reduces where the conversation has grown past its threshold."""
        core = self._core
        if core.model.card.delegated:
            return
        budget = self.budget
        self._announce(budget)
        if not core.parts.compaction.enabled or context_size(core) < budget.limit:
            return
        await self._reduce(budget)
        self._squeeze()

    async def overflowed(self, problem: ContextOverflow) -> bool:
        """The service refused the prompt as too long. Whether it is smaller now, so that one more try makes sense."""
        core = self._core
        if core.model.card.delegated:
            return False
        if problem.limit and core.model.card.window != problem.limit:
            core.learn_window(problem.limit)
        elif not problem.limit:
            self._refused[core.model.card.id] = max(context_size(core), SMALLEST_WINDOW)
        if not core.parts.compaction.enabled:
            return False
        before = core.state.seq
        missed = max(0, (problem.used or self.budget.window) - context_size(core))
        await self._reduce(self.budget, force=True)
        self._squeeze(missed)
        return core.state.seq > before and self._reduced_since(before)

    async def now(self, focus: str) -> None:
        """As the operator asked. Raises AgentError where nothing came of it."""
        if self._core.model.card.delegated:
            raise AgentError(
                f"{self._core.model.provider.name} keeps and compacts its conversation by itself"
            )
        items = self._core.view.items()
        keep = min(self.budget.kept(self._core.parts.compaction.keep_recent), reduce.tokens_of(items) // 4)
        found = reduce.cut(items, keep)
        if found is None:
            raise AgentError("there is nothing to compact yet: the conversation is one step long")
        await self._summarize(found, focus)

    def _announce(self, budget: Budget) -> None:
        """Once for each model whose window is a guess."""
        model = self._core.model.card.id
        if budget.assumed and model not in self._announced:
            self._announced.add(model)
            self._core.record(ev.ContextReductionDegraded("assumed-window", model, window=budget.window))

    def _reduced_since(self, seq: int) -> bool:
        log = self._core.parts.log
        branch = self._core.state.branch
        return any(
            isinstance(entry.event, ev.CompactionPerformed) and entry.branch == branch
            for entry in log.read(seq)
        )

    # ── the stages ──

    async def _reduce(self, budget: Budget, *, force: bool = False) -> None:
        """A prune that reaches deep is enough. Else a summary, which saves more; else whatever makes it smaller."""
        core = self._core
        size = context_size(core)
        keep = budget.kept(core.parts.compaction.keep_recent)
        keep = min(keep, size * 3 // 10) if force else keep
        self._count_refill()
        plan = self._pruning(keep)
        if plan is not None and not force and size - plan.saved <= DEEP * budget.limit:
            self._prune(plan)
            return
        found = self._cut(keep)
        mechanical = self._refills >= REFILLS or self._failures >= FAILURES_TO_MECHANICAL
        if found is not None and not mechanical and (force or core.state.turn >= self._cool_until):
            if await self._try_summary(found):
                return
            mechanical = self._failures >= FAILURES_TO_MECHANICAL
        if plan is not None and not mechanical:
            self._prune(plan)
            found = self._cut(keep)  # what was cleared is not saved twice
        if found is not None and (mechanical or context_size(core) >= budget.full):
            self._truncate(found)

    def _cut(self, keep: int) -> reduce.Cut | None:
        """What to drop, if that saves enough."""
        found = reduce.cut(self._core.view.items(), keep)
        if found is not None and found.saved < WORTH * context_size(self._core):
            return None
        return found

    def _count_refill(self) -> None:
        """Reductions in a row that the conversation outgrew at once."""
        now = (self._core.state.turn, self._core.hub.step)
        quick = now[0] == self._last[0] and now[1] - self._last[1] <= QUICK_STEPS
        self._refills = self._refills + 1 if quick else 0
        self._last = now

    def _pruning(self, keep: int) -> reduce.Prune | None:
        """Which old results to clear, if that saves enough."""
        if self._core.parts.compaction.mode == "summarize-only":
            return None
        plan = reduce.prune(self._core.view.items(), keep)
        return plan if plan.saved >= WORTH * context_size(self._core) else None

    def _prune(self, plan: reduce.Prune) -> None:
        before = context_size(self._core)
        self._core.record(ev.CompactionPerformed("prune", before, max(0, before - plan.saved), plan.cleared))

    def _squeeze(self, missed: int = 0) -> None:
        """The last resort before a turn would be cut: results of the last batch go too, so that no session ends by them.

        `missed` are tokens by which the estimate was too low.
        """
        budget = self.budget
        size = context_size(self._core) + missed
        if size < budget.full:
            return
        plan = reduce.squeeze(self._core.view.items(), size - budget.limit)
        if plan.saved:
            self._prune(plan)

    async def _try_summary(self, found: reduce.Cut) -> bool:
        """Whether there is one now. A failure is recorded and cools down."""
        core = self._core
        try:
            await self._summarize(found, "")
        except AgentError as problem:
            self._failures += 1
            cooldown = min(2**self._failures, LONGEST_COOLDOWN)
            self._cool_until = core.state.turn + cooldown
            core.record(ev.ContextReductionFailed("compaction", str(problem), self._failures, cooldown))
            return False
        self._failures = 0
        self._cool_until = 0
        return True

    def _truncate(self, found: reduce.Cut) -> None:
        """Without a model. Success clears the cool-down and keeps the count: one summarizer attempt a refill."""
        core = self._core
        room = int(self.budget.limit * DIGEST_SHARE) * reduce.BYTES_PER_TOKEN
        text = reduce.composed(reduce.digest(found.dropped, room), found.dropped, self._words_room())
        before = context_size(core)
        after = max(0, before - found.saved + len(text.encode()) // reduce.BYTES_PER_TOKEN)
        if after >= before:
            core.record(
                ev.ContextReductionFailed(
                    "compaction", "the truncation is no smaller than what it replaces", self._failures
                )
            )
            return
        core.record(ev.ContextReductionDegraded("mechanical", core.model.card.id, before, self.budget.window))
        core.record(
            ev.CompactionPerformed("mechanical", before, after, summary=text, keeps_from=found.keeps_from)
        )
        self._cool_until = 0
        self._failures = min(self._failures, FAILURES_TO_MECHANICAL - 1)

    def _words_room(self) -> int:
        """Bytes that the operator's own words may take in what stands for a dropped part."""
        return int(self.budget.limit * WORDS_SHARE) * reduce.BYTES_PER_TOKEN

    async def _summarize(self, found: reduce.Cut, focus: str) -> None:
        """Raises AgentError where no summary came, or one that is no smaller than what it replaces."""
        core = self._core
        clock = core.parts.clock
        begun, before, spent = clock.monotonic(), context_size(core), core.state.total.cost
        summary = await self._asked_for(found, focus)
        text = reduce.composed(summary, found.dropped, self._words_room())
        after = before - found.saved + len(text.encode()) // reduce.BYTES_PER_TOKEN
        if after >= before:
            raise AgentError("compaction: the summary is no smaller than what it replaces")
        core.record(
            ev.CompactionPerformed(
                "summary",
                before,
                max(0, after),
                summary=text,
                keeps_from=found.keeps_from,
                focus=focus,
                duration_s=round(clock.monotonic() - begun, 3),
                cost=core.state.total.cost - spent,
                model=core.model.card.id,
            )
        )

    # ── the summarizer ──

    async def _asked_for(self, found: reduce.Cut, focus: str) -> str:
        """One summary: on the cached prefix where that fits, else folded in chunks, smaller ones if refused."""
        core = self._core
        wanted = core.parts.summary_prompt + (f"\n\nDwell on: {focus}" if focus else "")
        problem: ContextOverflow | None = None
        if context_size(core) + self._room() < self.budget.window:
            try:
                return await self._ask(self._on_prefix(wanted))
            except ContextOverflow as too_long:
                problem = too_long
        for share in SHRINK:
            try:
                return await self._folded(found, wanted, share)
            except ContextOverflow as too_long:
                problem = too_long
        raise AgentError(f"compaction: the conversation is too long to be summarized ({problem})")

    def _room(self) -> int:
        """Tokens that a summary may take."""
        return min(SUMMARY_TOKENS, self.budget.window // 10)

    def _on_prefix(self, wanted: str) -> Prompt:
        """The same system text and tools, the messages, then what is wanted."""
        core = self._core
        messages = reduce.for_summary(core.view.messages())
        tools = tuple(tool.spec for tool in core.tools().values())
        return self._prompt(core.system(), tools, _with_request(messages, wanted))

    async def _folded(self, found: reduce.Cut, wanted: str, share: float) -> str:
        """A hand-over that each chunk of the transcript is folded into; the newest chunks where there are many."""
        room = int(self.budget.window * CHUNK_SHARE * share) * reduce.SAFE_BYTES_PER_TOKEN
        summary = ""
        for chunk in reduce.chunks(reduce.transcript(found.dropped), room)[-MOST_CHUNKS:]:
            told = [f"The hand-over so far:\n\n{summary}"] if summary else []
            told += [f"The conversation, or the next part of it:\n\n{chunk}", wanted]
            message = Message("user", (Text("\n\n".join(told)),))
            summary = await self._ask(
                self._prompt(("You write hand-overs of conversations.",), (), (message,))
            )
        return summary

    def _prompt(
        self, system: tuple[str, ...], tools: tuple[ToolSpec, ...], messages: tuple[Message, ...]
    ) -> Prompt:
        card = self._core.model.card
        return Prompt(
            model=card.id,
            system=system,
            tools=tools,
            messages=messages,
            max_output=min(card.max_output or SUMMARY_TOKENS, self._room()),
            tool_choice="none" if tools else "auto",
            session=self._core.key,
        )

    async def _ask(self, prompt: Prompt) -> str:
        """Raises AgentError with the service's reason where no text came; asked again once where it gave none."""
        for attempt in (1, 2):
            finished = await self._stream(prompt)
            text = text_of(finished.parts).strip()
            if text:
                return text
            reason = finished.native_reason or finished.finish_reason
            if (
                finished.finish_reason in TERMINAL
                or finished.native_reason not in ("", "unknown")
                or attempt > 1
            ):
                raise AgentError(
                    f"compaction: model returned no summary text (finish_reason={reason}) after {attempt} attempt"
                )
        raise AssertionError

    async def _stream(self, prompt: Prompt) -> ev.Finished:
        core = self._core
        usage, finished = Usage(), None
        stream = core.model.provider.stream(prompt)
        try:
            async for piece in stream:
                match piece:
                    case ev.UsageSoFar(so_far):
                        usage = so_far
                    case ev.Finished():
                        usage, finished = piece.usage, piece
                    case _:
                        pass  # a summary is not shown while it is written
        finally:
            await stream.aclose()
            if usage != Usage():
                day = datetime.fromtimestamp(core.parts.clock.now(), UTC).date().isoformat()
                core.record(
                    ev.UsageReported(
                        core.model.card.id, usage, cost_of(usage, core.model.card, day), "summary"
                    )
                )
        if finished is None:
            raise StreamCut("the summary broke off before its end")
        return finished


def _with_request(messages: tuple[Message, ...], wanted: str) -> tuple[Message, ...]:
    """The request as the last text of the last user message."""
    if messages and messages[-1].role == "user":
        return (*messages[:-1], Message("user", (*messages[-1].parts, Text(wanted))))
    return (*messages, Message("user", (Text(wanted),)))

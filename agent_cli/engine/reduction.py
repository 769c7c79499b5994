"""Makes the conversation fit: prune, then summarize; mechanical truncation where no summary is to be had.

A failure here never ends a turn.
"""

from __future__ import annotations

import msgspec

from agent_cli.context import reduce
from agent_cli.context.budget import Budget
from agent_cli.context.view import messages_of
from agent_cli.context.words import Rooms
from agent_cli.engine.checkpoint import Checkpoints
from agent_cli.engine.core import Core
from agent_cli.engine.replaced import written
from agent_cli.engine.shortening import shorten_words
from agent_cli.engine.size import context_size, estimated_size
from agent_cli.engine.summarizer import Summarizer, Wanted
from agent_cli.engine.window import budget_for, carried, digest_room, makes_things_up, mark_pending
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import AgentError, ContextOverflow

WORTH = 0.10
"""Of the conversation: a reduction that saves less is not done."""
FAILURES_TO_MECHANICAL = 2
LONGEST_COOLDOWN = 32
DEEP = 0.55
"""Of the threshold: a prune that leaves more is repeated soon, and each one costs the cached prefix."""
REFILLS = 3
QUICK_STEPS = 2
"""A conversation that is full again after so few steps was refilled right after its reduction."""
WORDS_SHARE, LAST_SHARE = 0.20, 0.50
"""Of the threshold: what the operator's own words, and the last message alone may take."""
BOTH_DOWN = (
    "no summary is to be had and the mechanical truncation is no smaller than what it would replace: both ways to "
    "reduce the conversation are down"
)
SMALLEST_WINDOW = 4_000
"""What a refusal that names no limit is never taken to mean."""


class Reducer:
    """One a session. Failures in a row turn to mechanical truncation; a failed try cools down for some turns.

    What failed and when is known from the log, so that a restart changes nothing about it.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._summarizer = Summarizer(core, lambda: self.budget)
        self._checkpoints = Checkpoints(core, self._summarizer, self._rooms)
        self._last = (0, 0)
        self._refills = 0
        self._refused: dict[str, int] = {}
        self._scale = 0.0
        self._aim = 0

    @property
    def budget(self) -> Budget:
        card = self._core.model.card
        refused = self._refused.get(card.id)
        if refused and (card.window is None or refused < card.window):
            card = msgspec.structs.replace(card, window=refused)
        return budget_for(self._core, card)

    async def begin(self) -> None:
        """At the start of a turn, before its first request: the record of a task that was said to be done."""
        await self._checkpoints.due()

    async def checkpoint(self, note: str) -> None:
        """As the operator asked. Raises AgentError where nothing came of it."""
        await self._checkpoints.now(note)

    async def seam(self) -> None:
        """Before a request is built: reduces where the conversation has grown past its threshold."""
        core = self._core
        if core.model.card.delegated:
            return
        budget = self.budget
        self._announce(budget)
        if not core.parts.compaction.enabled or context_size(core) < budget.limit:
            return
        mark_pending(core)
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
            least = max(SMALLEST_WINDOW, 2 * core.prefix().overhead.total)
            self._refused[core.model.card.id] = max(context_size(core), least)
        if not core.parts.compaction.enabled:
            return False
        before = core.state.seq
        size = estimated_size(core)
        # a figure below our estimate is not relied on, and where nobody said what would fit, half of it may
        self._scale = max(1.0, (problem.used or self.budget.window) / size)
        self._aim = 0 if problem.limit else self._size() // 2
        try:
            await self._reduce(self.budget, force=True)
            self._squeeze()
        finally:
            self._scale, self._aim = 0.0, 0
        return core.state.seq > before and self._reduced_since(before)

    def _size(self) -> int:
        """Of the next prompt. One that was refused as too long is not measured by what was counted before: that was wrong."""
        if not self._scale:
            return context_size(self._core)
        return int(estimated_size(self._core) * self._scale)

    async def now(self, focus: str) -> None:
        """As the operator asked. Raises AgentError where nothing came of it."""
        if self._core.model.card.delegated:
            raise AgentError(
                f"{self._core.model.provider.name} keeps and compacts its conversation by itself"
            )
        items = self._core.view.items()
        keep = min(self.budget.kept(self._core.parts.compaction.keep_recent), reduce.tokens_of(items) // 4)
        found = reduce.cut(items, keep)
        if found is None and self._squeeze():
            return
        if found is None:
            raise AgentError("there is nothing to compact yet: the conversation is one step long")
        if found.saved < WORTH * self._size():
            raise AgentError("there is little to compact: it would make less than a tenth of the next prompt")
        if self._untrue:
            if not self._truncate(found):
                raise AgentError("what would be left is no smaller than the conversation")
            return
        await self._summarize(found, focus)

    def _announce(self, budget: Budget) -> None:
        """Once for each model whose window is a guess."""
        model = self._core.model.card.id
        if budget.assumed and model not in self._core.state.boundaries.assumed:
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
        size = self._size()
        keep = budget.kept(core.parts.compaction.keep_recent)
        keep = min(keep, size * 3 // 10) if force else keep
        self._count_refill()
        plan, found = self._pruning(keep), self._cut(keep)
        if plan is not None and not force and self._prune_is_enough(size, plan, found):
            self._prune(plan)
            return
        mechanical = self._refills >= REFILLS or self._given_up or self._untrue
        cooled = core.state.turn >= core.state.boundaries.cool_until
        if found is not None and not mechanical and (force or cooled):
            if await self._try_summary(found):
                return
            mechanical = self._given_up
        if plan is not None and not mechanical:
            self._prune(plan)
            found = self._cut(keep)  # what was cleared is not saved twice
        needed = mechanical or self._size() >= budget.full
        if found is not None and needed and not self._truncate(found):
            core.record(ev.ContextReductionFailed("compaction", BOTH_DOWN, core.state.boundaries.failures))

    def _prune_is_enough(self, size: int, plan: reduce.Prune, found: reduce.Cut | None) -> bool:
        """Under the threshold, and deep below it, or as deep as a summary would come: what has to stay is that large."""
        limit = self.budget.limit
        left = size - plan.saved
        return left <= DEEP * limit or (
            left < limit and (found is None or found.saved - plan.saved < WORTH * limit)
        )

    @property
    def _given_up(self) -> bool:
        """Enough failures in a row; one attempt is left after each truncation."""
        known = self._core.state.boundaries
        return known.failures >= FAILURES_TO_MECHANICAL and not known.probe

    @property
    def _untrue(self) -> bool:
        return self._core.parts.compactor is None and makes_things_up(self._core)

    def _cut(self, keep: int) -> reduce.Cut | None:
        """What to drop, if that saves enough."""
        found = reduce.cut(self._core.view.items(), keep)
        if found is not None and found.saved < WORTH * self._size():
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
        return plan if plan.saved >= WORTH * self._size() else None

    def _prune(self, plan: reduce.Prune) -> None:
        before = self._size()
        after = max(0, before - int(plan.saved * (self._scale or 1.0)))
        self._core.record(ev.CompactionPerformed("prune", before, after, plan.cleared))

    def _squeeze(self) -> bool:
        """The last resort before a turn would be cut: results of the last batch go too, and then most of what the
        operator's longest messages say, so that no session ends by them. Whether anything went.
        """
        budget, before = self.budget, self._core.state.seq
        if self._aim:
            budget = msgspec.structs.replace(budget, limit=min(budget.limit, self._aim))
        size = self._size()
        most = budget.limit if self._scale else budget.full  # what was refused was larger than we thought
        if size < most:
            return False
        scale = self._scale or 1.0
        plan = reduce.squeeze(self._core.view.items(), int((size - budget.limit) / scale))
        if plan.saved:
            self._prune(plan)
            size = self._size()
        if size >= most:
            shorten_words(self._core, size, budget, scale)
            size = self._size()
        if size >= most and (found := reduce.cut_before_last_words(self._core.view.items())):
            self._truncate(found)
        return self._core.state.seq > before

    async def _try_summary(self, found: reduce.Cut) -> bool:
        """Whether there is one now. A failure is recorded and cools down."""
        core = self._core
        try:
            await self._summarize(found, "")
        except AgentError as problem:
            failures = core.state.boundaries.failures + 1
            cooldown = min(2**failures, LONGEST_COOLDOWN)
            core.record(ev.ContextReductionFailed("compaction", str(problem), failures, cooldown))
            return False
        return True

    def _truncate(self, found: reduce.Cut) -> bool:
        """Without a model; False where that saves nothing. Success clears the cool-down and keeps the count: one summarizer attempt a refill."""
        core = self._core
        digest = reduce.digest(found.dropped, digest_room(self.budget))
        text = reduce.composed(digest, found.dropped, self._rooms(found.keeps_from), carried(core))
        before = self._size()
        saved = found.saved - len(text.encode()) // reduce.BYTES_PER_TOKEN
        after = max(0, before - int(saved * (self._scale or 1.0)))
        if after >= before:
            return False
        core.record(ev.ContextReductionDegraded("mechanical", core.model.card.id, before, self.budget.window))
        core.record(
            ev.CompactionPerformed("mechanical", before, after, summary=text, keeps_from=found.keeps_from)
        )
        return True

    def _rooms(self, keeps_from: int) -> Rooms:
        """What the operator's own words may take in what stands for a dropped part. The last message stays as it is,
        in the view or in there, unless half of the conversation cannot hold it.
        """
        limit = int(self.budget.limit / (self._scale or 1.0))
        words = min(reduce.OPERATOR_TEXT, int(limit * WORDS_SHARE) * reduce.BYTES_PER_TOKEN)
        if reduce.says_more(self._core.view.items(), keeps_from):
            return Rooms(words, words)
        return Rooms(words, int(limit * LAST_SHARE) * reduce.BYTES_PER_TOKEN)

    async def _summarize(self, found: reduce.Cut, focus: str) -> None:
        """Raises AgentError where no summary came, or one that is no smaller than what it replaces."""
        core = self._core
        if core.parts.hooks is not None:
            from agent_cli.engine.hooking import compacting  # only who has hooks pays for them

            focus = await compacting(core, "compaction", focus)
        clock = core.parts.clock
        begun, before, spent = clock.monotonic(), self._size(), core.state.total.cost
        own = core.parts.compactor
        if own is not None:
            summary = await written(own.summarize(messages_of(found.dropped), focus), "compaction")
        else:
            request = core.parts.summary_prompt + (f"\n\nDwell on: {focus}" if focus else "")
            wanted = Wanted("compaction", request, found.dropped, core.view.messages())
            summary = await self._summarizer.write(wanted)
        text = reduce.composed(summary, found.dropped, self._rooms(found.keeps_from), carried(core))
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
                model="" if own else self._summarizer.model.card.id,
            )
        )

"""The calls of one step: vetted whole, then run. Reads side by side, everything else alone and in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from agent_cli.engine import calls
from agent_cli.engine.adding import kept
from agent_cli.engine.calls import Ready, Refused
from agent_cli.engine.core import Core
from agent_cli.engine.deadline import Deadline
from agent_cli.engine.foreseen import failing
from agent_cli.engine.killing import look
from agent_cli.engine.pacing import granted
from agent_cli.engine.tree import stopping
from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import SPAWN
from agent_cli.kernel.commands import Answer
from agent_cli.kernel.messages import ToolCall
from agent_cli.ports import Asking, Editable

REFUSED = "The operator refused this call."
DECLINED = "The operator does not answer this question; decide by yourself, and say what you assumed."


class Batch:
    """Every call gets exactly one result, whatever happens in between; `answered` are results that some have already."""

    def __init__(
        self,
        core: Core,
        proposed: tuple[ToolCall, ...],
        deadline: Deadline,
        cut: frozenset[str],
        answered: Mapping[str, ev.Output],
    ) -> None:
        self._core = core
        self._proposed = proposed
        self._deadline = deadline
        self._cut = cut
        self._answered = answered
        self._settled: set[str] = set()
        self._room = calls.room(core, len(proposed))
        self._edited: dict[str, Any] = {}
        self._began = False

    async def run(self) -> None:
        """Stops between calls as soon as an alert cuts the turn; what did not run is settled as not run."""
        try:
            for call in self._proposed:
                self._core.record(ev.ToolCallProposed(call))
            if stopping(self._core) is None:
                await self._run_vetted(await self._vetted())
        finally:
            self.settle_rest(calls.not_run(self._core))

    async def _vetted(self) -> list[Ready | Refused]:
        if self._core.parts.hooks is None:
            return [self._vet(call) for call in self._proposed]
        from agent_cli.engine.hooked_calls import before  # only who has hooks pays for them

        return [
            self._vet(call)
            if call.call_id in self._answered
            else await before(self._core, call, cut=call.call_id in self._cut)
            for call in self._proposed
        ]

    async def _unanswered(self, ready: list[Ready]) -> list[Ready]:
        """Those that hooks do not refuse, with the rulings that they gave in the operator's place."""
        if self._core.parts.hooks is None:
            return ready
        from agent_cli.engine.hooked_calls import answered

        found = await answered(self._core, ready)
        for each in found:
            if isinstance(each, Refused):
                self._settle(each.call, each.output)
        return [each for each in found if isinstance(each, Ready)]

    def _vet(self, call: ToolCall) -> Ready | Refused:
        if call.call_id in self._answered:
            return Refused(call, self._answered[call.call_id])
        return calls.vet(self._core, call, cut=call.call_id in self._cut)

    def settle_rest(self, reason: str) -> None:
        for call in self._proposed:
            if call.call_id not in self._settled:
                self._settle(call, calls.failure(reason))

    def _settle(self, call: ToolCall, output: ev.Output) -> None:
        self._settled.add(call.call_id)
        calls.settle(self._core, call, output, executed=False)

    async def _guarded(self, vetted: Sequence[Ready | Refused]) -> list[Ready | Refused]:
        """What checks of actions say of all of them, before any runs."""
        ready = [each for each in vetted if isinstance(each, Ready)]
        refused = await self._core.guards.acts(
            [(each.call, each.args, each.proposal.touches) for each in ready]
        )
        return [
            Refused(each.call, refused[each.call.call_id]) if each.call.call_id in refused else each
            for each in vetted
        ]

    async def _run_vetted(self, vetted: list[Ready | Refused]) -> None:
        vetted = await self._guarded(vetted)
        for refused in vetted:
            if isinstance(refused, Refused):
                self._settle(refused.call, refused.output)
        if stopping(self._core) is not None:
            return
        open_ones = await self._unanswered([ready for ready in vetted if isinstance(ready, Ready)])
        allowed = await self._approve(open_ones)
        allowed = await self._looked_at_again(allowed)
        for group in _groups(allowed, self._side_by_side(), self._agents()):
            if not await self._run_as_paced(group):
                return

    async def _run_as_paced(self, group: list[Ready]) -> bool:
        """As many of them at once as the pool has room for. False where nothing more of the batch runs."""
        while group:
            look(self._core)
            if stopping(self._core) is not None:
                return False
            most, left_out = await granted(self._core, len(group), began=self._began)
            if left_out:
                self.settle_rest(left_out)
            if most == 0:
                return False
            now, group = group[:most], group[most:]
            self._began = True
            self._settled.update(ready.call.call_id for ready in now)
            await self._run_group(now)
        return True

    def _side_by_side(self) -> int:
        most, part = self._core.parts.settings.concurrency, self._core.root.slice
        return most if part is None else min(most, part.side_by_side)

    def _agents(self) -> int:
        return self._core.parts.staff.most if self._core.parts.staff else 1

    async def _run_group(self, group: list[Ready]) -> None:
        """Until all have returned, or something cuts the turn: then those that still run are cancelled."""
        self._core.touched |= {use.path for ready in group for use in ready.proposal.touches.paths}
        running = [asyncio.create_task(calls.run(self._core, ready, self._room)) for ready in group]
        stop = asyncio.create_task(self._core.stopping.wait())
        try:
            left = set(running)
            while left and not stop.done():
                done, _ = await asyncio.wait({*left, stop}, return_when=asyncio.FIRST_COMPLETED)
                left -= done
        finally:
            for task in (stop, *running):
                task.cancel()
            ended = await asyncio.gather(*running, return_exceptions=True)
        for problem in ended:
            if isinstance(problem, Exception):
                raise problem

    async def _looked_at_again(self, allowed: list[Ready]) -> list[Ready]:
        """What the operator changed is another call."""
        changed = [each for each in allowed if each.call.call_id in self._edited]
        kept = {each.call.call_id for each in allowed}
        for each in await self._guarded(changed) if changed else ():
            if isinstance(each, Refused):
                kept.discard(each.call.call_id)
                self._settle(each.call, each.output)
        return [each for each in allowed if each.call.call_id in kept]

    # ── approvals ──

    async def _approve(self, ready: list[Ready]) -> list[Ready]:
        """Asks for all calls that need it at once, then waits for each answer. Waiting stops the deadline."""
        for call, why in failing(self._core, ready):
            self._settle(call.call, calls.failure(why))
        ready = [call for call in ready if call.call.call_id not in self._settled]
        asked = [call for call in ready if call.ruling.verdict == "ask"]
        if not asked:
            return ready
        waiting = self._core.waiting
        for call in asked:
            waiting[call.call.call_id] = asyncio.get_running_loop().create_future()
            self._core.record(self._question(call))
        refused: set[str] = set()
        try:
            with self._deadline.paused():
                await self._answers({waiting[call.call.call_id]: call for call in asked}, refused)
        finally:
            for call in asked:
                if waiting.pop(call.call.call_id, None) and call.call.call_id in self._core.state.pending:
                    self._core.record(
                        ev.ApprovalDecided(call.call.call_id, call.call.name, False, "interrupt")
                    )
        return [
            replace(call, args=self._edited.get(call.call.call_id, call.args))
            for call in ready
            if call.call.call_id not in refused
        ]

    async def _answers(self, open_calls: dict[asyncio.Future[Answer], Ready], refused: set[str]) -> None:
        """Takes answers in the order in which they come; a grant answers what it covers, too. A stop ends the waiting."""
        stop = asyncio.create_task(self._core.stopping.wait())
        try:
            await self._take_answers(open_calls, refused, stop)
        finally:
            stop.cancel()

    async def _take_answers(
        self, open_calls: dict[asyncio.Future[Answer], Ready], refused: set[str], stop: asyncio.Task[Any]
    ) -> None:
        while open_calls and stopping(self._core) is None:
            done, _ = await asyncio.wait({*open_calls, stop}, return_when=asyncio.FIRST_COMPLETED)
            for answered in [each for each in open_calls if each in done]:
                if self._decide(open_calls.pop(answered), answered.result(), refused):
                    self._answer_covered(open_calls)

    def _answer_covered(self, open_calls: dict[asyncio.Future[Answer], Ready]) -> None:
        for future, call in open_calls.items():
            if not future.done() and calls.judge(self._core, call.proposal).verdict == "allow":
                future.set_result(Answer(call.call.call_id, allowed=True))

    def _question(self, ready: Ready) -> ev.ApprovalRequested:
        return ev.ApprovalRequested(
            ready.call.call_id,
            ready.call.name,
            ready.proposal.touches.subject,
            ready.ruling.reason,
            ready.ruling.rule,
            ready.tool.preview(ready.args),
            "" if ready.ruling.once_only else self._core.parts.suggest(ready.proposal, "always"),
            ready.ruling.once_only,
            self._core.name,
            isinstance(ready.tool, Editable),
            ready.tool.options(ready.args) if isinstance(ready.tool, Asking) else None,
        )

    def _decide(self, ready: Ready, answer: Answer, refused: set[str]) -> bool:
        """Records the answer; whether it grants something beyond this call."""
        core, call = self._core, ready.call
        grant, scope = "", "once" if ready.ruling.once_only else answer.scope
        if answer.allowed and scope != "once":
            grant = core.parts.suggest(ready.proposal, scope)
        if answer.allowed and scope == "always":
            kept(core, "allow", grant)
        core.record(
            ev.ApprovalDecided(
                call.call_id,
                call.name,
                answer.allowed,
                "operator",
                scope,
                grant,
                answer.message,
                bool(answer.edit),
            )
        )
        if answer.allowed and answer.edit and isinstance(ready.tool, Editable):
            self._edited[call.call_id] = ready.tool.edited(ready.args, answer.edit)
        if not answer.allowed:
            refused.add(call.call_id)
            core.tally.give_back(core.hub.turn, call.name)
            refusal = DECLINED if isinstance(ready.tool, Asking) else REFUSED
            told = f"{refusal} {answer.message}".strip()
            self._settle(call, calls.failure(told))
            core.cut(core.refusals.refused(call))
        return bool(grant)


def _groups(ready: list[Ready], most: int, agents: int) -> Iterator[list[Ready]]:
    """Neighbouring read-only calls together, at most `most` of them; agents likewise; every other call alone."""
    sizes = {"reads": max(1, most), "agents": max(1, agents), "": 1}
    for lane, neighbours in groupby(ready, key=_lane):
        run, size = list(neighbours), sizes[lane]
        for start in range(0, len(run), size):
            yield run[start : start + size]


def _lane(ready: Ready) -> str:
    if ready.call.name == SPAWN:
        return "agents"
    return "reads" if ready.tool.read_only else ""

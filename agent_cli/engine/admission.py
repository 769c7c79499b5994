"""A turn in an account that many share: it waits for room, holds its reservation while it runs, and gives it back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from agent_cli.engine import endings, stopping
from agent_cli.engine.core import Core
from agent_cli.engine.endings import Ending, Stopped
from agent_cli.guardrails.checks.stops import POOL_WAY_ON, UNASKED, Down
from agent_cli.guardrails.gate import NAME, Gate, Refused, Slice
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import StoreError

log = logging.getLogger("agent_cli.engine")

LOOK = 0.5
"""Seconds between two looks for room."""
COUNTDOWN = 1.0


async def admitted(core: Core, work: Callable[[], Awaitable[Ending | None]]) -> Ending | None:
    """The work, once there is room for it; else the ending that says why there was none."""
    gate = core.parts.gate
    if gate is None:
        return await work()
    try:
        refused = await _enter(core, gate)
    except asyncio.CancelledError:
        return endings.interrupted()
    except Stopped as stopped:
        return stopped.ending
    except StoreError as problem:
        return _unavailable(core, problem)
    if refused is not None:
        return _not_admitted(core, gate, refused)
    renewing = asyncio.create_task(_renew(core, gate))
    try:
        return await work()
    finally:
        renewing.cancel()
        core.slice = None
        _leave(core, gate)


async def _enter(core: Core, gate: Gate) -> str | None:
    """Why it was refused. Cancelled or stopped while it waits, it holds nothing."""
    clock = core.parts.clock
    begun, told = clock.monotonic(), -COUNTDOWN
    while True:
        stopping.check(core)
        left = gate.terms.wait - (clock.monotonic() - begun)
        answer = gate.enter(clock.now(), last=left <= 0)
        match answer:
            case None:
                return None
            case Slice(usd, side_by_side):
                core.slice = answer
                core.record(
                    ev.OperatorNote(
                        f"pool {gate.terms.pool} has room for part of this run: ${usd:.2f}, {side_by_side} reads side by side, "
                        "no subtasks",
                        "warning",
                    )
                )
                return None
            case Refused(reason, waits):
                if not waits or left <= 0:
                    waited = f" (it waited {gate.terms.wait:g} s)" if waits else ""
                    return reason + waited
                if told < 0:
                    told = 0.0
                    core.record(
                        ev.OperatorNote(
                            f"waiting for room in pool {gate.terms.pool}, {gate.terms.wait:g} s at most: {reason}",
                            "warning",
                        )
                    )
                core.hub.show(ev.Waiting(left, f"pool {gate.terms.pool}: {reason}"))
                await clock.sleep(min(LOOK, left))


def _leave(core: Core, gate: Gate) -> None:
    """What cannot be given back is reclaimed when its lease is over: the run does not hold it any more."""
    try:
        gate.leave(core.parts.clock.now())
    except StoreError:
        log.exception("the pool %s could not be given back what was not spent", gate.terms.pool)


async def _renew(core: Core, gate: Gate) -> None:
    """A lease that cannot be renewed stands as long as the run lives: its lock says so."""
    while True:
        await core.parts.clock.sleep(gate.terms.lease / 3)
        with suppress(StoreError):
            gate.renew(core.parts.clock.now())


def _unavailable(core: Core, problem: StoreError) -> Ending:
    """Later is no better: somebody has to mend it."""
    why = Down(NAME, "action", str(problem), UNASKED).reason
    core.record(
        ev.GuardrailTrip(NAME, "unavailable", "halt", "turn", why, halted_turn=True, then=POOL_WAY_ON)
    )
    return endings.unavailable(f"{why}. {POOL_WAY_ON}")


def _not_admitted(core: Core, gate: Gate, reason: str) -> Ending:
    why = f"pool {gate.terms.pool} has no room: {reason}"
    then = (
        f"No model was asked. Try again later; `agent-cli pool show {gate.terms.pool}` says who holds what."
    )
    core.record(
        ev.GuardrailTrip(NAME, f"pool:{gate.terms.pool}", "block", "turn", why, halted_turn=True, then=then)
    )
    return endings.not_admitted(f"{why}. {then}")

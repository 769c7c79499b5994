"""Tool calls a minute of an account that many share: calls wait until they may begin, in whatever process they are."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from agent_cli.engine.core import Core
from agent_cli.engine.killing import look
from agent_cli.engine.tree import stopping
from agent_cli.guardrails import budgets
from agent_cli.guardrails.checks.stops import Down
from agent_cli.guardrails.gate import NAME, Gate
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import StoreError

LOOK = 0.25
"""Seconds between two looks for room at most."""
LEFT_OUT = (
    "not run: {reason}, which all runs of pool {pool} share, and the next is possible in {opens:.0f} s. Go on with"
    " what you have, and make fewer calls at once"
)


class Granted(NamedTuple):
    """How many calls begin now. Where none does, `left_out` is what they are told; "" where the turn is cut."""

    calls: int
    left_out: str = ""


async def granted(core: Core, asked: int, *, began: bool) -> Granted:
    """Waits until one at least may begin. `began` says that another call of the batch did."""
    gate, clock = core.parts.gate, core.parts.clock
    if gate is None:
        return Granted(asked)
    since, told = clock.monotonic(), False
    while stopping(core) is None:
        try:
            room = gate.begin(asked, clock.now())
            if room.granted:
                return Granted(room.granted)
            if not told:
                gate.held_up(room.reason, clock.now())
        except StoreError as problem:
            core.root.cut(Down(NAME, "action", str(problem)))
            return Granted(0)
        if gate.terms.thins and began:
            return Granted(0, LEFT_OUT.format(reason=room.reason, pool=gate.terms.pool, opens=room.opens_in))
        left = gate.terms.patience - (clock.monotonic() - since)
        if left <= 0:
            _give_up(core, gate, room.reason)
            return Granted(0)
        if not told:
            told = True
            _tell(core, gate, room.reason, room.opens_in)
        core.hub.show(ev.Waiting(max(room.opens_in, 0.0), f"pool {gate.terms.pool}: {room.reason}"))
        await _pause(core, min(LOOK, left))
        look(core)
    return Granted(0)


async def _pause(core: Core, seconds: float) -> None:
    """What cuts the turn ends it."""
    pause = asyncio.ensure_future(core.parts.clock.sleep(seconds))
    stop = asyncio.ensure_future(core.stopping.wait())
    try:
        await asyncio.wait((pause, stop), return_when=asyncio.FIRST_COMPLETED)
    finally:
        pause.cancel()
        stop.cancel()


def _tell(core: Core, gate: Gate, reason: str, opens_in: float) -> None:
    """Once a turn: a run that is held up is held up again soon."""
    if core.root.paced == core.root.state.turn_started:
        return
    core.root.paced = core.root.state.turn_started
    core.record(
        ev.OperatorNote(
            f"tool calls wait for room in pool {gate.terms.pool}, {gate.terms.patience:g} s at most: {reason}, the next may begin in"
            f" {opens_in:.0f} s",
            "warning",
        )
    )


def _give_up(core: Core, gate: Gate, reason: str) -> None:
    waited = f" (it waited {gate.terms.patience:g} s)" if gate.terms.patience else ""
    core.root.cut(budgets.pace_breach(gate.terms.pool, f"{reason}{waited}"))

"""What holds for a session and for all that runs in it: ceilings and stops of those above."""

from __future__ import annotations

import msgspec

from agent_cli.engine.core import Core, Stop
from agent_cli.guardrails import budgets
from agent_cli.guardrails.budgets import Breach


def cost_breach(core: Core) -> Breach | None:
    """The first ceiling on money that is reached, here or above."""
    breach = budgets.cost_breach(core.spent(), core.limits)
    return breach or (cost_breach(core.above) if core.above else None)


def step_breach(core: Core) -> Breach | None:
    """A ceiling on steps or tokens that is reached here, or one on tokens above."""
    return budgets.step_breach(core.spent(), core.limits) or (
        token_breach(core.above) if core.above else None
    )


def token_breach(core: Core) -> Breach | None:
    """A ceiling on tokens that is reached, here or above."""
    breach = budgets.token_breach(core.spent(), core.limits)
    return breach or (token_breach(core.above) if core.above else None)


def batch_breach(core: Core, asked: int) -> Breach | None:
    """A batch that does not fit beside what was called and what is promised to those that run beside it."""
    promised = 0 if core.parts.children.budget == "additive" else core.ledger.calls_beside
    spent = core.spent()
    return budgets.batch_breach(
        msgspec.structs.replace(spent, calls=spent.calls + promised), asked, core.limits
    )


def stopping(core: Core) -> Stop | None:
    """What cuts this turn, or one above."""
    return core.stop or (stopping(core.above) if core.above else None)


def cut_off(core: Core) -> str:
    """Why this turn was cut, or one above; "" where the operator stopped it."""
    return core.cut_off or (cut_off(core.above) if core.above else "")


def stopped_when(core: Core) -> tuple[float, float]:
    """When the condition of the stop became true, and the seconds until nothing more could begin."""
    one: Core | None = core
    while one is not None and one.cut_times is None:
        one = one.above
    now = core.parts.clock.now()
    since, at = (one.cut_times if one else None) or (core.root.latest or now, now)
    return since, max(round(at - since, 6), 0.0)


def take_stop(core: Core) -> Stop | None:
    """The same, taken: what stops the session goes on stopping what runs in it."""
    stop = stopping(core)
    core.stop = None
    return stop

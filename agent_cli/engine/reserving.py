"""Hard budgets: a call is sent only where the most that it can cost fits beside all that is under way."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from agent_cli.engine.core import Core
from agent_cli.engine.endings import Cut
from agent_cli.guardrails import budgets
from agent_cli.guardrails.checks.stops import UNASKED, Down
from agent_cli.guardrails.gate import NAME
from agent_cli.guardrails.reserve import Account, worst_case
from agent_cli.kernel import wire
from agent_cli.kernel.errors import StoreError
from agent_cli.kernel.messages import Prompt
from agent_cli.kernel.usage import ModelCard

MARGIN = 512
"""Tokens beside the conversation: the line about how far the turn has come, and what a service adds."""
SAFE_BYTES_PER_TOKEN = 2
"""What is only estimated elsewhere counts about double here."""


def today(core: Core) -> str:
    """The day by which prices are looked up."""
    return datetime.fromtimestamp(core.parts.clock.now(), UTC).date().isoformat()


class Hold:
    """What is set aside for one call. `paid` says that what it cost is recorded, or that it cost nothing."""

    def __init__(self) -> None:
        self.paid = False


@contextmanager
def reserved(core: Core, card: ModelCard, prompt: Prompt, known: int, estimated: int) -> Generator[Hold]:
    """For one request: `known` tokens of its prompt were measured, `estimated` ones were not.

    Raises Cut where it does not fit, and the core knows why. What a broken call cost and nobody said stays set aside.
    """
    tokens = known + 2 * estimated + MARGIN
    with (
        _covered(core, card, tokens, prompt.max_output),
        _reserved(core, card, tokens, prompt.max_output) as hold,
    ):
        yield hold


@contextmanager
def _covered(core: Core, card: ModelCard, tokens: int, max_output: int | None) -> Generator[None]:
    """The pool that runs share has what the call can cost at worst, where the operator wants that."""
    gate = core.parts.gate
    if gate is None:
        yield
        return
    worst = worst_case(card, today(core), tokens, max_output)
    try:
        why = gate.cover(worst, core.parts.clock.now())
    except StoreError as problem:
        core.root.cut(Down(NAME, "action", str(problem), UNASKED))
        raise Cut from None
    if why:
        core.root.cut(budgets.pool_breach(gate.terms.pool, why))
        raise Cut
    try:
        yield
    finally:
        gate.uncover(worst)


@contextmanager
def _reserved(core: Core, card: ModelCard, tokens: int, max_output: int | None) -> Generator[Hold]:
    hold = Hold()
    if not core.root.parts.limits.reserve:
        yield hold
        return
    worst = worst_case(card, today(core), tokens, max_output)
    chain = tuple(_chain(core))
    if worst is None:
        if any(account.ceiling for one in chain for account in accounts(one)):
            core.cut(budgets.unpriced_breach(card.id))
            raise Cut
        yield hold
        return
    for one in chain:
        lacking = one.reserve.lacking(worst, accounts(one))
        if lacking is not None:
            core.cut(budgets.reserve_breach(lacking, worst, one.reserve.lost))
            raise Cut
    key = f"{core.key}:{core.state.turn}.{core.hub.step}:{id(hold)}"
    for one in chain:
        one.reserve.take(key, worst, ())
    try:
        yield hold
    finally:
        for one in chain:
            if hold.paid:
                one.reserve.give_back(key)
            else:
                one.reserve.lose(key)


def accounts(core: Core) -> tuple[Account, ...]:
    """The ceilings on money that calls of this core count against."""
    spent, limits = core.spent(), core.limits
    return (
        Account("turn", spent.turn_cost, limits.max_turn_cost),
        Account("session", spent.session_cost, limits.max_session_cost),
    )


def size_of(prompt: Prompt) -> int:
    """Tokens that a prompt can have at most, by its bytes."""
    text = wire.to_json({"system": prompt.system, "tools": prompt.tools, "messages": prompt.messages})
    return len(text.encode()) // (2 * SAFE_BYTES_PER_TOKEN)


def _chain(core: Core) -> Iterator[Core]:
    """The core and those above, as far as what it spends counts there."""
    one: Core | None = core
    while one is not None:
        yield one
        one = one.above if one.above and one.above.parts.children.budget != "additive" else None

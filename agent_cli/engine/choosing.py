"""Another model, or another effort, for the turns to come: what the operator chooses."""

from __future__ import annotations

from typing import Literal

from agent_cli.engine.core import Core
from agent_cli.guardrails import telling
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.messages import Effort


def set_effort(core: Core, effort: Effort | Literal[""]) -> None:
    card = core.model.card
    if effort and effort not in card.efforts:
        offers = f"it takes {', '.join(card.efforts)}" if card.efforts else "it has none to set"
        core.record(ev.OperatorNote(f"{card.id} does not take the effort {effort}: {offers}", "error"))
    elif effort != core.state.effort:
        core.record(ev.EffortSwitched(effort))


def set_model(core: Core, name: str) -> None:
    try:
        opened = core.parts.models.open(name)
    except ConfigError as problem:
        core.record(ev.OperatorNote(str(problem), "error"))
        return
    found = f"{opened.provider.name}/{opened.card.id}"
    if (found, opened.endpoint) == (
        f"{core.model.provider.name}/{core.model.card.id}",
        core.model.endpoint,
    ):
        core.record(ev.OperatorNote(f"{name} is {found} here, which is in use: nothing was changed"))
        return
    if problem := telling.unpriced(opened.card, core.limits):
        core.record(ev.OperatorNote(problem, "error" if core.limits.reserve else "warning"))
        if core.limits.reserve:
            return
    core.switch(opened, "chosen by the operator")

"""What settings say about subtasks: their model, their ceilings, and who is told."""

from __future__ import annotations

from agent_cli.config.settings import Settings
from agent_cli.engine.own_tools.agentic import WRAPPERS
from agent_cli.guardrails.ledger import Children
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.providers import catalog

OWN_MODEL = (
    "Subtasks run on {model} itself: no small model of {provider} is known. Name one with --agentic-small-model, or"
    " do without them with --agentic-tools=false."
)
PLAYED = frozenset({"scripted", "echo"})
"""Providers of which nobody expects a small model."""


def small_name(settings: Settings, card: ModelCard) -> str:
    """The model of subtasks of a session with that model, as `--model` takes it; "" for the same one."""
    named = settings.agentic.small_model
    if named or card.tier == "small":
        return named or ""
    if settings.model.tiers.small:
        return settings.model.tiers.small
    known = catalog.tier_model(card.provider, "small") if card.tier else None
    return f"{card.provider}/{known}" if known else ""


def withheld_wrappers(settings: Settings) -> frozenset[str]:
    """The tools that there are only with subtasks, where they are switched off."""
    return frozenset() if settings.agentic.enabled else frozenset(WRAPPERS)


def told_of(settings: Settings, own_tools: frozenset[str], card: ModelCard) -> tuple[str, ...]:
    """What the operator should know when a session begins with that model."""
    if card.tier == "small" or card.profile == "compact" or card.provider in PLAYED:
        return ()
    if small_name(settings, card) or not own_tools & frozenset(WRAPPERS):
        return ()
    return (OWN_MODEL.format(model=card.id, provider=card.provider),)


def children(settings: Settings) -> Children:
    """Raises ConfigError where budgets are to be added and there is nothing to add."""
    budgets = settings.budgets
    child = budgets.child
    if budgets.children == "additive" and not child.max_cost_usd:
        raise ConfigError(
            "budgets.children is additive, so that each subtask may spend its own budget on top of the session's, "
            "and that budget is not set: set budgets.child.max_cost_usd, or leave budgets.children at shared"
        )
    return Children(
        budgets.children,
        child.max_steps or None,
        child.max_duration or None,
        child.max_tokens or None,
        child.max_cost_usd or None,
    )

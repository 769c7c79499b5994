"""`@claude/MODEL`: which model it is, where the program is, and what such a run cannot have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.ports import OpenModel
from agent_cli.providers import catalog
from agent_cli.providers.claude.attempt import Terms
from agent_cli.providers.claude.command import Program
from agent_cli.providers.claude.names import NAME, TIERS, find, names
from agent_cli.providers.claude.provider import Claude
from agent_cli.providers.vendors import Calling, Delegation


def open_claude(
    model: str,
    environ: Mapping[str, str],
    delegation: Delegation,
    calling: Calling,
    overrides: Mapping[str, Mapping[str, Any]],
) -> OpenModel:
    """Raises ConfigError: no model is named, the program is not installed, or a setting cannot hold there."""
    if not model:
        raise ConfigError(f"Name the model that Claude Code is to ask: {', '.join(names())}.")
    name = f"{NAME}/{model}"
    if delegation.refused:
        raise ConfigError(delegation.refused.format(name=name))
    path = find(delegation.command, environ, name)
    terms = Terms(
        NAME, card_of(model, overrides), calling.first_byte_timeout, calling.stall_timeout, overrides
    )
    claude = Claude(Program(path, delegation.cwd, environ, delegation.sources), terms)
    return OpenModel(claude, terms.card, NAME, claude.after_turn)


def card_of(model: str, overrides: Mapping[str, Mapping[str, Any]]) -> ModelCard:
    """As Anthropic itself serves it; an unknown one has no price."""
    tier = TIERS.get(model.lower())
    asked = (tier and catalog.tier_model("anthropic", tier)) or model
    known = catalog.card(asked, "anthropic", overrides) or ModelCard(id=asked, provider=NAME)
    return msgspec.structs.replace(known, provider=NAME, delegated=True, sampling=False)

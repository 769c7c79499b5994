"""Where definitions of agents lie, and whether the model may hand tasks to agents at all."""

from __future__ import annotations

from pathlib import Path

from agent_cli.config import trust
from agent_cli.config.agents import DIRECTORY
from agent_cli.config.sources import Loaded


def directories(loaded: Loaded) -> list[tuple[Path, bool]]:
    """The weakest first: of one scope what another agent keeps there (True), then our own."""
    mine, beside = loaded.foreign(trust.AGENTS)
    own = loaded.scopes(DIRECTORY)
    users = loaded.user / DIRECTORY
    rest = [each for each in own if each != users]
    found = [(mine, True), (users, False), (beside, True), *((each, False) for each in rest)]
    return [(each, theirs) for each, theirs in found if each is not None and each.is_dir()]


def are_offered(loaded: Loaded) -> bool:
    """What the settings say; else whether anybody defines one: their tools stand in every prompt and are paid for there."""
    chosen = loaded.settings.agents.enabled
    if chosen is not None:
        return chosen
    return any(True for each, _ in directories(loaded) for _ in each.glob("*.md"))

"""Small models work well for subtasks; as the parent of a long session they go in circles."""

from __future__ import annotations

from agent_cli.compose.options import RunOptions
from agent_cli.config.settings import Settings
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.providers import catalog

TOLD = (
    "{model} is a small model. Small models do well in subtasks, but go in circles and stall in long sessions. "
    "Better: {command}. --small-tier-parent allow silences this."
)


def guard(options: RunOptions, settings: Settings, card: ModelCard) -> tuple[str, ...]:
    """A notice for the operator, if one is due. Not for runs that nobody watches, nor in mode yolo.

    Raises ConfigError where such a session is to be refused.
    """
    wanted = settings.safety.small_tier_parent
    if (
        wanted == "allow"
        or card.tier != "small"
        or not options.attended
        or settings.permissions.mode == "yolo"
    ):
        return ()
    larger = catalog.tier_model(card.provider, "frontier") or catalog.tier_model(card.provider, "mid")
    command = (
        f"--model {larger} --agentic-small-model {card.id}"
        if larger
        else "a model of another size, with --model"
    )
    told = TOLD.format(model=card.id, command=command)
    if wanted == "refuse":
        raise ConfigError(f"The session was not begun (safety.small_tier_parent is refuse): {told}")
    return (told,)

"""What a prompt asks for, against what its model can do. What it cannot do is an error, not silence."""

from __future__ import annotations

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.messages import Prompt
from agent_cli.kernel.usage import ModelCard


def check(prompt: Prompt, card: ModelCard) -> None:
    """Raises ConfigError naming the option, before anything is sent."""
    if prompt.effort and prompt.effort not in card.efforts:
        offer = f"it takes {', '.join(card.efforts)}" if card.efforts else "it has no thinking effort to set"
        raise ConfigError(f"{card.id} does not take --effort {prompt.effort}: {offer}. Leave the option out.")
    if prompt.temperature is not None and not card.sampling:
        raise ConfigError(
            f"{card.id} does not take --temperature: it samples in its own way. Leave the option out."
        )
    if prompt.max_output and card.max_output and prompt.max_output > card.max_output:
        raise ConfigError(
            f"{card.id} writes at most {card.max_output} tokens, --max-output-tokens asks for {prompt.max_output}."
        )


def one_of(card: ModelCard, prompt: Prompt, why: str) -> ConfigError:
    """Two options that this model takes one at a time."""
    return ConfigError(
        f"{card.id} takes --effort {prompt.effort} or --temperature {prompt.temperature}, not both: {why}."
    )

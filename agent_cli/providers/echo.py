"""A provider that answers with what it was told: to try a terminal, a pipe or a session without a model."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agent_cli.kernel.events import Finished, Piece, TextDelta
from agent_cli.kernel.messages import Prompt, Text
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.providers import options

CARD = ModelCard(id="echo", provider="echo", window=200_000, max_output=32_000, free=True)
CHARS_PER_TOKEN = 4


class Echo:
    """Repeats the last text of the operator, a word at a time. Raises ConfigError where more is asked of it."""

    def __init__(self) -> None:
        self.name = "echo"

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        options.check(prompt, CARD)
        text = _last_text(prompt)
        words = text.split(" ")
        for at, word in enumerate(words):
            yield TextDelta(word if at == len(words) - 1 else f"{word} ")
        asked = sum(
            len(part.text) for message in prompt.messages for part in message.parts if isinstance(part, Text)
        )
        usage = Usage(input=asked // CHARS_PER_TOKEN, output=len(text) // CHARS_PER_TOKEN)
        yield Finished((Text(text),), usage, prompt.model, "stop", "echo")

    async def close(self) -> None:
        """Nothing is open."""


def _last_text(prompt: Prompt) -> str:
    for message in reversed(prompt.messages):
        texts = [part.text for part in message.parts if isinstance(part, Text) and part.text.strip()]
        if message.role == "user" and texts:
            return "\n".join(texts)
    return "(nothing was said)"

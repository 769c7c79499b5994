"""Services that cut a prompt which is too long, answer what is left, and say nothing: their own figures tell it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from agent_cli.context import estimate
from agent_cli.context.breakdown import overhead_of
from agent_cli.kernel.errors import ContextOverflow
from agent_cli.kernel.events import Finished, Piece
from agent_cli.kernel.messages import Document, Image, Part, Prompt, ToolResult
from agent_cli.kernel.usage import ModelCard

FAR_BELOW = 0.5
"""Of our estimate. No text that people write has so many bytes a token that an honest figure is lower."""
LEAST_LOST = 1_000
LEAST_READ = 1_000
"""Tokens. A lower figure is that of a server that does not count what it had in its cache; so is one far below an earlier one."""
OVER = "{label} took a prompt that is longer than the context window of {model}, and cut it without a word."
BELOW = (
    "{label} read only {read:,} of about {sent:,} tokens: its context window for {model} is smaller than the prompt, and it"
    " cut that without a word. Give the model a larger one there (Ollama: OLLAMA_CONTEXT_LENGTH or `num_ctx`), then start"
    " agent-cli anew."
)


async def unless_cut(
    pieces: AsyncGenerator[Piece | Finished, None], cut: Callable[[Finished], ContextOverflow | None]
) -> AsyncGenerator[Piece | Finished, None]:
    """The pieces. Raises ContextOverflow in the place of an answer to a part of the prompt."""
    try:
        async for piece in pieces:
            if isinstance(piece, Finished) and (problem := cut(piece)) is not None:
                raise problem
            yield piece
    finally:
        await pieces.aclose()


class SilentCuts:
    """Looks for them in what one model says at one service."""

    def __init__(self, label: str, card: ModelCard) -> None:
        self._label = label
        self._card = card
        self._most = 0

    def found(self, prompt: Prompt, finished: Finished, size: int) -> ContextOverflow | None:
        """What became of a prompt whose request had `size` bytes; None where its service read all of it, or counts nothing.

        A figure over the known window (z.ai) is as clear as one far below what was sent (Ollama).
        """
        read, window = finished.usage.prompt, self._card.window
        if window and read > window:
            return ContextOverflow(
                OVER.format(label=self._label, model=self._card.id), used=read, limit=window
            )
        before, self._most = self._most, max(self._most, read)
        most = size // estimate.BYTES_PER_TOKEN_OF_PROSE
        if read < LEAST_READ or read < before * FAR_BELOW or read >= most * FAR_BELOW:
            return None
        sent = tokens_of_prompt(prompt)
        if read >= sent * FAR_BELOW or sent - read < LEAST_LOST:
            return None
        told = BELOW.format(label=self._label, model=self._card.id, read=read, sent=sent)
        return ContextOverflow(told, used=sent, limit=read)


def tokens_of_prompt(prompt: Prompt) -> int:
    """An estimate for all of it but its pictures: what those take differs too much between models."""
    said = sum(_tokens_of(part) for message in prompt.messages for part in message.parts)
    return said + overhead_of(prompt.system, prompt.tools).total


def _tokens_of(part: Part) -> int:
    match part:
        case Image() | Document():
            return 0
        case ToolResult(content=content):
            return sum(_tokens_of(block) for block in content)
        case _:
            return estimate.tokens_of_part(part)

"""Services that cut a prompt which is too long, answer what is left, and say nothing: their own figures tell it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from agent_cli.context import estimate
from agent_cli.context.breakdown import overhead_of
from agent_cli.kernel.errors import ContextOverflow
from agent_cli.kernel.events import Finished, Piece
from agent_cli.kernel.messages import Document, Image, Message, Part, Prompt, Text, ToolResult
from agent_cli.kernel.usage import ModelCard

FAR_BELOW = 0.5
"""Of our estimate. No text that people write has so many bytes a token that an honest figure is lower."""
LEAST_LOST = 1_000
NEW_LEAST = 8_000
NEW_MOST = 2
"""Bytes of new results from which on they tell whether they were read, and how many of them at least make a token in any
text but one of figures.
"""
LEAST_READ = 1_000
"""Tokens. A lower figure is that of a server that does not count what it had in its cache; so is one far below an earlier one."""
OVER = "{label} took a prompt that is longer than the context window of {model}, and cut it without a word."
BELOW = (
    "{label} read only {read:,} of about {sent:,} tokens: its context window for {model} is smaller than the prompt, and it"
    " cut that without a word. Give the model a larger one there (Ollama: OLLAMA_CONTEXT_LENGTH or `num_ctx`), then start"
    " agent-cli anew."
)


OWN_ADDRESS = "https://api.openai.com/"


def is_trusted(url: str) -> bool:
    """OpenAI itself refuses what does not fit. Whoever else has taken its name, behind an address of its own, may not."""
    return url.startswith(OWN_ADDRESS)


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
        self._last: tuple[Prompt, int] | None = None
        self._grows = False

    def found(self, prompt: Prompt, finished: Finished, size: int) -> ContextOverflow | None:
        """What became of a prompt whose request had `size` bytes; None where its service read all of it, or counts nothing.

        A figure over the known window (z.ai) is as clear as one far below what was sent (Ollama), and as one that does
        not grow with a conversation that did.
        """
        read, window = finished.usage.prompt, self._card.window
        if window and read > window:
            return ContextOverflow(
                OVER.format(label=self._label, model=self._card.id), used=read, limit=window
            )
        stands = self._stands_still(prompt, read)
        before, self._most = self._most, max(self._most, read)
        if stands:
            return self._cut(read, max(tokens_of_prompt(prompt), read + LEAST_LOST))
        most = size // estimate.BYTES_PER_TOKEN_OF_PROSE
        if read < LEAST_READ or read < before * FAR_BELOW or read >= most * FAR_BELOW:
            return None
        sent = tokens_of_prompt(prompt)
        if read >= sent * FAR_BELOW or sent - read < LEAST_LOST:
            return None
        return self._cut(read, sent)

    def _stands_still(self, prompt: Prompt, read: int) -> bool:
        """Whether it read far less of the new results than there is, and far more than they are, of a conversation that
        only got longer. One whose figures never grew may count what is new only.
        """
        last, self._last = self._last, (prompt, read)
        new = new_results(last[0], prompt) if last is not None else 0
        if last is None or new < NEW_LEAST:
            return False
        grown = read - last[1]
        if grown >= new // estimate.BYTES_PER_TOKEN_OF_PROSE * FAR_BELOW:
            self._grows = True
            return False
        return self._grows and read >= LEAST_READ + new // NEW_MOST

    def _cut(self, read: int, sent: int) -> ContextOverflow:
        told = BELOW.format(label=self._label, model=self._card.id, read=read, sent=sent)
        return ContextOverflow(told, used=sent, limit=read)


def new_results(before: Prompt, after: Prompt) -> int:
    """Bytes of the results of tools that came to a prompt; 0 where anything but calls and their results did.

    What somebody says in between may make a service leave out the thoughts before it.
    """
    at = len(before.messages)
    if (before.model, before.system, before.tools) != (after.model, after.system, after.tools):
        return 0
    if before.messages != after.messages[:at]:
        return 0
    return _bytes_of(after.messages[at:])


def _bytes_of(messages: tuple[Message, ...]) -> int:
    parts = [part for message in messages if message.role == "user" for part in message.parts]
    blocks = [block for part in parts if isinstance(part, ToolResult) for block in part.content]
    texts = [block.text for block in blocks if isinstance(block, Text)]
    if len(texts) < len(blocks) or not all(isinstance(part, ToolResult) for part in parts):
        return 0
    return sum(len(text.encode(errors="replace")) for text in texts)


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

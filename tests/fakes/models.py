"""A provider that plays what a test says, and keeps what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.events import Finished, Piece, TextDelta, UsageSoFar
from agent_cli.kernel.messages import Prompt, Said, Text, ToolCall
from agent_cli.kernel.usage import ModelCard, Price, Usage
from agent_cli.ports import OpenModel

CARD = ModelCard(
    "fake-1", "fake", window=100_000, max_output=8_000, prices=(Price(input=1.0, output=2.0, cache_read=0.1),)
)

Reply = Finished | Exception | Callable[["Playing"], AsyncGenerator[Piece | Finished, None]]


def says(text: str, *, usage: Usage | None = None, reason: str = "end_turn") -> Finished:
    return Finished((Text(text),), usage or Usage(input=100, output=10), "fake-1", "stop", reason)


def wants(*calls: tuple[str, dict[str, object]], text: str = "", usage: Usage | None = None) -> Finished:
    parts: list[Said] = [Text(text)] if text else []
    parts += [ToolCall(f"c{_next()}", name, dict(args)) for name, args in calls]
    return Finished(tuple(parts), usage or Usage(input=100, output=10), "fake-1", "tool-calls", "tool_use")


_count = 0


def _next() -> int:
    global _count  # noqa: PLW0603 - ids only have to differ
    _count += 1
    return _count


class Playing:
    """`replies` in order; each is a Finished, an error to raise, or a generator function for finer work."""

    def __init__(self, *replies: Reply) -> None:
        self.name = "fake"
        self.replies = list(replies)
        self.asked: list[Prompt] = []
        self.closed = False
        self.aborted = 0
        self.hold: asyncio.Event | None = None

    async def stream(self, prompt: Prompt, /) -> AsyncGenerator[Piece | Finished, None]:
        self.asked.append(prompt)
        assert self.replies, "the script is at its end"
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, Finished):
            async for piece in reply(self):
                yield piece
            return
        try:
            yield UsageSoFar(Usage(input=reply.usage.input))
            for part in reply.parts:
                if isinstance(part, Text):
                    for word in part.text.split(" "):
                        yield TextDelta(word + " ")
            if self.hold is not None:
                await self.hold.wait()
        except (asyncio.CancelledError, GeneratorExit):
            self.aborted += 1
            raise
        yield reply

    async def close(self) -> None:
        self.closed = True


class OneModel:
    """Opens the same provider under the names it was given."""

    def __init__(self, provider: Playing, *cards: ModelCard) -> None:
        self.provider = provider
        self.cards = {card.id: card for card in cards or (CARD,)}

    def open(self, name: str, /) -> OpenModel:
        if name not in self.cards:
            raise ConfigError(f"unknown model '{name}'; known: {', '.join(self.cards)}")
        return OpenModel(self.provider, self.cards[name])

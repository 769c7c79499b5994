"""Sends a request again, with less in it, where the service refused something that it can do without."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import TypeAlias

from agent_cli.kernel.errors import RequestRefused
from agent_cli.kernel.events import Finished, Piece

Pieces: TypeAlias = AsyncGenerator[Piece | Finished, None]


async def relenting(attempt: Callable[[], Pieces], relent: Callable[[RequestRefused], bool]) -> Pieces:
    """`relent` looks at a refusal and leaves out what it names; True where there was something to leave out.

    An answer that has begun is never sent for again.
    """
    while True:
        pieces = attempt()
        begun = False
        try:
            async for piece in pieces:
                begun = True
                yield piece
            return
        except RequestRefused as refusal:
            if begun or not relent(refusal):
                raise
        finally:
            await pieces.aclose()

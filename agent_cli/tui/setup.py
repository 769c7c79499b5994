"""The three ways to a first session where no key was found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agent_cli.talk.door import Door


class Setup(Protocol):
    """Raises AgentError where a way does not lead to a session; the others stay open."""

    @property
    def variables(self) -> tuple[tuple[str, str], ...]:
        """Variables that hold a key, each with the name of its provider; the likeliest first."""
        ...

    @property
    def local(self) -> str:
        """What the local model is and how much is fetched, in a few words; "" where there is none."""
        ...

    @property
    def download(self) -> str:
        """What `install_local` would fetch: size, licence and where to; "" where nothing is missing."""
        ...

    async def use_key(self, variable: str, key: str, /) -> Door: ...

    async def install_local(self, progress: Callable[[int, int, str], None], /) -> Door:
        """`progress` gets bytes done, bytes in all (0: unknown), and what is being done.

        Cancelling it stops the download; the next call goes on from there.
        """
        ...

    async def demo(self) -> Door: ...

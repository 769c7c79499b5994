"""How much commands write and delete, as the check of volume hears of it. Apart from who looks: most pay nothing for it."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Weighed(NamedTuple):
    """Bytes that were written, and bytes that were deleted."""

    written: int
    deleted: int


class Scales(Protocol):
    """How much commands write and delete, by what they leave. May block, raises nothing."""

    def begin(self, named: tuple[str, ...], /) -> None:
        """A command begins that names those paths."""
        ...

    def end(self) -> Weighed:
        """It has ended: what was written and deleted since the last look."""
        ...

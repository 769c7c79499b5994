"""The account that runs share, as one run sees it. Apart from what is worked out there: most runs have none."""

from __future__ import annotations

from typing import Protocol

from agent_cli.kernel.events import Recorded
from agent_cli.kernel.values import Plain

NAME = "admission"


class Terms(Plain, frozen=True):
    """What holds for the run in that pool, in seconds: how long it waits for room at most (`wait`), and a tool call until
    it may begin (`patience`); for how long a reservation holds without being renewed (`lease`).

    `thins`: a batch goes on without the calls for which there is no room, once one of it had some.
    """

    pool: str
    wait: float
    patience: float
    lease: float
    thins: bool


class Slice(Plain, frozen=True):
    """What a run may do where there was not room for all of it: dollars, and reads side by side; no subtasks."""

    usd: float
    side_by_side: int


class Refused(Plain, frozen=True):
    """Why a run was not admitted. `waits` says that it may ask again."""

    reason: str
    waits: bool


class Room(Plain, frozen=True):
    """How many of some tool calls may begin now. Where none may: why, and in how many seconds one may."""

    granted: int
    opens_in: float = 0.0
    reason: str = ""


class Gate(Protocol):
    """The account as one run sees it. Times are seconds since the epoch. Raises StoreError."""

    @property
    def terms(self) -> Terms: ...

    def enter(self, now: float, *, last: bool = False) -> Slice | Refused | None:
        """Reserves the run with all its subtasks in one transaction. None where it was admitted whole.

        `last` says that it will not ask again.
        """
        ...

    def begin(self, calls: int, now: float) -> Room:
        """Tool calls that begin now, if the runs of the account have not made as many as they may within a minute."""
        ...

    def held_up(self, reason: str, now: float) -> None:
        """Calls wait, or are left out."""
        ...

    def renew(self, now: float) -> None: ...

    def saw(self, event: Recorded, now: float) -> None:
        """What the run and its subtasks spend."""
        ...

    def cover(self, worst: float | None, now: float) -> str:
        """Makes sure that a call which can cost so much is paid for. Why it is not, "" where it is."""
        ...

    def uncover(self, worst: float | None) -> None:
        """The call has ended, and what it cost was seen."""
        ...

    def leave(self, now: float) -> None:
        """Gives back what was not spent. Idempotent."""
        ...

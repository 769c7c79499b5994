"""Going back to an earlier message of the operator."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.values import Plain, Value

RewindWhat: TypeAlias = Literal["both", "conversation", "files"]


class Rewind(Plain, frozen=True):
    """Back to before the operator's message at the entry `to`. Between turns only."""

    to: int
    what: RewindWhat = "both"


class Rewound(Value, frozen=True, tag="rewound"):
    """`to` is the entry of the message. With `conversation` the view ends before it from here on.

    `restored` are files that have their content of then again, `failed` those that have not, each with the reason.
    """

    to: int
    conversation: bool
    restored: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    tokens_after: int = 0


class Spoken(Plain, frozen=True):
    """A message of the operator that can be gone back to. `text` is its beginning, `time` epoch seconds."""

    seq: int
    turn: int
    time: float
    text: str

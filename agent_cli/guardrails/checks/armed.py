"""Which content and action checks are armed, and how."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from agent_cli.guardrails.checks.check import Check, SlowCheck, Stance
from agent_cli.guardrails.checks.rules import Bypass
from agent_cli.kernel.values import Plain


class Actions(Plain, frozen=True):
    """What is done where a check of actions finds something. Most are bytes and calls of a turn, None for no bound."""

    exfiltration: Stance = "block"
    rate: Stance = "block"
    max_per_turn: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    volume: Stance = "block"
    max_written_bytes: int | None = None
    max_deleted_bytes: int | None = None
    redacted_text: Stance = "block"
    unread: Stance = "warn"
    unusual_path: Stance = "warn"
    first_use: Stance = "warn"


class Habits(Plain, frozen=True):
    """What earlier sessions of the project used, and how many they were."""

    sessions: int = 0
    tools: frozenset[str] = frozenset()


class Armed(Plain, frozen=True):
    """`redact` takes secrets out of everything before it is recorded or shown; `gate` holds answers until they were
    looked at. `deadline` is seconds that one check may take. `own` are the operator's checks. `bypasses` hold until they
    expire.
    """

    redact: bool = True
    gate: bool = False
    untrusted_text: Stance = "warn"
    actions: Actions = Actions()
    deadline: float = 2.0
    habits: Habits = Habits()
    own: tuple[Check | SlowCheck, ...] = ()
    bypasses: tuple[Bypass, ...] = ()

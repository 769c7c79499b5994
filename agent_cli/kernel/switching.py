"""Kill switches: what an operator stopped from outside, by whom, and why."""

from __future__ import annotations

from agent_cli.kernel.values import Plain


class KillSwitch(Plain, frozen=True):
    """`scope` is "all", "project:PATH", "task:NAME", "mode:MODE", "tool:NAME" or "session:ID". Times are seconds since the epoch;
    `restored` is 0 as long as the switch is on.
    """

    scope: str
    why: str
    by: str
    at: float
    restored: float = 0.0
    restored_by: str = ""
    restored_why: str = ""

"""Which content and action checks are armed, and how."""

from __future__ import annotations

from agent_cli.kernel.values import Plain


class Armed(Plain, frozen=True):
    """`redact` takes secrets out of everything before it is recorded or shown."""

    redact: bool = True

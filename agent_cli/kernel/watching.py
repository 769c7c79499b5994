"""The words of the watchdog that settings, signals and sessions share."""

from __future__ import annotations

from typing import Literal, TypeAlias

WatchdogMode: TypeAlias = Literal["off", "warn", "feedback", "enforce"]
"""A ladder: each does what the one before it does."""

Profile: TypeAlias = Literal["default", "seed", "strict"]
"""Sets of thresholds."""

SignalName: TypeAlias = Literal[
    "repeated-tool-call",
    "alternating-tool-cycle",
    "dominant-tool-call",
    "repeated-tool-name",
    "stuck-interaction",
    "no-op-streak",
    "null-result-streak",
    "no-news",
    "tool-failure-streak",
    "no-new-state",
    "tools-without-text",
]
"""In the order in which they are fed: of two that trip at once the first one stops."""

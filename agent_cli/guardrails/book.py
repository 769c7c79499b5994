"""The signals that watch a session, in the order in which they are fed."""

from __future__ import annotations

from agent_cli.guardrails.signals.repeated_tool_call import RepeatedToolCall
from agent_cli.ports import Signal


def signals() -> tuple[Signal, ...]:
    return (RepeatedToolCall(),)

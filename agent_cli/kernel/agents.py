"""Agents that a session can hand a task to, as they are defined."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.commands import Mode
from agent_cli.kernel.values import Plain

Isolation: TypeAlias = Literal["none", "worktree"]
SPAWN = "spawn_agent"
"""The tool that hands a task to an agent."""
SMALL = "small"
"""In the place of a model's name: the small one of the session's provider."""

WIDTH: tuple[Mode, ...] = ("plan", "allow", "ask", "acceptEdits", "yolo")
"""The modes, from the one that lets least happen to the one that lets most happen."""


def narrower(one: Mode, other: Mode) -> Mode:
    """Of two modes the one that lets less happen."""
    return one if WIDTH.index(one) <= WIDTH.index(other) else other


class AgentDefinition(Plain, frozen=True):
    """`instructions` are its system prompt. `tools` are the names of those that it may use, None for all of the session's.

    `model` is a name as `--model` takes it, "small", or "" for the session's own. `mode` is the widest one that it may
    work in, `deny` are rules for what it may never do. Ceilings are None where it sets none of its own: steps, calls,
    tokens, USD, seconds. `project` says whether it is told the project's instructions. `source` is its file, "" for one
    of ours.
    """

    name: str
    description: str
    instructions: str
    model: str = ""
    tools: tuple[str, ...] | None = None
    mode: Mode = "yolo"
    deny: tuple[str, ...] = ()
    max_steps: int | None = None
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_duration: float | None = None
    isolation: Isolation = "none"
    project: bool = True
    source: str = ""

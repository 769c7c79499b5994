"""What the agent has set itself to do."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.values import Plain

TodoStatus: TypeAlias = Literal["pending", "in_progress", "done"]


class TodoItem(Plain, frozen=True):
    text: str
    status: TodoStatus = "pending"

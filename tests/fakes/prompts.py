"""What must be true of every request."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from agent_cli.kernel.messages import Prompt, ToolCall, ToolResult


def accepted(prompts: Iterable[Prompt]) -> None:
    """Each of them is one that every service accepts."""
    for prompt in prompts:
        messages = prompt.messages
        assert messages[0].role == messages[-1].role == "user"
        assert all(one.role != other.role for one, other in itertools.pairwise(messages))
        wanted = [part.call_id for m in messages for part in m.parts if isinstance(part, ToolCall)]
        answered = [part.call_id for m in messages for part in m.parts if isinstance(part, ToolResult)]
        assert wanted == answered

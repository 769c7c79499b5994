"""A call that the operator refuses, and the model makes again all the same."""

from __future__ import annotations

from typing import NamedTuple

from agent_cli.guardrails.arguments import spelled
from agent_cli.kernel.messages import ToolCall

STORM = "refusal_storm"
EQUAL_REFUSALS = 3


class Storm(NamedTuple):
    """Cuts the turn, without a trip: nothing is wrong that a reset would mend."""

    reason: str


class Refusals:
    """Those of one turn."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def refused(self, call: ToolCall) -> Storm | None:
        """What ends the turn with this refusal, if it is one too many."""
        key = spelled(call).key
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._counts[key] < EQUAL_REFUSALS:
            return None
        return Storm(
            f"the same call of {call.name} was made and refused {self._counts[key]} times in this turn"
        )

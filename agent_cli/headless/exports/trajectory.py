"""What one run did: a bounded summary for programs, and a transcript for people."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from agent_cli.headless.exports.story import arguments_of, cut
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import ToolCall, calls_of, text_of
from agent_cli.kernel.usage import Usage

VERSION = 1
ARGUMENT_BYTES = 2_048
RESPONSE_BYTES = 100_000
CALLS = 2_000
"""The last of so many are kept; how many there were is said."""


class Trajectory:
    """Fed the entries of a run in order."""

    def __init__(self) -> None:
        self._session = ""
        self._times: list[float] = []
        self._turns: list[dict[str, Any]] = []
        self._response = ""
        self._steps = self._made = 0
        self._calls: deque[dict[str, Any]] = deque(maxlen=CALLS)
        self._open: dict[str, ToolCall] = {}
        self._usage, self._cost, self._unpriced = Usage(), 0.0, False

    def feed(self, entry: ev.Entry) -> None:
        self._session = entry.session
        self._times = [*self._times[:1], entry.time]
        match entry.event:
            case ev.StepStarted():
                self._steps += not entry.branch
            case ev.AssistantMessage(parts):
                self._say(entry, text_of(parts), calls_of(parts))
            case ev.UsageReported(usage=usage, cost=cost):
                self._usage += usage
                self._cost += cost or 0.0
                self._unpriced = self._unpriced or cost is None
            case ev.ToolReturned():
                self._return(entry, entry.event)
            case _ if entry.branch:
                pass  # a subtask ends no turn of the run
            case ev.TurnCompleted(outcome, exit_code=code, exhausted=exhausted):
                self._turns.append({"outcome": outcome, "exit_code": code, "exhausted": exhausted})
            case ev.TurnError(outcome=outcome, exit_code=code, exhausted=exhausted, message=message):
                ended = {"outcome": outcome, "exit_code": code, "exhausted": exhausted}
                self._turns.append({**ended, "message": cut(message, ARGUMENT_BYTES)})
            case _:
                pass  # the transcript tells the rest

    def _say(self, entry: ev.Entry, text: str, calls: Iterable[ToolCall]) -> None:
        self._open.update({call.call_id: call for call in calls})
        if not entry.branch and text.strip():
            self._response = text

    def _return(self, entry: ev.Entry, event: ev.ToolReturned) -> None:
        call = self._open.pop(event.call_id, None)
        self._made += 1
        self._calls.append(
            {
                "turn": entry.turn,
                "step": entry.step,
                "branch": entry.branch,
                "tool": event.tool,
                "arguments": arguments_of(call, ARGUMENT_BYTES) if call else "",
                "ok": event.output.ok,
                "executed": event.executed,
                "duration_s": event.duration_s,
            }
        )

    def whole(self) -> dict[str, Any]:
        """JSON values."""
        usage = self._usage
        return {
            "version": VERSION,
            "session": self._session,
            "started": self._times[0] if self._times else None,
            "ended": self._times[-1] if self._times else None,
            "response": cut(self._response, RESPONSE_BYTES),
            "turns": self._turns,
            "steps": self._steps,
            "tool_calls": self._made,
            "calls": list(self._calls),
            "usage": {name: getattr(usage, name) for name in usage.__struct_fields__},
            "cost_usd": None if self._unpriced else round(self._cost, 6),
        }

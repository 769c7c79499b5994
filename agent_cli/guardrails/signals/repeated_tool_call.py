"""The same call again and again, with the same result."""

from __future__ import annotations

import hashlib
import re

from agent_cli.guardrails.arguments import canonical, same_call
from agent_cli.kernel import events as ev
from agent_cli.ports import Alert

MASKED = re.compile(r"\d\d:\d\d(:\d\d(\.\d+)?)?|\b[0-9a-f]{7,64}\b")


class RepeatedToolCall:
    """Trips as the call is proposed that would be the `threshold`th equal one in a row, results equal too.

    A change of a file breaks the run: to run a test again after an edit is work.
    """

    name = "repeated-tool-call"

    def __init__(self, threshold: int = 5) -> None:
        self._threshold = threshold
        self._forget()

    def feed(self, event: ev.Recorded, /) -> Alert | None:
        match event:
            case ev.ToolCallProposed(call):
                return self._propose(call.call_id, canonical(call))
            case ev.ToolReturned(call_id, _, output):
                self._result_of(call_id, output)
            case ev.OperatorMessage(by="operator") | ev.GuardrailReset("watchdog" | "all"):
                self._forget()
            case _:
                pass
        return None

    def _propose(self, call_id: str, call: str) -> Alert | None:
        if self._run and same_call(call, self._call):
            self._run += 1
        else:
            self._forget()
            self._call, self._run = call, 1
        self._call_id = call_id
        if self._run < self._threshold or self._told:
            return None
        self._told = True
        tool = call.partition(" ")[0]
        return Alert(
            self.name,
            "critical",
            "session",
            f"{tool} was called {self._run} times in a row with the same arguments and the same result",
            f"You called {tool} {self._run} times in a row with the same arguments and got the same result. "
            "Calling it again will not change that: use what you have, or try something else.",
        )

    def _result_of(self, call_id: str, output: ev.Output) -> None:
        if call_id != self._call_id:
            return
        earlier, self._result = self._result, output
        repeated = self._run > 1 and earlier is not None  # only then is a result worth looking at
        if output.changed or (repeated and _digest(earlier) != _digest(output)):
            self._run = 1

    def _forget(self) -> None:
        self._call = self._call_id = ""
        self._result: ev.Output | None = None
        self._run, self._told = 0, False


def _digest(output: ev.Output | None) -> str:
    """Of what the model reads, times and hashes masked."""
    if output is None:
        return ""
    return hashlib.blake2b(MASKED.sub("#", ev.as_text(output)).encode(), digest_size=16).hexdigest()

"""The same call again and again, with the same result."""

from __future__ import annotations

from agent_cli.guardrails.arguments import Spelled, same_call
from agent_cli.guardrails.recent import SESSION, Held, Stance
from agent_cli.ports import Alert, Called, Came


class RepeatedToolCall:
    """Trips as the call is proposed that would be the `threshold`th equal one in a row.

    `by_result` asks that the results are equal, too. A change of a file breaks the run: to run a test again after
    an edit is work.
    """

    name = "repeated-tool-call"

    def __init__(self, threshold: int = 5, stance: Stance = SESSION, *, by_result: bool = True) -> None:
        self._threshold = threshold
        self._stance = stance
        self._by_result = by_result
        self.forget()

    def forget(self) -> None:
        self._run = 0
        self._last: Held | None = None
        self._about: frozenset[str] = frozenset()

    began = forget

    def forming(self) -> frozenset[str]:
        return self._about if self._run >= self._threshold else frozenset()

    def called(self, call: Called) -> Alert | None:
        if call.waits:
            return None
        if self._last is not None and same_call(_spelled(self._last.call), _spelled(call)):
            self._run += 1
            self._last = Held(call, self._last.result)
        else:
            self._run, self._last, self._about = 1, Held(call), frozenset()
        self._about |= {call.place}
        return self._alert(call.name) if self._run >= self._threshold else None

    def returned(self, result: Came) -> Alert | None:
        last = self._last
        if last is None or result.call.waits:
            return None
        ours = result.call.key == last.call.key
        if result.fresh and not ours:
            self.forget()
        elif ours and self._by_result and (result.fresh or not last.agrees(Held(last.call, result.masked))):
            self._run, self._about = 1, frozenset({last.call.place})
        if ours and self._last is not None:
            self._last = Held(last.call, result.masked)
        return None

    def _alert(self, tool: str) -> Alert:
        same = "the same arguments and the same result" if self._by_result else "the same arguments"
        return Alert(
            self.name,
            *self._stance,
            f"{tool} was called {self._run} times in a row with {same}",
            f"You called {tool} {self._run} times in a row with {same}. "
            "Calling it again will not change that: use what you have, try something else, or say what you are stuck "
            "on. To wait for something, use wait_and_verify.",
            about=self._about,
        )


def _spelled(call: Called) -> Spelled:
    return Spelled(call.key, call.rest, call.paths)

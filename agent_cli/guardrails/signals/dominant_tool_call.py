"""One call most of the time, with others in between."""

from __future__ import annotations

from agent_cli.guardrails.recent import SESSION, Recent, Stance
from agent_cli.ports import Alert, Called, Came


class DominantToolCall:
    """Trips as the call is proposed that would be the `threshold`th equal one of the last `window`.

    `by_result` asks that their results are equal, too. Once told, it lasts until less than half of that is left.
    """

    name = "dominant-tool-call"

    def __init__(
        self, threshold: int = 8, stance: Stance = SESSION, *, window: int = 12, by_result: bool = True
    ) -> None:
        self._threshold = threshold
        self._window = window
        self._stance = stance
        self._by_result = by_result
        self._recent = Recent(window)
        self._lasting = ""

    def forget(self) -> None:
        self._recent.clear()
        self._lasting = ""

    began = forget

    def called(self, call: Called) -> Alert | None:
        if call.waits:
            return None
        self._recent.add(call)
        copies = self._count(call.place)
        if copies >= self._threshold:
            self._lasting = call.place
            return self._alert(call.name, copies)
        if self._count(self._lasting) * 2 < self._threshold:
            self._lasting = ""
        return (
            Alert(self.name, *self._stance, "", about=frozenset({self._lasting})) if self._lasting else None
        )

    def returned(self, result: Came) -> Alert | None:
        self._recent.settle(result)
        return None

    def _count(self, place: str) -> int:
        """The calls that are equal to the last such one, results included."""
        held = [held for held in self._recent if held.call.place == place]
        known = next((one for one in reversed(held) if one.result is not None), None)
        return sum(1 for one in held if not self._by_result or known is None or one.agrees(known))

    def _alert(self, tool: str, copies: int) -> Alert:
        same = "the same arguments and the same result" if self._by_result else "the same arguments"
        of = min(self._window, len(self._recent))
        return Alert(
            self.name,
            *self._stance,
            f"{copies} of the last {of} calls were one call of {tool} with {same}",
            f"{copies} of your last {of} calls were one call of {tool} with {same}. What you do in between does not "
            "change its answer: leave it, take another way, or say what you are stuck on. To wait for something, use "
            "wait_and_verify.",
            about=frozenset({self._lasting}),
        )

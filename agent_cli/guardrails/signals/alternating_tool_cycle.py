"""The same few calls round and round, with the same results."""

from __future__ import annotations

from agent_cli.guardrails.recent import SESSION, Recent, Stance
from agent_cli.ports import Alert, Called, Came

SHORTEST = 2


class AlternatingToolCycle:
    """Trips as the last call of the `laps`th lap is proposed: a block of 2 to `longest` calls, not all the same.

    `pair_laps` is how many laps of a block of two are too many. `by_result` asks that the results are equal, too.
    """

    name = "alternating-tool-cycle"

    def __init__(
        self,
        laps: int = 3,
        stance: Stance = SESSION,
        *,
        longest: int = 6,
        pair_laps: int | None = None,
        by_result: bool = True,
    ) -> None:
        self._laps = max(2, laps)
        self._pair_laps = pair_laps or self._laps
        self._stance = stance
        self._longest = longest
        self._by_result = by_result
        self._recent = Recent(self._laps * longest)

    def forget(self) -> None:
        self._recent.clear()

    began = forget

    def forming(self) -> frozenset[str]:
        """Two laps are ordinary work, but no other signal's."""
        for size in range(SHORTEST, self._longest + 1):
            if self._is_cycle(size, 2):
                return self._about(size)
        return frozenset()

    def called(self, call: Called) -> Alert | None:
        if call.waits:
            return None
        self._recent.add(call)
        for size in range(SHORTEST, self._longest + 1):
            laps = self._pair_laps if size == SHORTEST else self._laps
            if self._is_cycle(size, laps):
                return self._alert(size, laps)
        return None

    def returned(self, result: Came) -> Alert | None:
        self._recent.settle(result)
        return None

    def _is_cycle(self, size: int, laps: int) -> bool:
        recent = self._recent
        if len(recent) < size * laps:
            return False
        for distance in range(1, size * (laps - 1) + 1):
            one, earlier = recent.back(distance), recent.back(distance + size)
            if one.call.place != earlier.call.place or (self._by_result and not one.agrees(earlier)):
                return False
        return len(self._about(size)) > 1

    def _about(self, size: int) -> frozenset[str]:
        return frozenset(self._recent.back(distance).call.place for distance in range(1, size + 1))

    def _alert(self, size: int, laps: int) -> Alert:
        names = ", ".join(self._recent.back(distance).call.name for distance in range(size, 0, -1))
        same = "the same arguments and the same results" if self._by_result else "the same arguments"
        return Alert(
            self.name,
            *self._stance,
            f"the same {size} calls ({names}) went round {laps} times with {same}",
            f"You made the same {size} calls ({names}) {laps} times over with {same}. Nothing changed in between, so "
            "another round will bring the same: change something, take another way, or say what you are stuck on. "
            "To wait for something, use wait_and_verify.",
            about=self._about(size),
        )

"""The same call with the same result within a few steps. It warns the model at once, then it stops the turn."""

from __future__ import annotations

from collections import Counter, deque

from agent_cli.guardrails.recent import TURN, Stance
from agent_cli.ports import Alert, Came


class StuckInteraction:
    """Trips at more than `threshold` copies in the last `window` steps that ran tools.

    The first time the model is warned; `stop_at` copies (0: one more) stop the turn, None never does.
    """

    name = "stuck-interaction"

    def __init__(
        self, threshold: int = 5, stance: Stance = TURN, *, window: int = 10, stop_at: int | None = 0
    ) -> None:
        self._threshold = threshold
        self._stance = stance
        self._window = window
        self._stop_at = None if stop_at is None else max(stop_at, threshold + 2)
        self.forget()

    def forget(self) -> None:
        self._steps: deque[tuple[int, list[str]]] = deque()
        self._copies: Counter[str] = Counter()
        self._all: Counter[str] = Counter()
        self._warned: set[str] = set()

    began = forget

    def returned(self, result: Came) -> Alert | None:
        if result.call.waits or not result.masked:
            return None
        if result.fresh:
            self.forget()
        interaction = f"{result.call.key} {result.masked}"
        self._count(result.call.step, interaction)
        if self._copies[interaction] <= self._threshold:
            return None
        tool, copies = result.call.name, self._all[interaction]
        if interaction not in self._warned:
            self._warned.add(interaction)
            return self._alert(tool, copies, stops=False)
        return self._alert(tool, copies, stops=True) if copies == self._stop_at else None

    def _count(self, step: int, interaction: str) -> None:
        if not self._steps or self._steps[-1][0] != step:
            self._steps.append((step, []))
        self._steps[-1][1].append(interaction)
        self._copies[interaction] += 1
        self._all[interaction] += 1
        while len(self._steps) > self._window:
            for old in self._steps.popleft()[1]:
                self._copies[old] -= 1
                if not self._copies[old]:
                    del self._copies[old], self._all[old]
                    self._warned.discard(old)

    def _alert(self, tool: str, copies: int, *, stops: bool) -> Alert:
        severity, scope = self._stance
        what = f"{tool} was called {copies} times within {self._window} steps with the same arguments and the same result"
        return Alert(
            self.name,
            severity if stops else "warn",
            scope,
            what,
            f"You called {tool} {copies} times within a few steps with the same arguments and got the same result each "
            "time. You are going in circles: change your approach now, or say what you are stuck on. To wait for "
            "something, use wait_and_verify.",
            at_once=not stops,
        )

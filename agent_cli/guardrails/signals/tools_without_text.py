"""Many calls without a word to anybody."""

from __future__ import annotations

from agent_cli.guardrails.recent import WARN, Stance
from agent_cli.ports import Alert, Called


class ToolsWithoutText:
    """Trips at `threshold` calls without visible text of the model; the note is taken back if it speaks first."""

    name = "tools-without-text"

    def __init__(self, threshold: int = 60, stance: Stance = WARN) -> None:
        self._threshold = threshold
        self._stance = stance
        self.forget()

    def forget(self) -> None:
        self._calls, self._told = 0, False

    began = forget

    def called(self, call: Called) -> Alert | None:
        self._calls += 1
        if self._calls < self._threshold or self._told:
            return None
        self._told = True
        return Alert(
            self.name,
            *self._stance,
            f"{self._calls} calls without a word of text from the model",
            f"You made {self._calls} calls without saying anything. Say in a sentence or two what you have found and what "
            "you are doing, then go on.",
        )

    def spoke(self) -> bool:
        taken_back = self._told
        self.forget()
        return taken_back

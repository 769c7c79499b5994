"""Questions of the model in a run without a screen: put on stderr, answered by the lines of standard input."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from agent_cli.headless.inbound import Lines
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer

HOW = "a number, or your answer, and Enter"
OWN_WORDS = "your answer, and Enter"


class Questions:
    """One at a time, in their order; each takes one line that is not empty. What is typed ahead waits for the next one.

    Nothing is read before the first question. When the input ends, the model is told that nobody answers.
    """

    def __init__(
        self, send: Callable[[Answer], None], ask: Callable[[str], None], descriptor: int = 0
    ) -> None:
        self._send = send
        self._ask = ask
        self._lines = Lines(self._take, self._over, descriptor)
        self._waiting: deque[ev.ApprovalRequested] = deque()
        self._typed: deque[str] = deque()
        self._begun = self._ended = False

    def put(self, asked: ev.ApprovalRequested) -> None:
        self._waiting.append(asked)
        if not self._begun:
            self._begun = True
            self._lines.start()
        if len(self._waiting) == 1:
            self._show()
        self._settle()

    def _show(self) -> None:
        asked = self._waiting[0]
        self._ask(f"? {asked.subject}")
        for number, option in enumerate(asked.options or (), 1):
            self._ask(f"{number} {option}")
        self._ask(f"({HOW if asked.options else OWN_WORDS})")

    def _take(self, number: int, line: bytes | None) -> None:
        self._typed.append((line or b"").decode("utf-8", "replace"))
        self._settle()

    def _over(self) -> None:
        self._ended = True
        self._settle()

    def _settle(self) -> None:
        while self._waiting and (self._typed or self._ended):
            asked = self._waiting.popleft()
            said = self._typed.popleft() if self._typed else ""
            options = asked.options or ()
            if said.isdecimal() and 0 < int(said) <= len(options):
                said = options[int(said) - 1]
            self._send(Answer(asked.call_id, allowed=bool(said), edit=said))
            if self._waiting:
                self._show()

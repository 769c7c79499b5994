"""The watchdog of one session: what its signals find, and what the model is told of it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable

import msgspec

from agent_cli.guardrails.feedback import watchdog_block, watchdog_word
from agent_cli.guardrails.watch import Seen, Watch
from agent_cli.kernel import events as ev
from agent_cli.kernel.watching import WatchdogMode
from agent_cli.ports import Alert, Signal

WAIT = "wait_and_verify"
_TO_WAIT = re.compile(r"\s*To wait [^.]*\b" + WAIT + r"\.")
TELLING = ("feedback", "enforce")
"""Modes in which the model is told."""
OBSERVATIONS = 4
"""The most that wait for the model; the oldest are dropped."""


class Watchdog:
    """`off` sees nothing, `warn` tells the operator, `feedback` the model too, `enforce` also stops."""

    def __init__(
        self,
        signals: Iterable[Signal],
        mode: WatchdogMode,
        tools: Callable[[], Collection[str]] = lambda: (WAIT,),
    ) -> None:
        """`tools` are the names that the model knows: it is told of no other."""
        self._tools = tools
        self.mode: WatchdogMode = mode
        self._watch = Watch(signals)
        self._found: list[Alert] = []
        self._observed: deque[Alert] = deque(maxlen=OBSERVATIONS)
        self._at_once: list[Alert] = []
        self._past: list[ev.Recorded] = []

    def see(self, event: ev.Recorded) -> None:
        """A fact of this session or subtask, not of one below it."""
        if self.mode == "off":
            return
        seen = self._watch.feed(event)
        self._found += seen.alerts
        self._take_back(seen)

    def remember(self, event: ev.Recorded) -> None:
        """A fact that the log held before: it tells nobody again. What signals know ends with the operator's message,
        so only what came since the last one is kept to be seen.
        """
        if isinstance(event, ev.OperatorMessage) and event.by == "operator" and self._watch.is_of_turns:
            self._past.clear()
        self._past.append(event)

    def found(self) -> tuple[Alert, ...]:
        """What was found since the last time, to be told to the operator; for the model it waits here."""
        found, self._found = tuple(self._found), []
        if self._tells_model:
            self._at_once += [alert for alert in found if alert.at_once]
            self._observed.extend(alert for alert in found if not alert.at_once)
        return found

    def _take_back(self, seen: Seen) -> None:
        if seen.taken_back:
            kept = [alert for alert in self._observed if alert.signal not in seen.taken_back]
            self._observed = deque(kept, OBSERVATIONS)

    def stops(self, alert: Alert) -> bool:
        return alert.severity == "critical" and self.mode == "enforce"

    def restore(self, halt: ev.GuardrailTrip | None, mode: str) -> None:
        """The log was read. What its latest turn was seen to do, and of a halt that it restored, the model has not been
        told yet, whatever was reset since. `mode` was that turn's: what did not wait then does not wait now.
        """
        if self.mode != "off":
            for event in self._past:
                self._recall(event, waits=self._tells_model and mode in TELLING)
        self._past.clear()
        known = any(halt is not None and alert.signal == halt.signal for alert in self._observed)
        if halt is not None and self._tells_model and not known:
            self._observed.append(Alert(halt.signal, halt.severity, halt.scope, halt.reason))

    def _recall(self, event: ev.Recorded, *, waits: bool) -> None:
        if isinstance(event, ev.OperatorMessage) and event.by == "operator":
            self._observed.clear()  # what came before was told with it
        seen = self._watch.feed(event)
        if waits:
            self._observed.extend(alert for alert in seen.alerts if not alert.at_once)
            self._take_back(seen)

    def word(self) -> str:
        """What cannot wait for the next turn, "" for nothing; it is told once."""
        told, self._at_once = tuple(self._at_once), []
        return watchdog_word(self._fitting(told)) if told else ""

    def block(self) -> str:
        """What to tell at the beginning of a turn, "" for nothing; it is told once."""
        told = (*self._at_once, *self._observed)[-OBSERVATIONS:]
        self._at_once.clear()
        self._observed.clear()
        return watchdog_block(self._fitting(told)) if told else ""

    def _fitting(self, told: tuple[Alert, ...]) -> tuple[Alert, ...]:
        if WAIT in self._tools():
            return told
        return tuple(
            msgspec.structs.replace(alert, guidance=_TO_WAIT.sub("", alert.guidance)) for alert in told
        )

    @property
    def _tells_model(self) -> bool:
        return self.mode in TELLING

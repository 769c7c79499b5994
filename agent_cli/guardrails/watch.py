"""The watchdog: what is recorded → what signals see → alerts, one a behaviour."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from agent_cli.guardrails.arguments import spelled
from agent_cli.guardrails.results import Results, readable
from agent_cli.guardrails.told import Told
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import ToolCall, text_of
from agent_cli.ports import Alert, Called, Came, Claims, SeesCalls, SeesResults, SeesText, SeesTurns, Signal

log = logging.getLogger("agent_cli.guardrails")

WAITING = frozenset({"wait_and_verify", "bash_output"})
"""Tools that are made for polling: a look at a command that runs in the background is one, too."""
REPORTING = frozenset({
    "read_file", "write_file", "edit_file", "list_dir", "glob", "grep", "bash", "retrieve_output", "fetch_url", "web_search",
})  # fmt: skip
"""Tools whose results say all that they found, and that tell when they changed a file."""
UNREACHED = "not run: the turn was stopped before this call"
"""How the result of a call begins that something else kept from running: it says nothing of the agent."""
CHANGES = 1_024
"""Of so many changes of one turn it is known whether they came before."""

T = TypeVar("T")


class Seen(NamedTuple):
    """What a fact brought: alerts, and the signals whose alerts that still wait are taken back."""

    alerts: tuple[Alert, ...] = ()
    taken_back: tuple[str, ...] = ()


NOTHING = Seen()


class Watch:
    """Fed every recorded event of one branch once, in order; what is fed twice from fresh gives the same twice.

    A signal that breaks is passed over: it must not end a turn, nor keep a session from being opened again.
    `epoch` counts the changes of files.
    """

    def __init__(self, signals: Iterable[Signal]) -> None:
        self._signals = tuple(signals)
        self._callers = [signal for signal in self._signals if isinstance(signal, SeesCalls)]
        self._readers = [signal for signal in self._signals if isinstance(signal, SeesResults)]
        self._hearers = [signal for signal in self._signals if isinstance(signal, SeesText)]
        self._claiming = {signal.name: signal for signal in self._signals if isinstance(signal, Claims)}
        self.is_of_turns = all(isinstance(signal, SeesTurns) for signal in self._signals)
        """Whether nothing is remembered beyond a message of the operator."""
        self._told = Told(signal.name for signal in self._signals)
        self._step = self.epoch = 0
        self._forget()

    def feed(self, event: ev.Recorded) -> Seen:
        match event:
            case ev.StepStarted():
                self._step += 1
            case ev.ToolCallProposed(call):
                return Seen(tuple(self.call(self._called(call))))
            case ev.ApprovalDecided(call_id, allowed=False):
                self._denied.add(call_id)
            case ev.ToolReturned(call_id, output=output):
                return Seen(tuple(self._returned(call_id, output)))
            case ev.AssistantMessage(parts) if text_of(parts).strip():
                return self.speak()
            case ev.OperatorMessage(by="operator"):
                self.begin()
            case ev.GuardrailReset("watchdog" | "all") | ev.GuardrailFinding("refusal_storm"):
                self.reset()  # of a storm: somebody else ended that loop, so its calls come off the counts
            case _:
                pass  # nothing of it is behaviour
        return NOTHING

    # ── what signals see ──

    def call(self, called: Called) -> Iterator[Alert]:
        self._told.count()
        claimed: set[str] = set()
        for signal in self._callers:
            alert = _safely(signal, signal.called, called)
            if self._told.admits(alert, signal.name, claimed):
                yield alert
            if signal.name in self._claiming:
                claimed |= self._claiming[signal.name].forming()

    def result(self, came: Came) -> Iterator[Alert]:
        for signal in self._readers:
            alert = _safely(signal, signal.returned, came)
            if alert is not None:
                yield alert

    def speak(self) -> Seen:
        """The model said something that people see."""
        return Seen(
            taken_back=tuple(signal.name for signal in self._hearers if _safely(signal, signal.spoke))
        )

    def begin(self) -> None:
        """A message of the operator begins a turn."""
        self._forget()
        for signal in self._signals:
            if isinstance(signal, SeesTurns):
                _safely(signal, signal.began)

    def reset(self) -> None:
        self._forget()
        for signal in self._signals:
            _safely(signal, signal.forget)

    # ── facts ──

    def _forget(self) -> None:
        self._results = Results()
        self._open: dict[str, Called] = {}
        self._denied: set[str] = set()
        self._changes: dict[tuple[str, str], None] = {}
        self._told.forget()

    def _called(self, call: ToolCall) -> Called:
        key, rest, paths = spelled(call)
        waits, reports = call.name in WAITING, call.name in REPORTING
        called = Called(call.call_id, call.name, key, rest, paths, self.epoch, self._step, waits, reports)
        self._open[call.call_id] = called
        return called

    def _returned(self, call_id: str, output: ev.Output) -> Iterator[Alert]:
        called, text = self._open.pop(call_id, None), readable(call_id, output)
        if called is None or (text or "").startswith(UNREACHED):
            return iter(())
        exact, name = self._results.names(called.key, text)
        denied = call_id in self._denied
        self._denied.discard(call_id)
        fresh = bool(set(output.changed) - set(output.restless)) and self.changes(called.key, name)
        came = Came(
            called, exact, name, output.ok, output.no_op, output.empty, denied, fresh, last=not self._open
        )
        return self.result(came)

    def changes(self, key: str, result: str) -> bool:
        """A call changed a file: whether it had not done so in this turn with that result. Then all is new."""
        change = (key, result)
        if change in self._changes:
            return False
        self._changes[change] = None
        if len(self._changes) > CHANGES:
            del self._changes[next(iter(self._changes))]
        self.epoch += 1
        return True


def _safely(signal: Signal, see: Callable[..., T], *seen: object) -> T | None:
    try:
        return see(*seen)
    except Exception:
        log.exception("the signal %s broke", signal.name)
        return None

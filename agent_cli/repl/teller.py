"""Events as plain text, in the order in which they come: text as it streams, a line for the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import ToolCall, calls_of, text_of
from agent_cli.repl.lines import INDENT, lines_of, shown
from agent_cli.talk.answers import Answer
from agent_cli.talk.remarks import OUTCOMES, remark
from agent_cli.talk.tally import Tally
from agent_cli.talk.untrusted import clean, clean_line

MOST = 12
"""Lines of a result that are shown."""

_Call: TypeAlias = ev.ToolCallProposed | ev.ToolCallStarted | ev.ToolReturned
_Turn: TypeAlias = (
    ev.TurnStarted | ev.StepStarted | ev.AssistantMessage | ev.UsageReported | ev.TurnError | ev.TurnCompleted
)


class Teller:
    """`write` takes text as it is to be seen."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._midline = False
        self._shown = ""  # what was streamed of this step's text
        self._thinking = False
        self._tally = Tally()
        self._subjects: dict[str, str] = {}

    def line(self, text: str = "") -> None:
        """On a line of its own."""
        self.end_line()
        self._write(f"{clean(text)}\n")

    def end_line(self) -> None:
        if self._midline:
            self._write("\n")
            self._midline = False

    def typed(self) -> None:
        """The person's own line has ended what was written."""
        self._midline = False

    def tell(self, answer: Answer) -> None:
        for line in lines_of(answer):
            self.line(line)

    def event(self, event: ev.Event) -> None:
        match event:
            case ev.Entry(branch=""):
                self._fact(event.event, event.time)
            case ev.TextDelta(text):
                self._shown += text
                self._say(text)
            case ev.ReasoningDelta():
                if not self._thinking:
                    self._thinking = True
                    self.line("(thinking)")
            case ev.Waiting(seconds, reason):
                if reason and seconds == int(seconds) and int(seconds) % 10 == 0:
                    self.line(f"waits {seconds:.0f} s: {clean_line(reason)}")
            case ev.Entry() | ev.ArgumentsDelta() | ev.ToolProgress():
                pass  # what a subtask does, and what is still incomplete

    def _say(self, text: str) -> None:
        text = clean(text)
        if text:
            self._write(text)
            self._midline = not text.endswith("\n")

    def _fact(self, event: ev.Recorded, time: float) -> None:
        match event:
            case ev.ToolCallProposed() | ev.ToolCallStarted() | ev.ToolReturned():
                self._call(event)
            case (
                ev.TurnStarted()
                | ev.StepStarted()
                | ev.AssistantMessage()
                | ev.UsageReported()
                | ev.TurnError()
                | ev.TurnCompleted()
            ):
                self._turn(event, time)
            case (
                ev.SessionStarted()
                | ev.SessionEnded()
                | ev.OperatorMessage()
                | ev.MessageQueued()
                | ev.MessageWithdrawn()
                | ev.ApprovalRequested()
                | ev.ApprovalDecided()
                | ev.ContextReductionPending()
                | ev.GuardrailChecked()
                | ev.OperatorNote(level="detail")
            ):
                pass  # the person did it, is asked about it, or is told of it by another fact
            case told:
                if isinstance(told, ev.Retry) and self._shown:
                    self.line("(the text above is withdrawn)")
                    self._shown = ""
                self.tell(remark(told))

    def _turn(self, event: _Turn, time: float) -> None:
        match event:
            case ev.TurnStarted():
                self._tally, self._subjects = Tally(started=time), {}
            case ev.StepStarted():
                self._shown, self._thinking = "", False
            case ev.AssistantMessage(parts=parts, partial=partial):
                self._subjects |= {call.call_id: _given(call) for call in calls_of(parts)}
                self._whole(text_of(parts))
                if partial:
                    self.line("(the answer was cut off here)")
            case ev.UsageReported():
                self._tally.spent(event)
            case ev.TurnError(_, outcome, _, message):
                self.line(
                    f"{OUTCOMES[outcome]}: {clean(message)}"
                    if outcome != "interrupted"
                    else OUTCOMES[outcome]
                )
            case ev.TurnCompleted(outcome):
                self._end(outcome, time)

    def _whole(self, said: str) -> None:
        """Previews may be lost; the fact is what counts, so what is missing of it is made up for."""
        if not said.startswith(self._shown):
            self.line("(what was said in full)")
            self._shown = ""
        self._say(said[len(self._shown) :])
        self._shown = ""
        self.end_line()

    def _end(self, outcome: ev.Outcome, time: float) -> None:
        facts = self._tally.facts(outcome, time, lambda passed: f"{passed:.0f} s")
        self.line(f"({', '.join(facts)})")

    def _call(self, event: _Call) -> None:
        match event:
            case ev.ToolCallProposed(call):  # one that is refused never starts
                self._subjects[call.call_id] = _given(call)
            case ev.ToolCallStarted(call_id, tool, subject):
                self._subjects[call_id] = subject
                self.line(f"{clean_line(tool)} {clean_line(subject)}".rstrip())
            case ev.ToolReturned(call_id, tool, output, executed, duration):
                self._tally.calls += 1
                subject = self._subjects.pop(call_id, "")
                took = f"{duration:.1f} s" if executed else "not run"
                how = "ok" if output.ok else "failed"
                self.line(f"{INDENT}{clean_line(tool)} {clean_line(subject)[:60]}: {how}, {took}")
                self._result(shown(output.for_human) if output.for_human else clean(ev.as_text(output)))

    def _result(self, text: str) -> None:
        lines = text.rstrip().split("\n") if text.strip() else []
        for line in lines[:MOST]:
            self.line(f"{INDENT}{INDENT}{line}")
        if len(lines) > MOST:
            self.line(f"{INDENT}{INDENT}({len(lines) - MOST} more lines)")


def _given(call: ToolCall) -> str:
    """What it would be called with; one that no longer fits a ceiling is not even proposed."""
    return " ".join(map(str, (call.arguments or {}).values())) or call.raw

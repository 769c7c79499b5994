"""Events become the transcript: what streams, what is called, what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Reasoning as Thought
from agent_cli.kernel.messages import Said, Text
from agent_cli.talk.remarks import OUTCOMES, Told, remark
from agent_cli.talk.tally import Tally
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.below import Below, summary
from agent_cli.tui.blocks.answer import Answer
from agent_cli.tui.blocks.call import Call, seconds
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Banner, Ending, Level, Notice
from agent_cli.tui.blocks.operator import Operator
from agent_cli.tui.blocks.reasoning import Reasoning
from agent_cli.tui.blocks.told import block_of
from agent_cli.tui.column import Column
from agent_cli.tui.taken_back import take_back

_Kind: TypeAlias = type[Answer | Reasoning]
_CallFact: TypeAlias = (
    ev.ToolCallProposed | ev.ApprovalRequested | ev.ApprovalDecided | ev.ToolCallStarted | ev.ToolReturned
)
_TurnFact: TypeAlias = (
    ev.TurnStarted
    | ev.OperatorMessage
    | ev.StepStarted
    | ev.AssistantMessage
    | ev.UsageReported
    | ev.TurnError
    | ev.TurnCompleted
)
_Silent: TypeAlias = (
    ev.SessionStarted
    | ev.GuardrailChecked
    | ev.SessionEnded
    | ev.MessageQueued
    | ev.MessageWithdrawn
    | ev.ContextReductionPending
)


class Story:
    """Feeds a column. `apply` is cheap; `flush` turns what streamed since the last one into lines."""

    def __init__(self, column: Column) -> None:
        self._to = column
        self._live: list[Answer | Reasoning] = []  # what this request has streamed so far, in order
        self._calls: dict[str, Call] = {}
        self._questions: dict[str, str] = {}  # of tools, by their ids: what was asked
        self._typing: list[Call] = []  # calls whose arguments stream, and which are no fact yet
        self._seq = 0  # of the entry that is told
        self._tally = Tally()
        self._subtasks = Below()
        self._beside: dict[str, Call] = {}  # cards of calls whose agent works in the background
        self._carded: set[str] = set()  # branches of subtasks that a card tells of
        self.streamed = 0
        """Characters that came as previews, in all."""
        self.waiting = ""

    def apply(self, event: ev.Event) -> None:
        match event:
            case ev.Entry():
                self._below(event)
                if not event.branch:
                    self._seq = event.seq
                    self._fact(event.event, event.time)
            case ev.TextDelta(text):
                self._stream(text, Answer)
            case ev.ReasoningDelta(text):
                self._stream(text, Reasoning)
            case ev.ArgumentsDelta(call_id, name, text):
                self.streamed += len(text)
                self._typed(call_id, name, text)
            case ev.ToolProgress(call_id, text):
                if call_id in self._calls:
                    self._calls[call_id].say(text)
                    self._to.update(self._calls[call_id])
            case ev.Waiting(wait, reason):
                self.waiting = f"waits {wait:.0f}s: {reason}" if reason else ""

    def flush(self) -> None:
        """Let the transcript settle behind it."""
        for block in self._live:
            if isinstance(block, Reasoning):
                self._to.update(block)
            else:
                self._grow(block, block.take())

    def _fact(self, event: ev.Recorded, time: float) -> None:
        match event:
            case (
                ev.ToolCallProposed()
                | ev.ApprovalRequested()
                | ev.ApprovalDecided()
                | ev.ToolCallStarted()
                | ev.ToolReturned()
            ):
                self._call(event)
            case (
                ev.TurnStarted()
                | ev.OperatorMessage()
                | ev.StepStarted()
                | ev.AssistantMessage()
                | ev.UsageReported()
                | ev.TurnError()
                | ev.TurnCompleted()
            ):
                self._turn(event, time)
            case (
                ev.SessionStarted()
                | ev.GuardrailChecked()
                | ev.SessionEnded()
                | ev.MessageQueued()
                | ev.MessageWithdrawn()
                | ev.ContextReductionPending()
            ):
                self._silent(event)
            case ev.OperatorNote(level="detail"):
                pass  # /context shows it
            case told:
                self._tell(told)

    def _below(self, entry: ev.Entry) -> None:
        """The card of a call shows how far its subtask is; what that spends is spent by the turn."""
        row = self._subtasks.feed(entry)
        if row is not None and (card := self._calls.get(row.call_id) or self._beside.get(row.call_id)):
            card.at_work(summary(row), row.doing)
            self._to.update(card)
            if row.background:
                self._beside[row.call_id] = card  # its call ends before it does
            else:
                self._carded.add(row.branch)
            if row.outcome:
                self._beside.pop(row.call_id, None)
        if entry.branch and isinstance(entry.event, ev.UsageReported):
            self._tally.spent(entry.event)

    def _silent(self, event: _Silent) -> None:
        """Decided: the screen says nothing about these."""

    def _tell(self, event: Told) -> None:
        if isinstance(event, (ev.Retry, ev.ModelSwitched)):
            self._withdraw()
        if isinstance(event, ev.Rewound) and event.conversation:
            take_back(self._to, event.to)
        if not self._in_card(event):
            self.insert(block_of(remark(event)))

    def _in_card(self, event: Told) -> bool:
        """A subtask of a call is told in the card of that call."""
        match event:
            case ev.SubtaskStarted(call_id=call_id):
                return call_id in self._calls
            case ev.SubtaskCompleted(subtask=branch):
                return branch in self._carded
            case _:
                return False

    def _turn(self, event: _TurnFact, time: float) -> None:
        match event:
            case ev.TurnStarted():
                self._tally = Tally(started=time)
            case ev.OperatorMessage(content, by):
                if by == "operator":  # what the product tells the model is not for people
                    self.insert(Operator(content, self._seq))
            case ev.StepStarted():
                self.waiting = ""
            case ev.AssistantMessage(parts=parts, partial=partial):
                self._say(parts)
                if partial:
                    self.insert(Ending(["the answer was cut off here"], "warning"))
            case ev.UsageReported():
                self._tally.spent(event)
            case ev.TurnError(_, outcome, _, message):
                self._withdraw()
                self._end(outcome, time, message)
            case ev.TurnCompleted(outcome):
                self._end(outcome, time, "")

    def _call(self, event: _CallFact) -> None:
        match event:
            case ev.ToolCallProposed(call):
                card = self._card(call.call_id, call.name)
                card.proposed(call.name, call.arguments)
                self._tally.calls += 1
                self._typing = [typed for typed in self._typing if typed is not card]
            case ev.ApprovalRequested(call_id, _, subject, options=options) if self._is_question(
                call_id, options
            ):
                self._questions[call_id] = subject
                return
            case ev.ApprovalDecided(call_id, tool, allowed) if call_id in self._questions:
                asked = clean_line(self._questions.pop(call_id))
                self.flush()
                self._to.add([Notice(f"{asked}: {'answered' if allowed else 'not answered'}", gap=0)])
                return
            case ev.ApprovalRequested(call_id, tool, subject):
                card = self._card(call_id, tool)
                card.to("waiting", subject)
            case ev.ApprovalDecided(call_id, tool, allowed, by):
                card = self._card(call_id, tool)
                card.to("queued" if allowed else "not run" if by == "interrupt" else "denied")
            case ev.ToolCallStarted(call_id, tool, subject):
                card = self._card(call_id, tool)
                card.to("running", subject)
            case ev.ToolReturned(call_id, tool, output, executed, duration):
                card = self._card(call_id, tool)
                card.returned(output, duration, executed=executed)
                self._calls.pop(call_id, None)
        self._to.update(card)

    def _is_question(self, call_id: str, options: tuple[str, ...] | None) -> bool:
        """Whether a tool asks it while it runs: then it is no call of its own."""
        return options is not None and call_id not in self._calls

    def _card(self, call_id: str, name: str) -> Call:
        card = self._calls.get(call_id)
        if card is None:
            self.flush()
            items = self._to.items
            card = self._calls[call_id] = Call(
                call_id, name, gap=0 if items and isinstance(items[-1], Call) else 1
            )
            self._to.add([card])
        return card

    def _typed(self, call_id: str, name: str, text: str) -> None:
        if call_id not in self._calls:
            self._typing.append(self._card(call_id, name))
        self._calls[call_id].typed(name, text)
        self._to.update(self._calls[call_id])

    # ── what streams ──

    def _stream(self, text: str, kind: _Kind) -> None:
        self.streamed += len(text)
        self.waiting = ""
        last = self._live[-1] if self._live else None
        if not isinstance(last, kind):
            self.flush()
            if isinstance(last, Reasoning):
                last.close()
            last = Answer() if kind is Answer else Reasoning(open=True)
            self._live.append(last)
            if isinstance(last, Reasoning):
                self._to.add([last])
        last.feed(text)

    def _grow(self, answer: Answer, fresh: Sequence[Item], at: int | None = None) -> None:
        """Shows the pieces that are new, at a place or behind the older ones; the last older one may have changed."""
        older = len(answer.items) - len(fresh)
        if older:
            last = answer.items[older - 1]
            self._to.update(last)
            at = self._to.index(last) + 1
        self._to.add(fresh, at=at)

    def _say(self, parts: tuple[Said, ...]) -> None:
        """The complete message: what streamed stays where it is the same, and is replaced where it is not."""
        said = _spoken(parts)
        at = None
        if [(type(block), block.source()) for block in self._live] != said:
            at = self._first_live()
            self._remove_live()
            self._live = [_block(kind, text) for kind, text in said]
        for block in self._live:
            if isinstance(block, Answer):
                fresh = block.finish()
                self._grow(block, fresh, at)
                at = None if at is None else at + len(fresh)
            elif at is None:
                block.close()
                self._to.update(block)
            else:
                self._to.add([block], at=at)
                at += 1
        self._live = []

    def unfinished(self) -> list[Item]:
        """The items that may still change, in their order."""
        changing = {*self._streamed(), *self._calls.values()}
        return [item for item in self._to.items if item in changing]

    def _streamed(self) -> list[Item]:
        """What this request has brought so far."""
        items: list[Item] = []
        for block in self._live:
            items.extend(block.items if isinstance(block, Answer) else [block])
        return [*items, *self._typing]

    def _first_live(self) -> int:
        """Where the first item stands that this request has brought; the end where there is none."""
        return min(map(self._to.index, self._streamed()), default=len(self._to.items))

    def _remove_live(self) -> None:
        for block in self._live:
            self._to.drop(block.items if isinstance(block, Answer) else [block])
        self._live = []

    def _withdraw(self) -> None:
        """The request failed: what it streamed was never said."""
        self._remove_live()
        for card in self._typing:
            self._to.drop([card])
            self._calls.pop(card.call_id, None)
        self._typing = []

    def insert(self, item: Item) -> None:
        """Before what still streams, which stays at the end."""
        self._to.add([item], at=self._first_live())

    def _end(self, outcome: ev.Outcome, time: float, message: str) -> None:
        for card in self._calls.values():
            card.ended()
            self._to.update(card)
        self._calls, self._typing, self.waiting = {}, [], ""
        facts = self._tally.facts(outcome, time, seconds)
        level: Level = "info" if outcome in ("completed", "interrupted") else "warning"
        if message and outcome not in ("completed", "interrupted"):
            self._to.add([Banner(OUTCOMES[outcome], message)])
            facts = facts[1:]
        if facts:
            self._to.add([Ending(facts, level)])


def _spoken(parts: tuple[Said, ...]) -> list[tuple[_Kind, str]]:
    """Texts and thoughts in order, neighbours of one kind joined."""
    said: list[tuple[_Kind, str]] = []
    for part in parts:
        if not isinstance(part, Text | Thought) or not part.text:
            continue
        kind = Answer if isinstance(part, Text) else Reasoning
        if said and said[-1][0] is kind:
            said[-1] = (kind, said[-1][1] + part.text)
        else:
            said.append((kind, part.text))
    return said


def _block(kind: _Kind, text: str) -> Answer | Reasoning:
    block = kind()
    block.feed(text)
    return block

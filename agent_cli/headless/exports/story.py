"""A log as what a reader wants to see of it: who said what, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from agent_cli.kernel import events as ev
from agent_cli.kernel import wire
from agent_cli.kernel.messages import ToolCall, calls_of, text_of
from agent_cli.kernel.outcomes import OUTCOME_UNKNOWN

Who: TypeAlias = Literal["operator", "agent", "call", "note"]


STILL_OPEN = f"{OUTCOME_UNKNOWN}, or it runs still"
"""Where the log ends before its turn does."""


class Passage(NamedTuple):
    """`head` is one line; `body` is text as it stands. `ok` is False for a call that failed."""

    who: Who
    head: str
    body: str
    ok: bool = True


def passages(entries: Iterable[ev.Entry], most: int) -> Iterator[Passage]:
    """`most` bytes of each result are kept. What a subtask did is told by its digest."""
    calls: dict[str, ToolCall] = {}
    begun: dict[str, ev.ToolCallStarted] = {}
    for entry in entries:
        if entry.branch:
            continue
        match entry.event:
            case ev.OperatorMessage(content, by):
                if by == "operator":
                    yield Passage("operator", "", text_of(content))
            case ev.AssistantMessage(parts):
                calls.update({call.call_id: call for call in calls_of(parts)})
                if text := text_of(parts).strip():
                    yield Passage("agent", "", text)
            case ev.ToolReturned(call_id, tool, output):
                call = calls.pop(call_id, None)
                begun.pop(call_id, None)
                said = arguments_of(call, 200) if call else ""
                yield Passage("call", f"{tool} {said}".strip(), cut(ev.as_text(output), most), output.ok)
            case ev.ToolCallStarted(call_id):
                begun[call_id] = entry.event
            case _:
                if isinstance(entry.event, ev.TERMINAL):
                    yield from _unsettled(begun, OUTCOME_UNKNOWN)
                if told := _note(entry.event):
                    yield Passage("note", told, "")
    yield from _unsettled(begun, STILL_OPEN)


def _unsettled(begun: dict[str, ev.ToolCallStarted], why: str) -> Iterator[Passage]:
    """The calls that had started and came to no result; then there are none."""
    for call in begun.values():
        yield Passage("call", f"{call.tool} {call.subject}".strip(), why, ok=False)
    begun.clear()


def _note(event: ev.Recorded) -> str:
    match event:
        case ev.GuardrailTrip(guardrail, reason=reason):
            return f"{guardrail}: {reason}"
        case ev.CompactionPerformed(mode, before, after):
            return f"the conversation was reduced ({mode}): {before:,} → {after:,} tokens"
        case ev.CheckpointPerformed(note=note):
            return f"checkpoint {note}".strip()
        case ev.ModelSwitched(provider, model):
            return f"from here on {provider}/{model}"
        case ev.TurnError(message=message):
            return f"ended without an answer: {message}"
        case ev.OperatorNote(text, level):
            return "" if level == "detail" else text
        case _:
            return ""


def arguments_of(call: ToolCall, most: int) -> str:
    """The arguments as one line of JSON, at most so many bytes."""
    if call.arguments is None:
        return cut(call.raw, most)
    if len(call.arguments) == 1 and isinstance(value := next(iter(call.arguments.values())), str):
        return cut(" ".join(value.split()), most)
    return cut(wire.to_json(call.arguments), most)


def cut(text: str, most: int) -> str:
    """At most so many bytes, on a character boundary, saying how much there was."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    return f"{data[:most].decode('utf-8', 'ignore')} … [{len(data):,} bytes]"

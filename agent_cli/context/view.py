"""The log as the messages that a model is sent. A pure fold: the same log gives the same messages.

Whatever the log holds, the messages are valid for every provider: they begin with the operator, roles
alternate, every call has exactly one result, nothing is empty. Feeding an entry costs what is in it, so
the next request costs what is new.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agent_cli.context.bounds import ends_of, kept_in
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import (
    Document,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Said,
    Text,
    ToolCall,
    ToolResult,
)
from agent_cli.kernel.outcomes import OUTCOME_UNKNOWN
from agent_cli.kernel.values import Plain

SUMMARY_OPENING = "The conversation so far, summarized:\n\n"
CLEARED = "[result of {name}, {size:,} bytes, cleared to save context; run the tool again if it is needed]"
KEPT = "[result of {name}, {size} bytes, cleared to save context; all of it is in {path}]"
_LONGEST_LINE = 5_000
"""Characters of a line with the longest path."""
_SHORT = re.compile(r"\[result of .+, [\d,]+ bytes, cleared to save context; .+\]")

NOT_SENT = "[{name} of {size:,} bytes, left out here: it does not fit the context window]"


class Item(NamedTuple):
    """One part with the entry it came from. `by_product` marks a message that the operator did not write.

    `shortened` says what the part is the head and the tail of.
    """

    seq: int
    role: Role
    part: Part
    by_product: bool = False
    shortened: ev.Shortened | None = None


class KeptView(Plain, frozen=True):
    """A view as data: made while no call is open."""

    items: list[Item]
    asked_at: int
    used_ids: set[str]


class View:
    """Fed every entry of one branch once, in order."""

    def __init__(self, branch: str = "") -> None:
        self._branch = branch
        self._items: list[Item] = []
        self._closed: list[Message] = []
        self._closed_items = 0
        self._open: dict[str, ToolCall] = {}
        self._asked_at = 0
        self._results: dict[str, tuple[int, ToolResult]] = {}
        self._used_ids: set[str] = set()

    def feed(self, entry: ev.Entry) -> None:
        if entry.branch != self._branch:
            return  # a subtask has a view of its own
        match entry.event:
            case ev.OperatorMessage(content, by):
                self._settle()
                self._items += [
                    Item(entry.seq, "user", part, by == "product") for part in content if not _blank(part)
                ]
            case ev.AssistantMessage(parts=parts):
                self._settle()
                self._say(entry.seq, parts)
            case ev.ToolReturned(call_id, _, output):
                self._return(entry.seq, call_id, output)
            case ev.TurnCompleted() | ev.TurnError():
                self._settle()
            case ev.CompactionPerformed(cleared=cleared, summary=summary, keeps_from=keeps_from):
                self._settle()
                self._items = with_shortened(self._items, entry.event.shortened)
                self._reduce(frozenset(cleared), summary, keeps_from)
            case ev.CheckpointPerformed(record, keeps_from):
                self._settle()
                self._reduce(frozenset(), record, keeps_from)
            case _:
                pass  # everything else is for people, rules and accounts

    def items(self) -> tuple[Item, ...]:
        """The parts of the view, in order; open calls have no result in it yet."""
        return tuple(self._items)

    def messages(self) -> tuple[Message, ...]:
        """What to send now. Calls still open get a result that says so; the view itself stays open for theirs."""
        if self._open:
            return tuple(_grouped([*self._items, *_settled(self._asked_at, self._open, self._results)]))
        self._close_finished()
        return (*self._closed, *_grouped(self._items[self._closed_items :]))

    def kept(self) -> KeptView:
        """What `restore` makes the same view of. Open calls are closed, as an operator's message does."""
        self._settle()
        return KeptView(self._items, self._asked_at, self._used_ids)

    def restore(self, kept: KeptView) -> None:
        """Into a view that was fed nothing."""
        self._items, self._asked_at, self._used_ids = kept.items, kept.asked_at, kept.used_ids

    def _say(self, seq: int, parts: tuple[Said, ...]) -> None:
        kept = [part for part in parts if not _blank(part) and not self._repeats(part)]
        if all(isinstance(part, Reasoning) for part in kept):
            return  # thinking alone is no message for any provider
        if not self._items:
            return  # a conversation begins with the operator
        self._items += [Item(seq, "assistant", part) for part in kept]
        self._asked_at = seq
        for part in kept:
            if isinstance(part, ToolCall):
                self._open[part.call_id] = part
                self._used_ids.add(part.call_id)

    def _repeats(self, part: Said) -> bool:
        return isinstance(part, ToolCall) and part.call_id in self._used_ids

    def _return(self, seq: int, call_id: str, output: ev.Output) -> None:
        call = self._open.get(call_id)
        if call is None or call_id in self._results:
            return
        content = output.for_model or (Text("(no output)"),)
        self._results[call_id] = (seq, ToolResult(call_id, call.name, content, output.ok))
        if len(self._results) == len(self._open):
            self._settle()

    def _settle(self) -> None:
        self._items += _settled(self._asked_at, self._open, self._results)
        self._open.clear()
        self._results.clear()

    def _reduce(self, cleared: frozenset[str], summary: str, keeps_from: int) -> None:
        kept = [_clear(item, cleared) for item in self._items if item.seq >= keeps_from]
        while kept and (isinstance(kept[0].part, ToolResult) or not (summary or kept[0].role == "user")):
            del kept[0]  # a tail never begins with a result, nor a conversation with the model
        opening = [Item(keeps_from - 1, "user", Text(SUMMARY_OPENING + summary))] if summary else []
        self._items = [*opening, *kept]
        self._closed, self._closed_items = [], 0

    def _close_finished(self) -> None:
        """Freezes all messages but the last, so that the same ones are the same objects on every request."""
        fresh = self._items[self._closed_items :]
        last = len(fresh)
        while last and fresh[last - 1].role == fresh[-1].role:
            last -= 1
        self._closed += _grouped(fresh[:last])
        self._closed_items += last


def _settled(seq: int, calls: dict[str, ToolCall], results: dict[str, tuple[int, ToolResult]]) -> list[Item]:
    """The results of a batch in the order of its calls; a missing one is supplied, as of the calls' own entry."""
    settled: list[Item] = []
    for call_id, call in calls.items():
        lost = ToolResult(call_id, call.name, (Text(OUTCOME_UNKNOWN),), ok=False)
        at, result = results.get(call_id, (seq, lost))
        settled.append(Item(at, "user", result))
    return settled


def messages_of(items: tuple[Item, ...]) -> tuple[Message, ...]:
    """Some items of a view as messages."""
    return tuple(_grouped(list(items)))


def _grouped(items: list[Item]) -> list[Message]:
    grouped: list[Message] = []
    start = 0
    for at in range(1, len(items) + 1):
        if at == len(items) or items[at].role != items[start].role:
            grouped.append(Message(items[start].role, tuple(item.part for item in items[start:at])))
            start = at
    return grouped


def _clear(item: Item, cleared: frozenset[str]) -> Item:
    if isinstance(item.part, ToolResult) and item.part.call_id in cleared:
        return item._replace(part=cleared_result(item.part))
    return item


def cleared_result(result: ToolResult) -> ToolResult:
    """The same result as one short line; where the whole of it was kept, the line names the file. Such a line stays."""
    text = "".join(block.text for block in result.content if isinstance(block, Text))
    if len(text) <= _LONGEST_LINE and _SHORT.fullmatch(text):
        return result
    kept = kept_in(text)
    told = (
        KEPT.format(name=result.name, size=kept[0], path=kept[1])
        if kept
        else CLEARED.format(name=result.name, size=len(text.encode()))
    )
    short = Text(told)
    return ToolResult(result.call_id, result.name, (short,), result.ok)


def with_shortened(items: list[Item], shortened: tuple[ev.Shortened, ...]) -> list[Item]:
    """The items with head and tail of those parts only."""
    if not shortened:
        return items
    wanted = {(one.seq, one.at): one for one in shortened}
    return [_shorten(item, wanted.get(place)) for item, place in zip(items, places(items), strict=True)]


def places(items: list[Item] | tuple[Item, ...]) -> list[tuple[int, int]]:
    """Of each item its entry, and which of that entry's parts in the view it is, from 0."""
    found: list[tuple[int, int]] = []
    for item in items:
        again = bool(found) and found[-1][0] == item.seq
        found.append((item.seq, found[-1][1] + 1 if again else 0))
    return found


def _shorten(item: Item, to: ev.Shortened | None) -> Item:
    if to is None:
        return item
    match item.part:
        case Text(text) if len(text.encode(errors="replace")) > to.room:
            raw = text.encode(errors="replace")
            short = Text(ends_of(raw, to.room, to.whole, to.path, to.how))
        case Image() | Document():
            short = Text(NOT_SENT.format(name=_named(item.part), size=to.whole))
        case _:
            return item
    return item._replace(part=short, shortened=to)


def _named(part: Image | Document) -> str:
    return part.name or "document" if isinstance(part, Document) else "picture"


def _blank(part: Part) -> bool:
    match part:
        case Text(text):
            return not text.strip()
        case Reasoning(text, signature=signature, opaque=opaque):
            return not text and signature is None and opaque is None
        case Opaque(_, data):
            return not data
        case _:
            return False

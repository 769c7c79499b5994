"""Plans for a smaller view: which results to clear, where to cut, and a digest without a model. Pure.

The log is never rewritten; a plan becomes an event, and the view follows from the event.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from agent_cli.context.view import SUMMARY_OPENING, Item, cleared_result
from agent_cli.context.words import OPERATOR_HEADING, Rooms, ends, section, words_in
from agent_cli.kernel.messages import Document, Image, Part, Reasoning, Text, ToolCall, ToolResult
from agent_cli.kernel.todo import TodoItem, TodoStatus

BYTES_PER_TOKEN = 4
SAFE_BYTES_PER_TOKEN = 3
RESULT_IN_SUMMARY = 4_000
OPERATOR_TOKENS = 20_000
OPERATOR_TEXT = OPERATOR_TOKENS * BYTES_PER_TOKEN
DIGEST_TAIL = 8_000
DIGEST_CALLS = 400
DIGEST_ROOM = 100_000
DIGEST_ARGUMENTS = 200
IMAGE_BYTES = 6_400

TRUNCATED = """The conversation was truncated to fit the context window. This is not a summary: detail is lost. Do not guess what
was in it; run a tool again where you need something."""


class Prune(NamedTuple):
    """Results to clear, and the tokens that saves."""

    cleared: tuple[str, ...]
    saved: int


class Carried(NamedTuple):
    """What every reduction carries over as it is: the text of the plan in force, and the list of things to do."""

    plan: str = ""
    todo: tuple[TodoItem, ...] = ()


class Cut(NamedTuple):
    """Everything before the entry `keeps_from` is dropped; `dropped` is what goes, `saved` its tokens."""

    keeps_from: int
    dropped: tuple[Item, ...]
    saved: int


def tokens_of(items: tuple[Item, ...]) -> int:
    """An estimate that errs to the small side: what a reduction saves is never promised too high."""
    return sum(size_of(item.part) for item in items) // BYTES_PER_TOKEN


def size_of(part: Part) -> int:
    """Bytes that a part takes in a request, roughly."""
    match part:
        case Text(text) | Reasoning(text):
            return len(text.encode())
        case ToolCall(name=name, raw=raw, arguments=arguments):
            return len(name) + len(raw or json.dumps(arguments))
        case ToolResult(content=content):
            return sum(size_of(block) for block in content)
        case Image():
            return IMAGE_BYTES
        case Document(_, data):
            return len(data)
        case _:
            return 0


def prune(items: tuple[Item, ...], keep: int) -> Prune:
    """Clears the results of calls older than the last `keep` tokens; the last batch always stays."""
    border = min(_tail(items, keep), _last_batch(items))
    cleared: list[str] = []
    saved = 0
    for item in items[:border]:
        gain = _gain(item.part)
        if isinstance(item.part, ToolResult) and gain > 0:
            cleared.append(item.part.call_id)
            saved += gain
    return Prune(tuple(cleared), saved // BYTES_PER_TOKEN)


def squeeze(items: tuple[Item, ...], tokens: int) -> Prune:
    """Clears results until that many tokens are saved, those of the last batch too: the oldest before it, then its largest."""
    border = _last_batch(items)
    last = sorted(items[border:], key=lambda item: size_of(item.part), reverse=True)
    cleared: list[str] = []
    saved = 0
    for item in (*items[:border], *last):
        gain = _gain(item.part)
        if isinstance(item.part, ToolResult) and gain > 0 and saved < tokens * BYTES_PER_TOKEN:
            cleared.append(item.part.call_id)
            saved += gain
    return Prune(tuple(cleared), saved // BYTES_PER_TOKEN)


def _gain(part: Part) -> int:
    """Bytes that clearing a result saves."""
    return size_of(part) - size_of(cleared_result(part)) if isinstance(part, ToolResult) else 0


def cut(items: tuple[Item, ...], keep: int) -> Cut | None:
    """Cuts at a step's boundary so that at most `keep` tokens stay, the last batch at least; None: nothing to drop."""
    border, protected = _tail(items, keep), _last_batch(items)
    while border < protected and not _begins_step(items, border):
        border += 1
    border = min(border, protected)
    if border == 0:
        return None
    keeps_from = items[border].seq if border < len(items) else items[-1].seq + 1
    return Cut(keeps_from, items[:border], tokens_of(items[:border]))


def cut_before_last_words(items: tuple[Item, ...]) -> Cut | None:
    """Drops all but the operator's last words, calls that nobody saw the results of too; None: there is nothing else."""
    border = len(items)
    while border > 0 and _is_words(items[border - 1]) and items[border - 1].seq == items[-1].seq:
        border -= 1
    if border == 0 or not has_news(items[:border]):
        return None
    keeps_from = items[border].seq if border < len(items) else items[-1].seq + 1
    return Cut(keeps_from, items[:border], tokens_of(items[:border]))


def _is_words(item: Item) -> bool:
    return item.role == "user" and not isinstance(item.part, ToolResult)


def _tail(items: tuple[Item, ...], keep: int) -> int:
    """Where the last `keep` tokens begin."""
    left = keep * BYTES_PER_TOKEN
    at = len(items)
    while at > 0 and left >= size_of(items[at - 1].part):
        left -= size_of(items[at - 1].part)
        at -= 1
    return at


def _last_batch(items: tuple[Item, ...]) -> int:
    """Where what must stay begins: the last calls with their results, or the operator's message that waits.

    Of messages that nobody answered, because their turns were cut, only the last one waits.
    """
    at = len(items)
    while at > 0 and items[at - 1].role == "user":
        at -= 1
    if at == len(items):
        return at
    if not any(isinstance(item.part, ToolResult) for item in items[at:]):
        at = len(items)
    seq = items[at - 1].seq if at else 0
    while at > 0 and items[at - 1].seq == seq:
        at -= 1
    return at


def _begins_step(items: tuple[Item, ...], at: int) -> bool:
    """Never between a call and its result, never inside one message."""
    if at == 0 or items[at].seq == items[at - 1].seq:
        return at == 0
    return not isinstance(items[at].part, ToolResult)


def has_news(items: tuple[Item, ...]) -> bool:
    """Whether anything stands there but an earlier summary."""
    return any(not _is_summary(item) for item in items)


def composed(
    summary: str, dropped: tuple[Item, ...], rooms: Rooms | None = None, carried: Carried | None = None
) -> str:
    """What stands in the view for the dropped part: the summary, what is carried over as it is, and the operator's own
    words.
    """
    rooms = rooms or Rooms(OPERATOR_TEXT, OPERATOR_TEXT)
    room = rooms.words
    parts = [summary.strip()]
    if carried is not None and carried.plan.strip():
        plan = carried.plan.strip()
        parts.append(f"{PLAN_HEADING}\n\n{plan if len(plan.encode()) <= room else ends(plan, room)}")
    if carried is not None and carried.todo:
        lines = "\n".join(f"- [{MARKS[item.status]}] {item.text}" for item in carried.todo)
        parts.append(f"{TODO_HEADING}\n\n{lines}")
    if words := section(_messages(dropped), rooms):
        parts.append(words)
    return "\n\n".join(parts)


PLAN_HEADING = "## The plan in force, verbatim"
TODO_HEADING = "## The list of things to do, verbatim"
MARKS: dict[TodoStatus, str] = {"pending": " ", "in_progress": ">", "done": "x"}


def _messages(dropped: tuple[Item, ...]) -> list[str]:
    """What the operator said, a text for each message; those before an earlier reduction are in its summary."""
    found: dict[int, list[str]] = {}
    older: list[str] = []
    for item in dropped:
        if item.role != "user" or item.by_product or not isinstance(item.part, Text):
            continue
        if _is_summary(item):
            known = words_in(item.part.text.partition(OPERATOR_HEADING)[2])
            older = [text for text in known if text]
        else:
            found.setdefault(item.seq, []).append(item.part.text)
    return [*older, *("\n\n".join(texts) for texts in found.values())]


def says_more(items: tuple[Item, ...], since: int) -> bool:
    """Whether the operator says something in an entry from there on."""
    return any(
        item.seq >= since and item.role == "user" and not item.by_product and isinstance(item.part, Text)
        for item in items
    )


def last_words(text: str) -> str:
    """What the operator said last in this text of a view: all of it, or where it stands for a dropped part, what that
    holds.
    """
    if text.startswith(SUMMARY_OPENING):
        return words_in(text.partition(OPERATOR_HEADING)[2]).last
    return text


def _is_summary(item: Item) -> bool:
    return isinstance(item.part, Text) and item.part.text.startswith(SUMMARY_OPENING)


def _short(part: Part) -> Part:
    if not isinstance(part, ToolResult) or size_of(part) <= RESULT_IN_SUMMARY:
        return part
    text = "\n".join(block.text for block in part.content if isinstance(block, Text))
    shown = ends(text, RESULT_IN_SUMMARY) if text else "[not shown]"
    return ToolResult(part.call_id, part.name, (Text(shown),), part.ok)


def transcript(items: tuple[Item, ...]) -> str:
    """The items as text, each result bounded; for a model that is to read them, not to go on with them."""
    return "\n\n".join(filter(None, (_told(item) for item in items)))


def _told(item: Item) -> str:
    match _short(item.part):
        case Text(text):
            return f"{item.role}: {text}" if text.strip() else ""
        case ToolCall(name=name, raw=raw, arguments=arguments):
            return f"called {name} {(raw or json.dumps(arguments))[:RESULT_IN_SUMMARY]}"
        case ToolResult(_, name, content):
            shown = "\n".join(block.text for block in content if isinstance(block, Text))
            return f"result of {name}: {shown}"
        case _:
            return ""


def chunks(text: str, size: int) -> list[str]:
    """The text in pieces of at most `size` bytes, cut between characters."""
    raw = text.encode()
    return [raw[at : at + size].decode(errors="ignore") for at in range(0, len(raw), max(4, size))]


def digest(dropped: tuple[Item, ...], room: int = DIGEST_ROOM) -> str:
    """Mechanical truncation: the ledger of calls, newest first, and the end of the talk, in about `room` bytes."""
    parts = [TRUNCATED]
    earlier, listed = _unlisted(next((text for item in dropped if (text := _earlier_summary(item))), ""))
    if earlier:
        most = min(DIGEST_TAIL, room // 4)
        known = earlier if len(earlier.encode()) <= most else ends(earlier, most)
        parts.append(f"{KNOWN_HEADING}\n\n{known}")
    calls = [item.part for item in dropped if isinstance(item.part, ToolCall)]
    if lines := _ledger([*map(_listed, reversed(calls)), *listed], room // 2):
        parts.append(f"{LEDGER_HEADING}\n\n" + "\n".join(lines))
    talk = "\n\n".join(
        f"{item.role}: {item.part.text}"
        for item in dropped
        if isinstance(item.part, Text) and item.part.text.strip() and not _is_summary(item)
    )
    if talk:
        end = talk[-min(DIGEST_TAIL, room // 4) :]
        parts.append("## The end of the conversation that was dropped\n\n" + end)
    return "\n\n".join(parts)


KNOWN_HEADING = "## What was known before that"
EARLIER_CALLS = re.compile(r"- and (\d+) earlier calls?")
LEDGER_HEADING = "## Tool calls so far, newest first, without their results"


def _listed(call: ToolCall) -> str:
    told = (call.raw or json.dumps(call.arguments))[:DIGEST_ARGUMENTS]
    return f"- {call.name} {' '.join(told.split())}"


def _ledger(calls: list[str], room: int) -> list[str]:
    """The newest that fit, and how many are left out, those that an earlier list left out with them."""
    counted = EARLIER_CALLS.fullmatch(calls[-1]) if calls else None
    earlier = int(counted[1]) if counted else 0
    calls = calls[:-1] if counted else calls
    lines: list[str] = []
    for line in calls:
        room -= len(line.encode()) + 1
        if room < 0 or len(lines) >= DIGEST_CALLS:
            break
        lines.append(line)
    left = earlier + len(calls) - len(lines)
    return [*lines, f"- and {left} earlier call{'s' * (left != 1)}"] if left else lines


def _unlisted(earlier: str) -> tuple[str, list[str]]:
    """An earlier digest without its ledger and its heading, and the calls of that; of a summary all."""
    known, found, rest = earlier.removeprefix(KNOWN_HEADING).partition(LEDGER_HEADING)
    if not found:
        return known.strip(), []
    lines = rest.strip().splitlines()
    end = next((at for at, line in enumerate(lines) if not line.startswith("- ")), len(lines))
    return "\n".join([known.strip(), *lines[end:]]).strip(), lines[:end]


def _earlier_summary(item: Item) -> str:
    """The summary or digest that this item holds, without what every such text begins with."""
    if not isinstance(item.part, Text) or not _is_summary(item):
        return ""
    body = item.part.text.removeprefix(SUMMARY_OPENING)
    for heading in (OPERATOR_HEADING, TODO_HEADING, PLAN_HEADING):
        body = body.partition(heading)[0]
    return body.removeprefix(TRUNCATED).strip()

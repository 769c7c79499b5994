"""A conversation in words, for a program that was not there, and what its operator says to it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agent_cli.kernel.messages import (
    Block,
    Document,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from agent_cli.providers.memo import json_bytes

MOST_CHARACTERS = 400_000
"""Of what is told of the past; the end of it is kept. About 100,000 tokens."""
OPENING = "Between <before> and </before> stands what was said and done so far; calls in it have run already."
OMITTED = "[the beginning is left out]\n\n"
GO_ON = "Go on."
PLAIN = "The operator says:\n"
"""Before a text that the program would take for a command to itself."""


def to_say(new: Sequence[Message]) -> list[Block]:
    """The messages that are new to the program as one message of its operator.

    What the operator said last stands in it as it is; everything before that, as a report.
    """
    last = _operators(new)
    before = _before(new, last)
    told = _report(before)
    blocks: list[Block] = [Text(told)] if told else []
    return [*blocks, *(last or [Text(GO_ON)])]


def line(blocks: Iterable[Block], session: str) -> bytes:
    """A line of the program's standard input."""
    message = {"role": "user", "content": [_block(block) for block in blocks]}
    return json_bytes({"type": "user", "message": message, "parent_tool_use_id": None, "session_id": session})


def _operators(new: Sequence[Message]) -> list[Block]:
    """What stands at the end and is no result."""
    parts: list[Block] = []
    for part in reversed(new[-1].parts if new and new[-1].role == "user" else ()):
        if not isinstance(part, Text | Image | Document):
            break
        parts.insert(0, part)
    return parts


def _before(new: Sequence[Message], last: Sequence[Block]) -> list[tuple[str, Part]]:
    parts = [(message.role, part) for message in new for part in message.parts]
    return [*parts[: len(parts) - len(last)]]


def _report(parts: Sequence[tuple[str, Part]]) -> str:
    text = "\n\n".join(filter(None, (_told(role, part) for role, part in parts)))
    if len(text) > MOST_CHARACTERS:
        text = OMITTED + text[-MOST_CHARACTERS:]
    return f"{OPENING}\n<before>\n{text}\n</before>" if text else ""


def _told(role: str, part: Part) -> str:
    match part:
        case Text(text):
            return f"[{'operator' if role == 'user' else 'you'}]\n{text}"
        case ToolCall(name=name, arguments=arguments, raw=raw):
            return f"[you called {name}]\n{raw if arguments is None else json_bytes(arguments).decode()}"
        case ToolResult(name=name, content=content, ok=ok):
            shown = "\n".join(_shown(block) for block in content)
            return f"[{name} {'returned' if ok else 'failed'}]\n{shown}"
        case Image() | Document():
            return _shown(part)
        case Reasoning() | Opaque():
            return ""


def _shown(block: Block) -> str:
    return block.text if isinstance(block, Text) else f"[a file of type {block.media_type}]"


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Text(text):
            return {"type": "text", "text": PLAIN + text if text.lstrip().startswith("/") else text}
        case Image(media_type, data):
            return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
        case Document(media_type, data):
            return {"type": "document", "source": {"type": "base64", "media_type": media_type, "data": data}}

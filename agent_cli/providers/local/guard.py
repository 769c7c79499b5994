"""Keeps a small model from going in circles: what it may do next, by what it did in this turn. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agent_cli.context.reduce import last_words
from agent_cli.kernel.messages import Block, Message, Prompt, Text, ToolCall, ToolResult, text_of
from agent_cli.providers.local.simple import ANSWER, offered

LOOKING = frozenset({"read_file", "grep", "bash"})
CHANGING = frozenset({"write_file", "edit_file", "bash"})
MAX_FAILURES = 4
SHORT_FILE = 2_000
"""Characters as read; less than what is shown of a result."""


class Step(NamedTuple):
    """One call of the running turn with its result."""

    call: ToolCall
    result: str
    ok: bool

    def same_call(self, other: Step) -> bool:
        return self.call.name == other.call.name and self.call.arguments == other.call.arguments


def allowed(prompt: Prompt) -> tuple[str, ...]:
    """The tools of the next step; only the answer where the model is stuck.

    Editing needs text that was seen, and gives way to writing where it failed on a short file. A tool that
    failed in circles is left out.
    """
    names = [tool.name for tool in offered(prompt)]
    if prompt.tool_choice in names:
        return (prompt.tool_choice,)
    if prompt.tool_choice == "none" or stuck(prompt.messages):
        return (ANSWER,)
    steps = steps_of(prompt.messages)
    left_out = {steps[-1].call.name} if circling(steps) else set[str]()
    if not _has_looked(prompt.messages) or any(better_rewritten(step, steps) for step in steps):
        left_out.add("edit_file")
    return (*(name for name in names if name not in left_out), ANSWER)


def stuck(messages: tuple[Message, ...]) -> bool:
    """True where another call of this turn would only repeat what is known.

    That is: the last step circled and had its result, or failed and was not the first to circle; or the
    last `MAX_FAILURES` steps failed.
    """
    steps = steps_of(messages)
    if not steps:
        return False
    circles = [circling(steps[: at + 1]) for at in range(len(steps))]
    failing = len(steps) >= MAX_FAILURES and not any(step.ok for step in steps[-MAX_FAILURES:])
    return failing or (circles[-1] and (steps[-1].ok or sum(circles) > 1))


def circling(steps: list[Step]) -> bool:
    """True where the last of these steps brought nothing new.

    That is: the same call as the one before; or one made earlier with the same result, nothing changed
    since; or the second failure in a row of one tool.
    """
    if len(steps) < 2:
        return False
    last, before = steps[-1], steps[-2]
    if last.same_call(before) or (last.call.name == before.call.name and not last.ok and not before.ok):
        return True
    for earlier in reversed(steps[:-1]):
        if earlier.same_call(last) and earlier.result == last.result:
            return True
        if earlier.ok and earlier.call.name in CHANGING:
            return False
    return False


def better_rewritten(edit: Step, steps: list[Step]) -> bool:
    """A failed edit of a file that was seen whole: small models copy a short file better than a part of it."""
    if edit.call.name != "edit_file" or edit.ok:
        return False
    path = _path_of(edit)
    return any(
        step.call.name == "read_file"
        and step.ok
        and _path_of(step) == path
        and len(step.result) <= SHORT_FILE
        for step in steps
    )


def _path_of(step: Step) -> str:
    return str((step.call.arguments or {}).get("path", ""))


def steps_of(messages: tuple[Message, ...]) -> list[Step]:
    """The calls since the operator spoke last, with their results."""
    return list(_steps(messages))


def request_in(messages: tuple[Message, ...]) -> str:
    """What the operator said last, also where a summary holds it."""
    texts = (last_words(text_of(message.parts)) for message in reversed(messages) if _operator(message))
    return next(filter(None, texts), "")


def shown(content: tuple[Block, ...]) -> str:
    """Blocks as text; what is not text is named."""
    words = [
        block.text
        if isinstance(block, Text)
        else f"[a file of type {block.media_type}, which you cannot see]"
        for block in content
    ]
    return "\n".join(words)


def _steps(messages: tuple[Message, ...]) -> Iterator[Step]:
    spoke = max((at for at, message in enumerate(messages) if _operator(message)), default=0)
    calls: dict[str, ToolCall] = {}
    for message in messages[spoke:]:
        for part in message.parts:
            if isinstance(part, ToolCall):
                calls[part.call_id] = part
            elif isinstance(part, ToolResult) and part.call_id in calls:
                yield Step(calls.pop(part.call_id), shown(part.content), part.ok)


def _operator(message: Message) -> bool:
    return message.role == "user" and bool(text_of(message.parts).strip())


def _has_looked(messages: tuple[Message, ...]) -> bool:
    return any(
        isinstance(part, ToolCall) and part.name in LOOKING for message in messages for part in message.parts
    )

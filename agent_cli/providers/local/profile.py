"""`encode` for small models on a CPU: a short prompt, one constrained call per step, a guard against loops.

Small models lose their way in long prompts and in free-form tool syntax, and each prompt token costs about
10 ms on two cores. So the system text takes a few hundred tokens, a JSON schema forces every reply to be one
call or the answer, results are cut, and everything before the last step is the same text as before: the
server reuses what it has computed for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from agent_cli.kernel.messages import (
    Document,
    Image,
    Message,
    Prompt,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    text_of,
)
from agent_cli.providers.local.guard import (
    Step,
    allowed,
    better_rewritten,
    request_in,
    shown,
    steps_of,
    stuck,
)
from agent_cli.providers.local.simple import (
    ANSWER,
    ARGUMENTS,
    brief_of,
    offered,
    schema_of,
    simplified,
    written,
)

WINDOW = 8_192
MAX_OUTPUT = 1_536
SYSTEM_CHARS = 4_000
RESULT_CHARS = 2_400
SHORT_CHARS = 240
MARGIN_TOKENS = 64
NUMBER = re.compile(r"^\d+\t", re.MULTILINE)
"""Line numbers of a file that was read: a small model would write them into what it copies."""

LOOK = "Never guess what a file holds: read it first, then change it or use its content."
HOW = 'Reply with one JSON object only, of the form {"tool": NAME, "args": {...}}. Tools:'
ANSWER_BRIEF = "Finish: tell the user what was found or done, with the facts."
EXAMPLES = f"""\
Example. User: what is in todo.txt?
{written("read_file", {"path": "todo.txt"})}
Result: call mom
{written(ANSWER, {"answer": "todo.txt contains: call mom"})}
Example. User: b.md must say no, not yes
{written("read_file", {"path": "b.md"})}
Result: we say yes
{written("edit_file", {"path": "b.md", "old": "say yes", "new": "say no"})}
Result: ok
{written(ANSWER, {"answer": "Changed b.md."})}"""
ENOUGH = "You already did that. Now answer the user's request."
GIVE_UP = "This does not work. Stop, and tell the user what could not be done."
FAILED = "That did not work. Try another way."
COPY_EXACTLY = "That did not work. Let old be one line of the file, copied exactly."
WRITE_INSTEAD = "That did not work. Write the whole corrected file with write_file instead."
REMINDER = (
    "The request was: {}\nIf this result is enough, answer with what it says. If not, take the next step."
)
REQUEST_CHARS = 600


class Line(NamedTuple):
    """One chat message to be. `result` marks a tool result, the first thing to be shortened."""

    role: str
    text: str
    result: bool = False


def encode(prompt: Prompt, window: int = WINDOW) -> dict[str, Any]:
    """The body of a chat completion for llama-server. The run status line is left out: it would cost reuse."""
    lines = list(_lines(prompt.messages))
    if stuck(prompt.messages):
        failed = not steps_of(prompt.messages)[-1].ok
        lines.append(Line("user", GIVE_UP if failed else ENOUGH))
    elif lines and lines[-1].result:
        lines.append(Line("user", REMINDER.format(cut(request_in(prompt.messages), REQUEST_CHARS))))
    max_tokens = min(prompt.max_output or MAX_OUTPUT, MAX_OUTPUT, window // 2)
    system = "\n\n".join([protocol(offered(prompt)), cut("\n\n".join(prompt.system), SYSTEM_CHARS)])
    fitted = _fitted([Line("system", system), *lines], window - max_tokens - MARGIN_TOKENS)
    schema = {"anyOf": [schema_of(name) for name in allowed(prompt)]}
    return {
        "messages": _merged(fitted),
        "response_format": {"type": "json_schema", "json_schema": {"name": "call", "schema": schema}},
        "temperature": prompt.temperature or 0,
        "seed": 1,
        "cache_prompt": True,
        "max_tokens": max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def protocol(tools: tuple[ToolSpec, ...]) -> str:
    """How to call, the tools, and two worked examples: how every prompt with these tools begins."""
    listed = [(tool.name, brief_of(tool)) for tool in tools] + [(ANSWER, ANSWER_BRIEF)]
    signatures = [f"- {name}({', '.join(ARGUMENTS[name])}): {brief}" for name, brief in listed]
    return "\n".join([HOW, *signatures, LOOK, "", EXAMPLES])


def cut(text: str, limit: int) -> str:
    """At most about `limit` characters: two thirds head, the rest tail, and a note between them."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[-(limit // 3) :]
    return f"{head}\n[... {len(text) - len(head) - len(tail):,} characters left out ...]\n{tail}"


def tokens_in(text: str) -> int:
    """An estimate from above: digits stand alone in these vocabularies, other text has 3 bytes a token."""
    digits = sum(character.isdigit() for character in text)
    return digits + (len(text.encode()) - digits) // 3 + 8


def _lines(messages: tuple[Message, ...]) -> Iterator[Line]:
    """The conversation as a small model would have written it: a call, its result, the next call."""
    waiting: dict[str, ToolCall] = {}
    steps: list[Step] = []
    for message in messages:
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        waiting |= {call.call_id: call for call in calls}
        said = text_of(message.parts) if message.role == "assistant" else ""
        if said and not calls:
            yield Line("assistant", written(ANSWER, {"answer": said}))
        for part in message.parts if message.role == "user" else ():
            match part:
                case ToolResult(call_id, content=content, ok=ok) if call_id in waiting:
                    steps.append(Step(waiting.pop(call_id), shown(content), ok))
                    yield Line("assistant", written(steps[-1].call.name, simplified(steps[-1].call)))
                    yield Line("user", _told(steps), result=True)
                case Text() | Image() | Document():
                    yield Line("user", shown((part,)))
                case _:
                    pass  # nothing else stands in a user's message


def _told(steps: list[Step]) -> str:
    """The last result in words, and what follows from a failure."""
    last = steps[-1]
    if last.ok and last.call.name == "read_file":
        text, lines = NUMBER.subn("", last.result)
        return f"Result ({lines} lines):\n{cut(text, RESULT_CHARS)}"
    result = f"Result: {cut(last.result, RESULT_CHARS)}"
    if last.ok:
        return result
    if last.call.name != "edit_file":
        return f"{result}\n{FAILED}"
    return f"{result}\n{WRITE_INSTEAD if better_rewritten(last, steps) else COPY_EXACTLY}"


def _fitted(lines: list[Line], room: int) -> list[Line]:
    """The lines within `room` tokens if shortening can do it: the oldest results go first, then old calls."""
    excess = sum(tokens_in(line.text) for line in lines) - room
    fitted = list(lines)
    recent = len(lines) - 3
    order = [at for at, line in enumerate(lines) if line.result and at < recent]
    order += [at for at, line in enumerate(lines) if line.role == "assistant" and at < recent]
    for at in order:
        if excess <= 0:
            break
        short = lines[at]._replace(text=cut(lines[at].text, SHORT_CHARS))
        excess -= tokens_in(lines[at].text) - tokens_in(short.text)
        fitted[at] = short
    return fitted


def _merged(lines: list[Line]) -> list[dict[str, str]]:
    """Roles alternate: some chat templates accept nothing else."""
    starts = [
        0,
        *(at + 1 for at, (one, two) in enumerate(pairwise(lines)) if one.role != two.role),
        len(lines),
    ]
    return [
        {"role": lines[start].role, "content": "\n\n".join(line.text for line in lines[start:end])}
        for start, end in pairwise(starts)
    ]

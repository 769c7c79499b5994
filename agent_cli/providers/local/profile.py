"""`encode` for small models on a CPU: a short prompt, one constrained call per step, a guard against loops.

Small models lose their way in long prompts and in free-form tool syntax, and each prompt token costs about
10 ms on two cores. So the system text takes a few hundred tokens, a JSON schema forces every reply to be one
call or the answer, results are cut, and everything before the last step is the same text as before: the
server reuses what it has computed for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from agent_cli.kernel.messages import (
    Block,
    Document,
    Image,
    Message,
    Part,
    Prompt,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    text_of,
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
CHANGING = frozenset({"write_file", "edit_file", "bash"})

HOW = 'Reply with one JSON object only, of the form {"tool": NAME, "args": {...}}. Tools:'
ANSWER_BRIEF = "Finish: give the answer to the user. Call this when the task is done."
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
FAILED = "That did not work. Try another way."
OTHERWISE = "You did that already. Go on with the task, or answer."
MAX_FAILURES = 4


class Line(NamedTuple):
    """One chat message to be. `result` marks a tool result, the first thing to be shortened."""

    role: str
    text: str
    result: bool = False


class Step(NamedTuple):
    """One call of the running turn with its result."""

    call: ToolCall
    result: str
    ok: bool

    def same_call(self, other: Step) -> bool:
        return self.call.name == other.call.name and self.call.arguments == other.call.arguments


def encode(prompt: Prompt, window: int = WINDOW) -> dict[str, Any]:
    """The body of a chat completion for llama-server. The run status line is left out: it would cost reuse."""
    tools = offered(prompt)
    names = allowed(prompt)
    lines = list(_lines(prompt.messages))
    if len(names) == 1 and prompt.tool_choice == "auto":
        lines.append(Line("user", ENOUGH))
    elif len(names) <= len(tools):
        lines.append(Line("user", OTHERWISE))
    max_tokens = min(prompt.max_output or MAX_OUTPUT, MAX_OUTPUT, window // 2)
    system = Line("system", system_text(prompt.system, tools))
    fitted = _fitted([system, *lines], window - max_tokens - MARGIN_TOKENS)
    return {
        "messages": _merged(fitted),
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "call", "schema": {"anyOf": [schema_of(name) for name in names]}},
        },
        "temperature": prompt.temperature or 0,
        "seed": 1,
        "cache_prompt": True,
        "max_tokens": max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def system_text(system: tuple[str, ...], tools: tuple[ToolSpec, ...]) -> str:
    """The session's own system text, then how to call, the tools, and two worked examples."""
    listed = [(tool.name, brief_of(tool)) for tool in tools] + [(ANSWER, ANSWER_BRIEF)]
    signatures = [f"- {name}({', '.join(ARGUMENTS[name])}): {brief}" for name, brief in listed]
    return "\n".join([cut("\n\n".join(system), SYSTEM_CHARS), "", HOW, *signatures, "", EXAMPLES])


def circling(steps: list[Step]) -> bool:
    """True where the last step of this turn brought nothing new.

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


def allowed(prompt: Prompt) -> tuple[str, ...]:
    """The tools of the next step. Where the last step circled, its tool is left out; where one before it in
    this turn circled as well, or the last `MAX_FAILURES` steps failed, only the answer is left.
    """
    names = [tool.name for tool in offered(prompt)]
    if prompt.tool_choice in names:
        return (prompt.tool_choice,)
    steps = list(_steps(prompt.messages))
    circles = [circling(steps[: at + 1]) for at in range(len(steps))]
    failing = len(steps) >= MAX_FAILURES and not any(step.ok for step in steps[-MAX_FAILURES:])
    if prompt.tool_choice == "none" or failing or (circles and circles[-1] and sum(circles) > 1):
        return (ANSWER,)
    if circles and circles[-1]:
        names.remove(steps[-1].call.name)
    return (*names, ANSWER)


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


def _steps(messages: tuple[Message, ...]) -> Iterator[Step]:
    """The calls since the operator spoke last, with their results."""
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


def _lines(messages: tuple[Message, ...]) -> Iterator[Line]:
    """The conversation as a small model would have written it: a call, its result, the next call."""
    waiting: dict[str, ToolCall] = {}
    for message in messages:
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        waiting |= {call.call_id: call for call in calls}
        said = text_of(message.parts) if message.role == "assistant" else ""
        if said and not calls:
            yield Line("assistant", written(ANSWER, {"answer": said}))
        if message.role == "user":
            for part in message.parts:
                yield from _user_lines(part, waiting)


def _user_lines(part: Part, waiting: dict[str, ToolCall]) -> Iterator[Line]:
    match part:
        case ToolResult(call_id, _, content, ok):
            if call := waiting.pop(call_id, None):
                yield Line("assistant", written(call.name, simplified(call)))
            result = "Result: " + cut(shown(content), RESULT_CHARS)
            yield Line("user", result if ok else f"{result}\n{FAILED}", result=True)
        case Text() | Image() | Document():
            yield Line("user", shown((part,)))
        case _:
            pass  # nothing else stands in a user's message


def shown(content: tuple[Block, ...]) -> str:
    """Blocks as text; what is not text is named."""
    words = [
        block.text
        if isinstance(block, Text)
        else f"[a file of type {block.media_type}, which you cannot see]"
        for block in content
    ]
    return "\n".join(words)


def _fitted(lines: list[Line], room: int) -> list[Line]:
    """The lines within `room` tokens if shortening can do it: the oldest results go first, then old calls."""
    excess = sum(tokens_in(line.text) for line in lines) - room
    fitted = list(lines)
    recent = len(lines) - 2
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

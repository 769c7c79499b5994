"""What is said: parts, messages, and the prompt that is sent to a model."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from agent_cli.kernel.values import Plain, Value

Role: TypeAlias = Literal["user", "assistant"]
Effort: TypeAlias = Literal["low", "medium", "high"]


class Text(Value, frozen=True, tag="text"):
    """Visible text."""

    text: str


class Reasoning(Value, frozen=True, tag="reasoning"):
    """Thinking of the model, kept and returned exactly as received.

    `provider` and `model` name who can read `signature` and `opaque` again; others drop the part.
    """

    text: str
    provider: str
    model: str
    signature: str | None = None
    opaque: dict[str, Any] | None = None


class ToolCall(Value, frozen=True, tag="tool-call"):
    """One call that the model wants.

    `arguments` is None where `raw` (the JSON text as received, after repair) is not a JSON object.
    `opaque` is what a provider wants back beside the call (a thought signature).
    """

    call_id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str = ""
    opaque: dict[str, Any] | None = None


class Image(Value, frozen=True, tag="image"):
    """`data` is base64."""

    media_type: str
    data: str


class Document(Value, frozen=True, tag="document"):
    """A file that the model reads as it is (PDF). `data` is base64."""

    media_type: str
    data: str
    name: str = ""


class Opaque(Value, frozen=True, tag="opaque"):
    """A block of one provider that nobody else understands; returned to that provider exactly."""

    provider: str
    data: dict[str, Any]


Block: TypeAlias = Text | Image | Document
"""What a tool result or an operator message may hold."""


class ToolResult(Value, frozen=True, tag="tool-result"):
    call_id: str
    name: str
    content: tuple[Block, ...]
    ok: bool = True


Said: TypeAlias = Text | Reasoning | ToolCall | Opaque
"""What a model may say."""

Part: TypeAlias = Text | Reasoning | ToolCall | Opaque | Image | Document | ToolResult


class Message(Plain, frozen=True):
    """User messages hold blocks and tool results; assistant messages hold what a model said."""

    role: Role
    parts: tuple[Part, ...]


class ToolSpec(Plain, frozen=True):
    """A tool as a model sees it. `schema` is JSON Schema of type object; `brief` is one line for small models."""

    name: str
    description: str
    schema: dict[str, Any]
    brief: str = ""


class Prompt(Plain, frozen=True):
    """Everything of one model request. Pure data: the same prompt encodes to the same bytes.

    `system` blocks and `tools` are the stable prefix. `status` is the run status line: it goes behind the
    last cache breakpoint as the last text of the last user message, and is never stored.
    `max_output` is a number of tokens, None for the model's own limit.
    `tool_choice` is "auto", "none", or the name of the tool that must be called.
    `session` is a stable key of run and agent, for routing to a warm cache.
    `steps_left` is how many requests the turn may still make, this one included; None without a ceiling. It is for
    those who make several by themselves.
    """

    model: str
    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    status: str | None = None
    max_output: int | None = None
    effort: Effort | None = None
    temperature: float | None = None
    tool_choice: str = "auto"
    session: str = ""
    steps_left: int | None = None


def text_of(parts: tuple[Part, ...]) -> str:
    """The visible text of some parts, joined."""
    return "".join(part.text for part in parts if isinstance(part, Text))


def calls_of(parts: tuple[Part, ...]) -> tuple[ToolCall, ...]:
    return tuple(part for part in parts if isinstance(part, ToolCall))

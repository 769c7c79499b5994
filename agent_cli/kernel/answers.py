"""What a provider says of an answer beside its text: figures on the way, and the whole of it at the end."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.messages import Said, ToolResult
from agent_cli.kernel.usage import ModelCard, Usage
from agent_cli.kernel.values import Plain

FinishReason: TypeAlias = Literal[
    "stop", "tool-calls", "length", "refusal", "safety", "context", "pause", "other"
]


class UsageSoFar(Plain, frozen=True):
    """Figures of the running request, cumulative: a later one replaces an earlier one."""

    usage: Usage


class SpentBeside(Plain, frozen=True):
    """What a program that was asked spent on requests of its own, which are no step of the turn."""

    card: ModelCard
    usage: Usage


class Finished(Plain, frozen=True):
    """Always last. A stream that ends without it was cut.

    `answered` are results that calls of it have already, where they were made: nothing of those runs here.
    """

    parts: tuple[Said, ...]
    usage: Usage
    model: str
    finish_reason: FinishReason = "stop"
    native_reason: str = ""
    response_id: str = ""
    answered: tuple[ToolResult, ...] = ()

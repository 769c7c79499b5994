"""What another program may say to a session, one JSON object: a line of `--input-format stream-json`, or over HTTP.

`type` says what it is, the other fields are those of the command. Fields that are not known are refused, so that a
misspelling is no silence. New types and fields may come within a version; none goes away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from agent_cli.kernel import commands as do
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Text
from agent_cli.kernel.rewinding import Rewind
from agent_cli.kernel.values import Plain


class Unreadable(AgentError):
    """The line is no order; the message says what would be one."""

    kind = "input"


class Message(Plain, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="message"):
    """A message of the operator. While a turn runs, "steer" comes before its next step, "after" begins the next turn."""

    text: str
    when: Literal["steer", "after", "now"] = "steer"


class AnswerOrder(do.Answer, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="answer"):
    """Decides the approval of that `call_id`, or answers a question of the model with `edit`."""


class InterruptOrder(
    do.Interrupt, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="interrupt"
):
    """Stops the running turn."""


class WithdrawOrder(do.Withdraw, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="withdraw"):
    """Takes back a message that waits, by the seq of its entry."""


class StopAgentOrder(
    do.StopAgent, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="stop-agent"
):
    """Stops one agent that works in the background."""


class ModeOrder(do.SetMode, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="mode"):
    """Another permission mode."""


class ModelOrder(do.SetModel, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="model"):
    """Another model, by a name that `--model` takes."""


class EffortOrder(do.SetEffort, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="effort"):
    """How much the model thinks; "" as it does by itself."""


class ResetOrder(do.Reset, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="reset"):
    """Clears a halt; `added_usd` raises the ceiling of the session."""


class CompactOrder(do.Compact, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="compact"):
    """Reduces the conversation, between turns."""


class CheckpointOrder(
    do.Checkpoint, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="checkpoint"
):
    """The task is done: a record takes the place of what was said."""


class ReplanOrder(do.Replan, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="replan"):
    """Revokes the plan in force."""


class RewindOrder(Rewind, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="rewind"):
    """Back to before the operator's message at entry `to`, between turns."""


class RuleOrder(do.AddRule, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="rule"):
    """A permission rule as config has it; `keep` writes it there, too."""


class End(Plain, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="end"):
    """Nothing more comes; the same as the end of stdin."""


Order: TypeAlias = (
    Message
    | AnswerOrder
    | InterruptOrder
    | WithdrawOrder
    | StopAgentOrder
    | ModeOrder
    | ModelOrder
    | EffortOrder
    | ResetOrder
    | CompactOrder
    | CheckpointOrder
    | ReplanOrder
    | RewindOrder
    | RuleOrder
    | End
)

KINDS: dict[type[do.Command], str] = {
    kind.__base__: str(kind.__struct_config__.tag)
    for kind in get_args(Order)
    if issubclass(kind, get_args(do.Command))
}
"""How each command is called as an order."""


def written(command: do.Command) -> dict[str, Any]:
    """The order that `read` makes that command of; a message is told by `Message`, which has only text."""
    return {"type": KINDS[type(command)], **msgspec.to_builtins(command)}


TYPES = tuple(str(kind.__struct_config__.tag) for kind in get_args(Order))


def read(line: bytes) -> do.Command | None:
    """None for `end`. Raises Unreadable."""
    try:
        order = msgspec.json.decode(line, type=Order)
    except msgspec.ValidationError as problem:
        raise Unreadable(_explained(str(problem))) from None
    except msgspec.DecodeError as problem:
        raise Unreadable(f"the line is no JSON object: {problem}") from None
    match order:
        case End():
            return None
        case Message(text, when):
            if not text.strip():
                raise Unreadable("a message needs a text that is not empty")
            return do.Say((Text(text),), when)
        case command:
            return command


def _explained(problem: str) -> str:
    near = "; ".join(_hints(problem))
    return f"the line is no order: {problem}{f'; {near}' if near else ''}"


def _hints(problem: str) -> Iterator[str]:
    if "$.type" in problem or "`type`" in problem:
        yield f"type is one of {', '.join(TYPES)}"

"""What a front end may ask of a session."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from agent_cli.kernel.messages import Block, Effort
from agent_cli.kernel.rewinding import Rewind
from agent_cli.kernel.values import Plain

Mode: TypeAlias = Literal["ask", "acceptEdits", "allow", "plan", "yolo"]
MODES: tuple[Mode, ...] = ("ask", "acceptEdits", "allow", "plan", "yolo")

Verdict: TypeAlias = Literal["allow", "deny"]
"""What a rule says of the calls that it matches."""

GrantScope: TypeAlias = Literal["once", "call", "tool", "always"]
"""once; this exact call for the session; this tool for the session; written to the project's config."""


CheckpointMode: TypeAlias = Literal["model", "operator", "off"]
"""Who may say that a task is done: the model too; the operator and the heuristic; nobody."""


class Say(Plain, frozen=True):
    """A message of the operator.

    While a turn runs, "steer" is delivered before its next model request, "after" starts the next turn. "now"
    never waits: it begins a turn at once, behind what waits already, or is refused.
    `model` and the rules of `allow` count for the turn that it begins; a message that waits goes without them.
    """

    content: tuple[Block, ...]
    when: Literal["steer", "after", "now"] = "steer"
    model: str = ""
    allow: tuple[str, ...] = ()


class Wanted(Plain, frozen=True):
    """A call that an operator's own command makes."""

    tool: str
    arguments: dict[str, Any]


class Withdraw(Plain, frozen=True):
    """Takes back a message that waits. `queued` is the seq of its entry; one that went out already stays."""

    queued: int


class Answer(Plain, frozen=True):
    """Decides one approval. `message` of a denial is told to the model.

    `edit` is what runs instead of what was asked for, where the request says that it is `editable`.
    """

    call_id: str
    allowed: bool
    scope: GrantScope = "once"
    message: str = ""
    edit: str = ""


class Interrupt(Plain, frozen=True):
    """Stops the running turn, and the agents that work in the background; without any of them it does nothing."""


class StopAgent(Plain, frozen=True):
    """Stops one agent that works in the background; `agent` is what it is called, such as "reviewer-2"."""

    agent: str


class SetMode(Plain, frozen=True):
    mode: Mode


class SetModel(Plain, frozen=True):
    """`name` as `--model` takes it. An unknown one leaves the session as it is and says so."""

    name: str


class SetEffort(Plain, frozen=True):
    """How much the model thinks before it answers, "" as much as it does by itself. What the model does not offer is refused with a note."""

    effort: Effort | Literal[""]


class Reset(Plain, frozen=True):
    """Clears a halt of the session. `added_usd` raises the session's cost ceiling.

    Refused where the session would be halted again at once: a note says how much is the least to add.
    """

    guardrail: Literal["watchdog", "cost_ceiling", "all"]
    added_usd: float = 0.0


class Replan(Plain, frozen=True):
    """Takes the plan out of force. `reason` is told to the model."""

    reason: str = ""


class Compact(Plain, frozen=True):
    """Reduces the conversation now, between turns; `focus` is what the summary is to dwell on."""

    focus: str = ""


class Checkpoint(Plain, frozen=True):
    """The task is done: a record takes the place of what was said, between turns; `note` says what was done."""

    note: str = ""


class AddRule(Plain, frozen=True):
    """A permission rule as config has it, for the session; `keep` writes it to the project's config, too."""

    verdict: Verdict
    rule: str
    keep: bool = False


Command: TypeAlias = (
    Say
    | Withdraw
    | Answer
    | Interrupt
    | StopAgent
    | SetMode
    | SetModel
    | SetEffort
    | Reset
    | Compact
    | Checkpoint
    | Replan
    | Rewind
    | AddRule
)

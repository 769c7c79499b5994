"""What a session is made of; `compose` fills it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import msgspec

from agent_cli.context.bounds import DEFAULT_BYTES
from agent_cli.context.budget import Compaction
from agent_cli.context.system import Instructions
from agent_cli.engine.staff import Staff
from agent_cli.engine.tuning import Tuning
from agent_cli.guardrails.breaker import Breakers
from agent_cli.guardrails.checks.armed import Armed
from agent_cli.guardrails.gate import Gate
from agent_cli.guardrails.kill_switch import Switches, none_on
from agent_cli.guardrails.ledger import Children
from agent_cli.guardrails.scales import Scales
from agent_cli.hooks.port import Hooks
from agent_cli.kernel.commands import CheckpointMode, Mode, Verdict
from agent_cli.kernel.events import OperatorNote, SessionStarted
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.messages import Effort
from agent_cli.kernel.serving import Served
from agent_cli.kernel.usage import ModelCard
from agent_cli.kernel.watching import WatchdogMode
from agent_cli.ports import (
    Checkpointer,
    Clock,
    Compactor,
    Facts,
    Folds,
    Log,
    Models,
    OpenModel,
    Proposal,
    Ruling,
    Signal,
    Snapshots,
    TaskHeuristic,
    Tool,
)


class Settings(msgspec.Struct, frozen=True):
    """How requests are made. `attempts` counts the first one; delays are seconds.

    `result_bytes` are bounds of single tools' results, by name; for the others `max_result_bytes` holds.
    `tunings` are what the operator set for single tools, by name.
    """

    effort: Effort | None = None
    temperature: float | None = None
    max_output: int | None = None
    run_status: bool = True
    concurrency: int = 4
    max_result_bytes: int = DEFAULT_BYTES
    result_bytes: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    tunings: Mapping[str, Tuning] = msgspec.field(default_factory=dict[str, Tuning])
    attempts: int = 3
    first_delay: float = 0.5
    longest_delay: float = 60.0


def _nothing() -> None:
    """There is nothing to close."""


def _no_tools(card: ModelCard, names: frozenset[str]) -> Mapping[str, Tool]:
    """There are none for subtasks."""
    return {}


def _no_name(card: ModelCard) -> str:
    """No model is known."""
    return ""


def _no_instructions(path: str) -> tuple[Instructions, ...]:
    """There are none below the project."""
    return ()


def _no_walks(rule: str) -> None:
    """No tool walks a tree."""


class Joining(Served, Protocol):
    """Tools that come and go while a session runs. Raises nothing."""

    async def settle(self, waits: Callable[[str, float], None], /) -> None:
        """Before the first request of a session: until what is still on its way is there, but not for long.

        `waits` is told what for, and for how many seconds at most.
        """
        ...

    def tools(self, window: int | None, /) -> Mapping[str, Tool]:
        """For a model with that window. The same object as long as they are the same, in an order that stays."""
        ...

    def news(self) -> list[str]:
        """What the operator should know, each line once."""
        ...

    async def close(self) -> None: ...


class Plans(NamedTuple):
    """Where plans are kept. `keep` takes session and plan and gives the path, `revoke` the new path of a path.

    Both raise ToolError.
    """

    keep: Callable[[str, str], str]
    revoke: Callable[[str], str]


class Parts(msgspec.Struct, frozen=True):
    """`tools` and `system` depend on the model: a small one gets few tools and a short prompt.

    `started` is recorded as the first fact of a new session. `judge` is the permission gate.
    `summary_prompt` asks a model for a hand-over of the conversation, `record_prompt` for the record of a task that is
    done; `checkpoint` is who may say that it is, `heuristic` one that says it by itself.
    `suggest` gives the rule that a grant of that scope adds; `remember` writes a rule to the project's config.
    `nested` gives the instructions of the directories between the project and a path; it raises AgentError.
    `close` has tools that walk a tree pass by what a deny rule of this session closes.
    `fallbacks` are models to go on with when the service of the first is down; `breakers` are shared by the process.
    `armed` says which content and action checks there are.
    `notices` are told once, when the session is first talked to, as warnings; `openings` before them, as information,
    and `details` before those, for who asks for them.
    `task_class` names the kind of work, "" for none.
    `spill` keeps a result that is too long for the conversation (call id, text) and gives its path, "" where it cannot.
    `own_tools` names the tools of the engine's own that the model gets.
    `inner_tools` are tools of those names for a subtask, which has read nothing yet; `small` names the model that
    subtasks of a session with that model run on, "" where none is known; `fresh_signals` watch one subtask.
    `children` are the ceilings of subtasks. `compactor` and `checkpointer` write what a model is asked for otherwise.
    `snapshots` keeps what files held before they were changed; None where nothing is kept.
    `folds` keeps what a long log came to, None where it is always read from its beginning.
    `switches` are the kill switches that are on now.
    `guards` names the version, profile and mode of what watches it.
    `gate` is the account that the run shares with others, None for none. `hooks` are the operator's, None for none.
    `joining` are tools of servers, which come later or change; None where there are none.
    `scales` weigh what commands write and delete; None where no bound is set for that.
    `staff` are the agents that there are, None for none; `widest` is the mode beyond which this run never goes.
    `on_close` is called once, after the log was let go.
    """

    log: Log
    clock: Clock
    models: Models
    model: OpenModel
    started: SessionStarted
    system: Callable[[SessionStarted, ModelCard], tuple[str, ...]]
    tools: Callable[[ModelCard], Mapping[str, Tool]]
    judge: Callable[[Proposal, Facts], Ruling]
    suggest: Callable[[Proposal, str], str]
    remember: Callable[[str, Verdict], None]
    facts: Facts
    limits: Limits = msgspec.field(default_factory=Limits)
    compaction: Compaction = msgspec.field(default_factory=Compaction)
    summary_prompt: str = ""
    record_prompt: str = ""
    checkpoint: CheckpointMode = "model"
    heuristic: TaskHeuristic | None = None
    signals: tuple[Signal, ...] = ()
    watchdog: WatchdogMode = "warn"
    settings: Settings = msgspec.field(default_factory=Settings)
    breakers: Breakers = msgspec.field(default_factory=Breakers)
    armed: Armed = msgspec.field(default_factory=Armed)
    fallbacks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    spill: Callable[[str, str], str] | None = None
    own_tools: frozenset[str] = frozenset()
    plans: Plans | None = None
    folds: Folds | None = None
    snapshots: Snapshots | None = None
    close: Callable[[str], None] = _no_walks
    nested: Callable[[str], tuple[Instructions, ...]] = _no_instructions
    task_class: str = ""
    openings: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    inner_tools: Callable[[ModelCard, frozenset[str]], Mapping[str, Tool]] = _no_tools
    small: Callable[[ModelCard], str] = _no_name
    fresh_signals: Callable[[], tuple[Signal, ...]] = tuple
    children: Children = msgspec.field(default_factory=Children)
    compactor: Compactor | None = None
    checkpointer: Checkpointer | None = None
    switches: Switches = none_on
    gate: Gate | None = None
    staff: Staff | None = None
    widest: Mode = "yolo"
    guards: str = ""
    joining: Joining | None = None
    scales: Scales | None = None
    hooks: Hooks | None = None
    on_close: Callable[[], None] = _nothing

    def told(self, warnings: tuple[str, ...]) -> list[OperatorNote]:
        """What is told when the session is first talked to; `warnings` are what its log adds."""
        return [
            *(OperatorNote(line, "detail") for line in self.details),
            *(OperatorNote(line) for line in self.openings),
            *(OperatorNote(line, "warning") for line in (*self.notices, *warnings)),
        ]

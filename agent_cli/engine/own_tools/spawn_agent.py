"""The tools by which a model hands tasks to agents, looks after them, and stops them."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from agent_cli.engine import agents, calls
from agent_cli.engine.agents import Order
from agent_cli.engine.core import Core
from agent_cli.engine.own_tools.words import spec_of
from agent_cli.kernel.agents import SPAWN as NAME
from agent_cli.kernel.errors import AgentError, StoreError, ToolError
from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import Text, ToolSpec
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches

CHECK = "check_agent"
STOP = "stop_agent"
LONGEST_WAIT = 300
STARTED = (
    "{name} works in the background. Its report comes by itself; check_agent and stop_agent take id '{name}'."
)
BY_MODEL = "it was stopped with stop_agent"


class Task(Arguments, frozen=True):
    agent: Annotated[str, for_people("which one")]
    task: Annotated[str, for_people("what it is to do, with all that it needs to know")]
    background: Annotated[bool, for_people("return at once, let it work on")] = False
    max_cost_usd: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        for_people("dollars it may spend, where a tenth of what is left is too little"),
    ] = None


class Which(Arguments, frozen=True):
    id: Annotated[str, for_people("the agent, as spawn_agent named it; empty for all")] = ""
    wait: Annotated[float, Meta(ge=0, le=LONGEST_WAIT), for_people("seconds to wait for its end")] = 0


class Id(Arguments, frozen=True):
    id: Annotated[str, for_people("the agent, as spawn_agent named it")]


class SpawnAgent:
    """Asks for nothing by itself: each call that the agent makes is judged like one of the session."""

    arguments = Task
    read_only = False
    bounded = False

    def __init__(self, core: Core) -> None:
        self.spec = _listing(spec_of(NAME, Task), core)
        self._core = core

    @staticmethod
    def touches(args: Task, /) -> Touches:
        return Touches("none", f"{args.agent}: {args.task}")

    def preview(self, args: Task, /) -> None:
        """Nothing to see: the task says it."""

    async def run(self, args: Task, say: Say, /) -> Output:
        if not args.task.strip():
            raise ToolError("`task` is empty: say what the agent is to do, and what to report.")
        agent = agents.chosen(self._core, args.agent)
        order = Order(agent, args.task, calls.running.get(), args.background, args.max_cost_usd)
        try:
            if args.background:
                return Output((Text(STARTED.format(name=await agents.beside(self._core, order))),))
            result = await agents.inline(self._core, order)
        except (StoreError, ToolError):
            raise
        except AgentError as problem:
            raise ToolError(f"No agent was started: {problem}") from None
        return Output((Text(result.digest),), ok=result.how == "finished")


def _listing(spec: ToolSpec, core: Core) -> ToolSpec:
    """With the names and descriptions of those that there are; nothing else of them is in a prompt."""
    staff = core.parts.staff
    lines = [f"- {each.name}: {each.description}" for each in staff.offered] if staff else []
    return msgspec.structs.replace(spec, description="\n".join((spec.description, *lines)))


class CheckAgent:
    arguments = Which
    read_only = True
    bounded = False

    def __init__(self, core: Core) -> None:
        self.spec = spec_of(CHECK, Which)
        self._core = core

    @staticmethod
    def touches(args: Which, /) -> Touches:
        return Touches("none", args.id or "all")

    def preview(self, args: Which, /) -> None:
        """Nothing to see."""

    async def run(self, args: Which, say: Say, /) -> Output:
        core = self._core
        if not args.id.strip():
            return Output((Text(agents.listed(core)),))
        row = agents.found(core, args.id)
        await agents.wait(core, row, args.wait)
        told = [agents.standing(core, row)]
        if not row.outcome and row.said:
            told.append(f"It said last:\n{row.said}")
        elif row.branch in core.state.reports:
            told.append("Its report comes next.")
        elif row.digest:
            told.append(f"Its report was:\n{row.digest}")
        return Output((Text("\n".join(told)),))


class StopAgent:
    arguments = Id
    read_only = False
    bounded = False

    def __init__(self, core: Core) -> None:
        self.spec = spec_of(STOP, Id)
        self._core = core

    @staticmethod
    def touches(args: Id, /) -> Touches:
        return Touches("none", args.id)

    def preview(self, args: Id, /) -> None:
        """Nothing to see."""

    async def run(self, args: Id, say: Say, /) -> Output:
        row = agents.found(self._core, args.id)
        await agents.stop(self._core, row, BY_MODEL)
        return Output((Text(f"{agents.standing(self._core, row)}. What it had comes next."),))

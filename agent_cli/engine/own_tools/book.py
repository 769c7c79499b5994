"""The engine's own tools, in the order in which a model sees them, behind those of the world."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

from agent_cli.context.boundaries import MARK
from agent_cli.engine.core import Core
from agent_cli.engine.own_tools import ask_user, record_plan, wait_and_verify
from agent_cli.engine.own_tools.agentic import WRAPPERS, Agentic
from agent_cli.engine.own_tools.ask_user import AskUser
from agent_cli.engine.own_tools.mark_task_done import MarkTaskDone
from agent_cli.engine.own_tools.record_plan import RecordPlan
from agent_cli.engine.own_tools.spawn_agent import CHECK, STOP, CheckAgent, SpawnAgent, StopAgent
from agent_cli.engine.own_tools.wait_and_verify import WaitAndVerify
from agent_cli.kernel.agents import SPAWN
from agent_cli.ports import Tool, Touches

MAKERS: dict[str, Callable[[Core], Tool]] = {
    record_plan.NAME: RecordPlan,
    **{name: partial(Agentic, wrapper) for name, wrapper in WRAPPERS.items()},
    MARK: MarkTaskDone,
    wait_and_verify.NAME: WaitAndVerify,
    ask_user.NAME: AskUser,
    SPAWN: SpawnAgent,
    CHECK: CheckAgent,
    STOP: StopAgent,
}
NAMES = tuple(MAKERS)


class Shape(NamedTuple):
    """What the gate knows of a tool that is not made yet."""

    arguments: type[Any]
    read_only: bool
    touches: Callable[[Any], Touches]


SHAPES: dict[str, Shape] = {
    **{
        name: Shape(wrapper.arguments, Agentic.read_only, Agentic.touches)
        for name, wrapper in WRAPPERS.items()
    },
    **{
        name: Shape(tool.arguments, tool.read_only, tool.touches)
        for name, tool in (
            (record_plan.NAME, RecordPlan),
            (MARK, MarkTaskDone),
            (wait_and_verify.NAME, WaitAndVerify),
            (ask_user.NAME, AskUser),
            (SPAWN, SpawnAgent),
            (CHECK, CheckAgent),
            (STOP, StopAgent),
        )
    },
}
AGENTS = (SPAWN, CHECK, STOP)
"""Those that there are only with agents."""
NEEDS: dict[str, tuple[str, ...]] = {name: wrapper.inner for name, wrapper in WRAPPERS.items()}
"""Tools of the world without which one of ours has nothing to work with."""


def own_tools(core: Core, world: Collection[str]) -> dict[str, Tool]:
    """Those that `Parts.own_tools` names and that `world` has the tools for.

    A model of the compact profile gets none but what a gate waits for.
    """
    wanted = core.parts.own_tools - (frozenset() if core.parts.staff else frozenset(AGENTS))
    if core.model.card.profile == "compact":
        wanted &= {record_plan.NAME} if core.parts.facts.needs_plan else set[str]()
    return {
        name: make(core)
        for name, make in MAKERS.items()
        if name in wanted and all(needed in world for needed in NEEDS.get(name, ()))
    }

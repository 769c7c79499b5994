"""The agents of a session: ours, the operator's and the project's, and the places where they work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_cli.compose.agent_files import are_offered, directories
from agent_cli.compose.custom_tools import definitions, own_of
from agent_cli.compose.instructions import standing
from agent_cli.compose.options import RunOptions
from agent_cli.compose.sandbox import sandbox_of
from agent_cli.compose.scope import close, root_of
from agent_cli.compose.skills import TOOL, listing, skills_of
from agent_cli.compose.toolset import reach_of, withheld, world_tools
from agent_cli.config import places
from agent_cli.config.agents import Found, definition, read_agents
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.context import skills
from agent_cli.context.system import Instructions, system_prompt
from agent_cli.engine.own_tools import book
from agent_cli.engine.parts import Parts
from agent_cli.engine.staff import Staff, Station
from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.events import SessionStarted
from agent_cli.kernel.usage import ModelCard
from agent_cli.permissions import rules
from agent_cli.ports import Facts, Tool
from agent_cli.tools.builtin import NAMES
from agent_cli.tools.workspace import Workspace

if TYPE_CHECKING:
    from agent_cli.compose.worktrees import Place, Worktree

HERE = Path(__file__).parent / "agents"
OURS = ("general", "explore")
NO_TREE = "it works in a git worktree of its own (isolation: worktree in {source}), and {why}"
NO_TOOLS = "none of its tools is there in this session: {names}"


class Room(NamedTuple):
    """What places of agents are made from. `space` is the session's."""

    options: RunOptions
    loaded: Loaded
    space: Workspace
    facts: Facts
    session: str


def found_agents(loaded: Loaded) -> Found:
    """Ours, and over them the user's, the project's if it may bring any, and the recipe's."""
    known = (*NAMES, *book.NAMES, TOOL, *definitions(loaded))
    ours = {name: definition(_words(name), "", known) for name in OURS}
    read = read_agents(directories(loaded), known, skills.ours)
    return Found(ours | read.agents, read.problems)


def staffed(made: Parts, room: Room, found: Found) -> Parts:
    """With the agents, where there are to be any, and with what the operator is warned of."""
    if not are_offered(room.loaded):
        return made
    told = told_of_agents(found, room.loaded.settings)
    return replace(made, staff=_staff(room, found), notices=(*made.notices, *told))


def _staff(room: Room, found: Found) -> Staff:
    settings = room.loaded.settings.agents
    instructions = standing(room.loaded, root_of(room.options, room.loaded))
    return Staff(
        offered=tuple(found.agents[name] for name in sorted(found.agents)),
        system=partial(_system, instructions, _listing(room.loaded)),
        station=partial(_station, room),
        after=partial(_after, room),
        most=settings.max_parallel,
        depth=settings.max_depth,
    )


def told_of_agents(found: Found, settings: Settings) -> tuple[str, ...]:
    """What the operator is warned of: files that cannot be used, and budgets that are cut down."""
    child = settings.budgets.child
    return (*found.problems, *(line for each in found.agents.values() for line in _cut_down(each, child)))


def roots_of(found: Found, options: RunOptions, loaded: Loaded, session: str) -> tuple[tuple[str, str], ...]:
    """Where the session may look, too: what its agents leave behind in places of their own."""
    apart = any(each.isolation == "worktree" for each in found.agents.values())
    directory = places.worktrees_dir(session, options.environ)
    return ((str(directory.resolve()), "r"),) if apart and are_offered(loaded) else ()


def _cut_down(agent: AgentDefinition, child: object) -> Iterable[str]:
    for key in ("max_steps", "max_duration", "max_tokens", "max_cost_usd"):
        asked, most = getattr(agent, key), getattr(child, key)
        if asked and most and asked > most:
            yield f"{agent.source}: {key} {asked:g} is more than budgets.child.{key} allows: it gets {most:g}"


def _listing(loaded: Loaded) -> str:
    return "" if TOOL in withheld(loaded) else listing(skills_of(loaded))


def _system(
    instructions: tuple[Instructions, ...],
    skills: str,
    agent: AgentDefinition,
    started: SessionStarted,
    card: ModelCard,
) -> str:
    """An agent that may use skills is told of them."""
    told = instructions if agent.project and card.profile != "compact" else ()
    may = card.profile != "compact" and (not agent.tools or TOOL in agent.tools)
    words = f"{agent.instructions}\n\n{_words('every')}"
    return "\n\n".join(system_prompt(words, started, told, skills=skills if may else ""))


async def _station(room: Room, agent: AgentDefinition, name: str) -> Station:
    """Raises AgentError where it cannot work as it is to."""
    if agent.isolation == "worktree":
        tree = await _worktree(room, agent, name)
        facts = _facts_in(room.facts, tree.root)
        sandbox = sandbox_of(room.loaded.settings, facts)
        deny = (*room.loaded.settings.permissions.deny, *agent.deny)
        closed = rules.closed(deny, ((tree.root, "rw"),))
        space = Workspace(Path(tree.root), Path(tree.cwd), closed=closed, sandbox=sandbox)
        return Station(
            partial(_tools, room, space, agent), partial(tree.leave, space.shells.close), tree.cwd, tree.root
        )
    space = room.space.apart()
    for rule in agent.deny:
        close(space, rule)

    async def leave() -> str:
        space.shells.close()
        return ""

    return Station(partial(_tools, room, space, agent), leave)


def _after(room: Room, name: str) -> str:
    from agent_cli.compose.worktrees import after

    return after(_trees(room), name)


def _trees(room: Room) -> Place:
    from agent_cli.compose.worktrees import Place

    directory = places.worktrees_dir(room.session, room.options.environ)
    return Place(root_of(room.options, room.loaded), room.space.cwd, directory, room.session)


async def _worktree(room: Room, agent: AgentDefinition, name: str) -> Worktree:
    from agent_cli.compose.worktrees import Failed, open_worktree

    try:
        return await open_worktree(_trees(room), name)
    except Failed as problem:
        raise AgentError(NO_TREE.format(source=agent.source or agent.name, why=problem)) from None


def _facts_in(facts: Facts, root: str) -> Facts:
    elsewhere = tuple((path, "r") for path, access in facts.roots if "r" in access)
    return replace(facts, roots=((root, "rw"), *elsewhere))


def _tools(
    room: Room, space: Workspace, agent: AgentDefinition, card: ModelCard, base: Mapping[str, Tool]
) -> Mapping[str, Tool]:
    """Of those that the session offers, each made anew where it knows a place or keeps what was read."""
    settings = room.loaded.settings
    made = world_tools(
        space, withheld(room.loaded), None, card, reach=reach_of(settings), own=own_of(room.loaded)
    )
    tools = {name: made.get(name, tool) for name, tool in base.items()}
    if agent.tools and not any(name in tools for name in agent.tools):
        raise AgentError(NO_TOOLS.format(names=", ".join(agent.tools)))
    return tools


def _words(name: str) -> str:
    return (HERE / f"{name}.md").read_text("utf-8")

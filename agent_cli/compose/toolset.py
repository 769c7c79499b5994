"""Which tools the model gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_cli.compose.agent_files import are_offered
from agent_cli.compose.custom_tools import Own, definitions, with_own
from agent_cli.compose.skills import TOOL
from agent_cli.compose.subtasks import withheld_wrappers
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.context.boundaries import MARK
from agent_cli.engine.own_tools import ask_user, book, record_plan
from agent_cli.guardrails.breaker import Breakers
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.usage import ModelCard
from agent_cli.permissions import hosts
from agent_cli.ports import Tool
from agent_cli.tools.addresses import Reach
from agent_cli.tools.builtin import NAMES, builtin, check_names
from agent_cli.tools.results import Results
from agent_cli.tools.workspace import Workspace

MCP = "mcp__"
"""What names of tools of MCP servers begin with."""


def check(loaded: Loaded) -> None:
    """Raises ConfigError for a name that no tool has. Those of MCP servers are not known before they answer."""
    tools = loaded.settings.tools
    own = (name for name in tools.each if not name.startswith(MCP))
    also = (*book.NAMES, TOOL, *definitions(loaded))
    named = (name for name in (*tools.disable, *tools.enable) if not name.startswith(MCP))
    check_names((*named, *own, *dropped(loaded)), also)
    for name in tools.enable:
        if name in tools.disable:
            raise ConfigError(
                f"'{name}' is both enabled and disabled. --enable-tools gives back what a task class leaves out, not "
                "what tools.disable or --disable-tools turned off: take it out of one of them."
            )


def dropped(loaded: Loaded, enabled: Iterable[str] = ()) -> frozenset[str]:
    """Tools that the task class leaves out and nothing gave back: neither the settings nor `enabled`."""
    given_back = {*loaded.settings.tools.enable, *enabled}
    return frozenset(loaded.task.drops if loaded.task else ()) - given_back


def withheld(loaded: Loaded, enabled: Iterable[str] = ()) -> frozenset[str]:
    """Every tool that the model does not get: turned off, or dropped by the task class."""
    settings = loaded.settings
    if not settings.tools.builtin:
        return frozenset((*NAMES, *book.NAMES, TOOL))
    marks = settings.checkpoint.mode == "model"
    return (
        frozenset(settings.tools.disable)
        | dropped(loaded, enabled)
        | withheld_wrappers(settings)
        | frozenset(() if are_offered(loaded) else book.AGENTS)
        | frozenset(() if marks else (MARK,))
        | frozenset(() if settings.tools.ask != "off" else (ask_user.NAME,))
    )


def own_names(withheld: frozenset[str], *, plans: bool) -> frozenset[str]:
    """The engine's own tools that the model gets; without `plans` it records none."""
    names = frozenset(book.NAMES) - withheld
    return names if plans else names - {record_plan.NAME}


def reach_of(settings: Settings) -> Reach:
    """What the host rules say of every hop of a fetch. A host that is named exactly may lie in a private network."""
    scope = settings.url_scope

    def allowed(host: str) -> bool:
        named = not scope.allow or bool(hosts.allowed(host, scope.allow))
        return named and not hosts.denied(host, scope.deny)

    def private(host: str) -> bool:
        return host in scope.allow

    return Reach(allowed, private, WEB)


WEB = Breakers()
"""Of the process: a host that is down for one session is down for all of them."""
NO_TOOLS = Own()


def world_tools(
    workspace: Workspace,
    withheld: frozenset[str],
    results: Results | None,
    card: ModelCard,
    *,
    reach: Reach,
    own: Own = NO_TOOLS,
) -> Mapping[str, Tool]:
    made = builtin(
        workspace,
        images=card.images,
        documents=card.documents,
        profile=card.profile,
        disabled=withheld,
        results=results,
        reach=reach,
    )
    without = (
        withheld | {TOOL} if card.profile == "compact" else withheld
    )  # a small model is told of no skills
    return with_own({tool.spec.name: tool for tool in made}, workspace, own, without)


def inner_tools(
    workspace: Workspace, card: ModelCard, names: frozenset[str], *, reach: Reach
) -> Mapping[str, Tool]:
    """Those of a subtask: what it reads does not count as read by the session, nor the other way round."""
    return world_tools(workspace.apart(), frozenset(NAMES) - names, None, card, reach=reach)

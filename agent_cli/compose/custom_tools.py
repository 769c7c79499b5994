"""Tools of the operator's own and of the project, and what is built from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agent_cli.compose.skills import TOOL, kept, skills_of
from agent_cli.config.files import text_of
from agent_cli.config.sources import Loaded
from agent_cli.engine.own_tools import book
from agent_cli.kernel.errors import ConfigError
from agent_cli.ports import Tool
from agent_cli.tools import diagnosed
from agent_cli.tools.bash import Bash
from agent_cli.tools.builtin import NAMES
from agent_cli.tools.custom import CustomTool, Definition, read
from agent_cli.tools.diagnosed import EDITING, Diagnosed
from agent_cli.tools.workspace import Workspace

if TYPE_CHECKING:
    from agent_cli.tools.skill import Kept

DIRECTORY = "tools"
"""Beside the config. What a project brings counts only where it is trusted."""


def definitions(loaded: Loaded) -> dict[str, Definition]:
    """By name; the project's win over the user's. Raises ConfigError naming file and line."""
    found: dict[str, Definition] = {}
    for scope in loaded.scopes(DIRECTORY):
        found |= _in(scope)
    return found


def _in(directory: Path) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    try:
        files = sorted(directory.glob("*.toml"))
    except OSError as problem:
        raise ConfigError(f"{directory} cannot be read: {problem.strerror}.") from None
    for file in files:
        made = read(text_of(file), str(file))
        if made.name in (*NAMES, *book.NAMES, TOOL):
            raise ConfigError(f"{file}: '{made.name}' is a tool of this program. Give yours another name.")
        if made.name in found:
            raise ConfigError(f"{file}: another file of this directory names its tool '{made.name}', too.")
        found[made.name] = made
    return found


class Own(NamedTuple):
    """Tools that files describe, the commands that check what was edited, by glob or suffix, and skills by name."""

    made: tuple[Definition, ...] = ()
    checks: Mapping[str, str] = {}
    skills: Mapping[str, Kept] = {}


def own_of(loaded: Loaded) -> Own:
    """Raises ConfigError for a file or a command that cannot be used."""
    diagnosed.check(loaded.settings.tools.diagnostics)
    skills = kept(skills_of(loaded))
    return Own(tuple(definitions(loaded).values()), loaded.settings.tools.diagnostics, skills)


def with_own(
    tools: Mapping[str, Tool], workspace: Workspace, own: Own, withheld: frozenset[str]
) -> Mapping[str, Tool]:
    """The tools, those of the operator behind them, and editing ones that are checked where that is set."""
    made = [one for one in own.made if one.name not in withheld]
    if own.skills and TOOL not in withheld:
        tools = {
            **tools,
            TOOL: _skill_tool(frozenset((*tools, *(one.name for one in made))), workspace, own, withheld),
        }
    if not made and not own.checks:
        return tools
    bash = Bash(workspace, shells=workspace.shells)
    checked = {
        name: Diagnosed(tool, bash, workspace, own.checks) if own.checks and name in EDITING else tool
        for name, tool in tools.items()
    }
    return {**checked, **{one.name: CustomTool(one, bash) for one in made}}


def _skill_tool(world: frozenset[str], workspace: Workspace, own: Own, withheld: frozenset[str]) -> Tool:
    from agent_cli.tools.skill import SkillTool

    return SkillTool(workspace, own.skills, world | (frozenset(book.NAMES) - withheld))

"""Gives the model the instructions of one skill, when it needs them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

from agent_cli.context.skills import missing, used
from agent_cli.kernel.errors import ConfigError, ToolError
from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches
from agent_cli.tools.prose import spec_of
from agent_cli.tools.workspace import Workspace

NAME = "skill"
SERVED = "mcp__"
"""Tools of servers come and go; whether one is there is seen in the list of tools."""
MOST = 50
"""Files beside a skill that are named."""


class Kept(NamedTuple):
    """A skill on disk. `body` reads it, and raises ConfigError; `needs` are the tools that it names."""

    path: str
    needs: tuple[str, ...]
    body: Callable[[], str]


class SkillArguments(Arguments, frozen=True):
    name: Annotated[str, for_people("as it stands in the list")]


class SkillTool:
    arguments = SkillArguments
    read_only = True
    bounded = False

    def __init__(self, workspace: Workspace, kept: Mapping[str, Kept], tools: frozenset[str]) -> None:
        self.spec = spec_of(NAME, SkillArguments, tools)
        self._workspace = workspace
        self._kept = kept
        self._tools = tools

    def touches(self, args: SkillArguments, /) -> Touches:
        found = self._kept.get(args.name)
        return Touches("read", args.name) if found is None else self._workspace.touches("read", found.path)

    def preview(self, args: SkillArguments, /) -> None:
        """Nothing to see: the question names the file."""

    async def run(self, args: SkillArguments, say: Say, /) -> Output:
        found = self._kept.get(args.name)
        if found is None:
            near = difflib.get_close_matches(args.name, self._kept, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise ToolError(
                f"There is no skill '{args.name}'.{hint} The skills are {', '.join(sorted(self._kept))}."
            )
        try:
            body = found.body()
        except ConfigError as problem:
            raise ToolError(str(problem)) from None
        directory = Path(found.path).parent
        told = used(
            args.name,
            self._workspace.shown(str(directory)),
            body,
            beside(directory),
            [each for each in missing(found.needs, self._tools) if not each.startswith(SERVED)],
        )
        return Output((Text(told),), Shown(f"{args.name}, {len(body):,} characters"))


def beside(directory: Path) -> list[str]:
    """The files in the directory of a skill and right below, without itself and hidden ones."""
    try:
        found = sorted(
            str(each.relative_to(directory))
            for pattern in ("*", "*/*")
            for each in directory.glob(pattern)
            if each.is_file() and each.name[0] != "." and each.name != "SKILL.md"
        )
    except OSError:
        return []
    return found if len(found) <= MOST else [*found[:MOST], f"and {len(found) - MOST} more"]

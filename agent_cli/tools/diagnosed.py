"""What checkers say of the files that a tool changed, in the result of that tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from agent_cli.around import Around
from agent_cli.kernel.errors import ConfigError, ToolError
from agent_cli.kernel.events import Output, as_text
from agent_cli.kernel.messages import Text
from agent_cli.permissions import globs
from agent_cli.ports import Say, Tool
from agent_cli.tools import template
from agent_cli.tools.workspace import Workspace

EDITING = frozenset({"write_file", "edit_file", "apply_patch"})
SECONDS = 30
"""Of one checker on one file."""
MOST_FILES = 5
LARGEST = 4_000
"""Characters of what one checker says."""
PATH = "path"
"""What stands for the file in a command."""


class Diagnosed(Around):
    """Checks what the tool changed. `commands` are shell lines by glob or suffix; the operator gave them."""

    def __init__(self, tool: Tool, bash: Tool, workspace: Workspace, commands: Mapping[str, str]) -> None:
        super().__init__(tool)
        self._bash = bash
        self._workspace = workspace
        self._commands = commands

    async def run(self, args: Any, say: Say, /) -> Output:
        output = await self._tool.run(args, say)
        if not output.ok or not output.changed:
            return output
        said: list[str] = []
        for path in _files(output.changed):
            for line in self._lines(path):
                say(f"{line}\n")
                said += [await self._checked(line)]
        told = tuple(Text(text) for text in said if text)
        return msgspec.structs.replace(output, for_model=(*output.for_model, *told)) if told else output

    def _lines(self, path: str) -> Iterable[str]:
        name = self._workspace.shown(path)
        for pattern, command in self._commands.items():
            if matches(pattern, name):
                yield template.filled(command, {PATH: path})

    async def _checked(self, line: str) -> str:
        """What it says; the edit stands whatever comes of it."""
        call = self._bash.arguments(line, SECONDS)
        try:
            output = await self._bash.run(call, _unheard)
        except ToolError as problem:
            return f"Diagnostics could not run: {problem}"
        told = as_text(output)
        if output.ok and told.strip() == "[exit code 0]":
            return ""
        cut = f"\n[{len(told) - LARGEST:,} more characters are not shown]" if len(told) > LARGEST else ""
        return f"Diagnostics ({line}):\n{told[:LARGEST]}{cut}"


def _files(paths: Iterable[str]) -> list[str]:
    """Those that are still there, as far as they are looked at."""
    return [path for path in paths if Path(path).is_file()][:MOST_FILES]


def check(commands: Mapping[str, str]) -> None:
    """Raises ConfigError for a command into which the name of a file cannot be put safely."""
    for pattern, command in commands.items():
        try:
            template.check(command, (PATH,) if f"{{{PATH}}}" in command else ())
        except template.TemplateError as problem:
            raise ConfigError(f"tools.diagnostics, {pattern}: {problem}.") from None


def matches(pattern: str, name: str) -> bool:
    """A suffix like `.py`, a glob of names like `*.py`, or one of paths like `src/**/*.py`."""
    if pattern.startswith(".") and "*" not in pattern and "/" not in pattern:
        return name.endswith(pattern)
    return globs.path(pattern if "/" in pattern else f"**/{pattern}").fullmatch(name) is not None


def _unheard(text: str) -> None:
    """The result holds it."""

"""A hook: a program of the operator's that is run where something happens in a session."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from agent_cli.kernel.values import Plain

HookEvent: TypeAlias = Literal[
    "session-start",
    "prompt-submit",
    "pre-tool",
    "post-tool",
    "pre-compact",
    "permission-request",
    "turn-end",
    "session-end",
    "notification",
]
OF_TOOLS: tuple[HookEvent, ...] = ("pre-tool", "post-tool", "permission-request")
"""Where a tool is concerned, so that a hook may name the tools that it is about."""
VERSION = 1
"""Of what a hook reads on its standard input."""
TIMEOUT = 60.0
"""Seconds."""
LAST = 10.0
"""Seconds that a hook may take at most where the program is about to end."""


class Hook(Plain, frozen=True):
    """Either `command`, a line for the shell, or `argv`. `matcher` is a glob on names of tools, several with `|` between.

    `gate`: where it cannot be asked, the call does not run.
    """

    event: HookEvent
    command: str = ""
    argv: tuple[str, ...] = ()
    matcher: str = "*"
    timeout: float = TIMEOUT
    gate: bool = False
    name: str = ""

    @property
    def called(self) -> str:
        """What people call it: its name, else the program that it runs."""
        if self.name:
            return self.name
        line = self.command or " ".join(self.argv)
        return line if len(line) <= 40 else f"{line[:39]}…"

    def wants(self, event: HookEvent, tool: str = "") -> bool:
        if event != self.event:
            return False
        return not tool or any(fnmatchcase(tool, each.strip()) for each in self.matcher.split("|"))

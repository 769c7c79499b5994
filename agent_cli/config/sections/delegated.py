"""Turns that are handed to a vendor's own program."""

from typing import Annotated, Literal

from agent_cli.config.kinds import Name, Section, says


class Claude(Section, frozen=True):
    command: Annotated[Name, says("The program that `@claude/MODEL` runs: its name, or its path.")] = "claude"
    setting_sources: Annotated[
        tuple[Literal["user", "project", "local"], ...],
        says("Scopes of its own settings that it may load, hooks and plugins included; none without it."),
    ] = ()

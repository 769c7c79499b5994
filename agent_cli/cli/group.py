"""The command group: a free prompt beside commands, options in groups, commands imported when they run."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

from typer.core import TyperGroup
from typer.main import get_command

from agent_cli.cli.options import ALIASES, COMMANDS, GROUPS, OPTION
from agent_cli.cli.values import UsageError
from agent_cli.cli.words import Unreadable, read


class StartGroup(TyperGroup):
    """Called only for a line that `words.read` cannot take: for help, for a command, or to say what is wrong."""

    GENERAL: ClassVar[str] = "General"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.resilient_parsing or _is_command(args):
            return super().parse_args(ctx, args)
        parser = self.make_parser(ctx)
        parser.allow_interspersed_args = True
        given, _, _ = parser.parse_args(list(args))
        for param in self.get_params(ctx):
            if param.name in given and not param.name.startswith(OPTION):
                param.handle_parse_result(ctx, given, [])
        raise UsageError(f"This line cannot be read: {' '.join(args)}. Try 'agent-cli --help'.")

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = COMMANDS.get(ALIASES.get(cmd_name, cmd_name))
        return None if found is None else get_command(importlib.import_module(found[0]).app)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The table's groups, then what Typer adds."""
        records = {param.name: param.get_help_record(ctx) for param in self.get_params(ctx)}
        for title, flags in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([records.pop(OPTION + flag.dest) for flag in flags])
        with formatter.section(self.GENERAL):
            formatter.write_dl([record for record in records.values() if record is not None])
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """As it stands: examples are not to be wrapped."""
        if self.epilog:
            formatter.write(f"\n{self.epilog}\n")


def _is_command(args: list[str]) -> bool:
    try:
        read(args)
    except Unreadable as unreadable:
        return str(unreadable) in COMMANDS or str(unreadable) in ALIASES
    return False

"""What commands share: the options in front of their name, and how they print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from agent_cli.cli.options import FLAGS, OPTION
from agent_cli.cli.start import enter, interpret, run_options
from agent_cli.cli.words import Line

if TYPE_CHECKING:
    from agent_cli.compose import RunOptions
    from agent_cli.config.sources import Loaded

GAP = "  "


def options_of(ctx: typer.Context) -> RunOptions:
    """What stands before the command: `agent-cli --config FILE models`. Raises UsageError."""
    given: dict[str, Any] = ctx.find_root().params
    values = {flag.dest: given[OPTION + flag.dest] for flag in FLAGS if given.get(OPTION + flag.dest)}
    start = interpret(Line(values), terminal=False)
    enter(start)
    return run_options(start)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: frozenset[int] = frozenset()) -> str:
    """Columns as wide as they must be; those in `right` stand flush right. The last one is not padded."""
    lines = [head, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]

    def cell(line: Sequence[str], place: int) -> str:
        return line[place].rjust(widths[place]) if place in right else line[place].ljust(widths[place])

    return "\n".join(GAP.join(cell(line, place) for place in range(len(head))).rstrip() for line in lines)


def as_json(value: Any) -> str:
    """For people and programs: indented JSON."""
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)


def loaded(ctx: typer.Context) -> Loaded:
    """The settings in force, as a run would have them. Raises ConfigError."""
    from agent_cli.compose.session import prepare

    return prepare(options_of(ctx))

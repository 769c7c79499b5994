"""`agent-cli guardrails explain`: which checks there are, and what they say of a text."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from agent_cli.cli.command import as_json, options_of, table
from agent_cli.cli.values import UsageError

Surface = Literal["input", "action", "output"]
SURFACES: tuple[Surface, ...] = ("input", "action", "output")


def explain(
    ctx: typer.Context,
    text: Annotated[
        str | None, typer.Argument(help="A text to try: a result, a shell line, an answer.", metavar="[TEXT]")
    ] = None,
    surface: Annotated[
        str, typer.Option(help="Where the text stands: input, action or output.", metavar="SURFACE")
    ] = "input",
    tool: Annotated[
        str, typer.Option(help="The tool that returns it or that is called.", metavar="TOOL")
    ] = "bash",
    as_object: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Print the checks of contents and actions in their order, or what they find in a text.

    Rules of .agents/guardrails.toml and checks of installed packages are among them; a mistake in one is told, with
    exit 2.
    """
    from agent_cli.compose.checks import listed, tried

    if text is None:
        rows = listed(options_of(ctx))
        if as_object:
            typer.echo(as_json({"checks": [row._asdict() for row in rows]}))
            return
        shown = [(row.surface, row.check, row.what, row.around) for row in rows]
        typer.echo(table(("surface", "check", "what", ""), shown))
        return
    verdicts = tried(options_of(ctx), text, _surface(surface), tool)
    if as_object:
        typer.echo(as_json({"findings": [each._asdict() for each in verdicts]}))
    elif verdicts:
        typer.echo(table(("check", "severity", "finding"), [tuple(each) for each in verdicts]))
    else:
        typer.echo("Nothing is found in it.")


def _surface(named: str) -> Surface:
    found: Surface | None = next((each for each in SURFACES if each == named), None)
    if found is None:
        raise UsageError(f"There is no surface '{named}'; there are input, action and output.")
    return found

"""`agent-cli doctor`: what is needed, whether it is there, and what to do where it is not."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_cli.cli.command import as_json, options_of
from agent_cli.talk import health

app = typer.Typer(
    name="doctor",
    help="Look whether everything that is needed is there; exit 1 where it is not.",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def doctor(
    ctx: typer.Context,
    as_object: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Look whether everything that is needed is there: keys, services, terminal, programs, sandbox, database, config.

    `!` is worth a look, `✗` is needed and missing, and each comes with a remedy. Options before `doctor` count:
    agent-cli -m opus doctor. Exit 1 where something needed is missing.
    """
    from agent_cli.compose.health import examine

    found = examine(options_of(ctx))
    well = all(each.status != "wrong" for each in found)
    if as_object:
        rows = [
            {"what": each.what, "status": each.status, "says": each.says, "remedy": each.remedy}
            for each in found
        ]
        typer.echo(as_json({"ok": well, "conditions": rows}))
    else:
        typer.echo("\n".join(_lines(found)))
    if not well:
        raise typer.Exit(1)


def _lines(found: tuple[health.Condition, ...]) -> list[str]:
    rows = health.rows(found)
    wide = max(len(name) for name, _ in rows)
    lines: list[str] = []
    for name, text in rows:
        first, *more = text.split("\n")
        lines += [f"{name.ljust(wide)}  {first}", *(f"{' ' * wide}  {line}" for line in more)]
    return [*lines, "", health.verdict(found)]

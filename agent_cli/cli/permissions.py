"""`agent-cli permissions`: what the gate would say of a call, and rules that can never match."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_cli.cli.command import as_json, options_of

app = typer.Typer(
    name="permissions",
    help="Say what the permission gate would decide and why; find rules that can never match.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.command(context_settings={"ignore_unknown_options": True})
def explain(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="Name of a tool, like bash or edit_file.", metavar="TOOL")],
    args: Annotated[
        list[str],
        typer.Argument(
            help="Its arguments as JSON, or the text of the first: a command, a path, an address.",
            metavar="ARGS",
        ),
    ],
    as_object: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    unattended: Annotated[
        bool, typer.Option("--unattended", help="As in a run that nobody can answer.")
    ] = False,
) -> None:
    """Say what would become of a call, and which rule decides. Nothing runs. Exit 1 where it is refused."""
    from agent_cli.compose.explain import explain as find

    options = options_of(ctx)
    options.attended = not unattended
    found = find(options, tool, " ".join(args))
    ruling = found.ruling
    if as_object:
        typer.echo(as_json({
            "tool": tool, "subject": found.subject, "mode": found.facts.mode, "verdict": ruling.verdict,
            "rule": ruling.rule, "reason": ruling.reason, "remedy": ruling.remedy, "paths": found.paths, "hosts": found.hosts,
            "notes": found.notes,
        }))  # fmt: skip
    else:
        lines = [f"{ruling.verdict}  ({ruling.rule}; mode {found.facts.mode})"]
        lines += [f"why: {ruling.reason}"] if ruling.reason else []
        lines += [f"way: {ruling.remedy}"] if ruling.remedy else []
        lines += [f"note: {ruling.warning}"] if ruling.warning else []
        lines += [f"note: {note}" for note in found.notes]
        lines += [f"touches: {', '.join((*found.paths, *found.hosts))}"] if found.paths or found.hosts else []
        typer.echo("\n".join(lines))
    if ruling.verdict == "deny":
        raise typer.Exit(1)


@app.command()
def lint(ctx: typer.Context) -> None:
    """List the rules of config that can never match, with the reason. Exit 1 where there are any."""
    from agent_cli.compose.explain import left_out
    from agent_cli.compose.explain import lint as find

    options = options_of(ctx)
    dead = list(find(options))
    for note in left_out(options):
        typer.echo(f"note: {note}", err=True)
    if not dead:
        typer.echo("Every rule can match.")
        return
    typer.echo("\n".join(f"{found.list} {found.rule}: {found.why}" for found in dead))
    raise typer.Exit(1)

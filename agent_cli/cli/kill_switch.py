"""`agent-cli kill-switch`: stops runs that are under way, and those that would begin, from outside."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.headless.plain import one_line

if TYPE_CHECKING:
    from agent_cli.kernel.switching import KillSwitch

app = typer.Typer(
    name="kill-switch",
    help="Stop runs at once, from outside: all, a project's, a kind of work, a mode, a tool, a session. Kept on record.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Scope = Annotated[
    str,
    typer.Option(
        "--scope",
        help="all, project (this one) or project:PATH, task:NAME, mode:MODE, tool:NAME, session:ID.",
        metavar="SCOPE",
    ),
]
By = Annotated[str, typer.Option("--by", help="Who does it. Default: the user of the system.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON.")]


@app.command()
def on(
    ctx: typer.Context,
    scope: Scope,
    why: Annotated[str, typer.Option("--why", help="The reason; those whom it stops read it.")],
    by: By = "",
    as_object: AsJson = False,
) -> None:
    """Stop what is under way within a second, and let nothing of it begin until it is turned off.

    Model requests and shell commands are cancelled, a file that is being written is finished. Sessions with somebody
    there keep what is said to them until then. A tool alone is closed to the agent, which goes on without it.
    """
    from agent_cli.compose.kill_switch import turn_on

    turned = turn_on(options_of(ctx), loaded(ctx), scope, why, by)
    if turned.note:
        typer.echo(turned.note, err=True)
    _tell(turned.switch, "is on already" if turned.before else "is on", as_object=as_object)


@app.command()
def off(
    ctx: typer.Context,
    scope: Scope,
    why: Annotated[str, typer.Option("--why", help="Why it can go on.")] = "",
    by: By = "",
    as_object: AsJson = False,
) -> None:
    """Take a kill switch back. Who, when and why stay on record. Exit 1 where none of that scope is on."""
    from agent_cli.compose.kill_switch import turn_off

    _tell(turn_off(options_of(ctx), loaded(ctx), scope, why, by).switch, "is off", as_object=as_object)


@app.command("list")
def show(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Those that were taken back, too.")] = False,
    as_object: AsJson = False,
) -> None:
    """Print the kill switches that are on: scope, who, when, why."""
    from agent_cli.compose.kill_switch import listed

    found = listed(options_of(ctx), loaded(ctx), every=every)
    if as_object:
        typer.echo(as_json([_plain(switch) for switch in found]))
        return
    rows = [
        (switch.scope, _moment(switch.at), switch.by, one_line(switch.why), _restored(switch))
        for switch in found
    ]
    head = ("scope", "since", "by", "why", "taken back")
    typer.echo(table(head, rows) if rows else "No kill switch is on.")


def _tell(switch: KillSwitch, what: str, *, as_object: bool) -> None:
    if as_object:
        typer.echo(as_json(_plain(switch)))
        return
    told = f"{switch.scope} {what}, by {switch.by} since {_moment(switch.at)}: {one_line(switch.why)}"
    typer.echo(f"{told}. Taken back {_restored(switch)}." if switch.restored else told)


def _plain(switch: KillSwitch) -> dict[str, object]:
    return {
        "scope": switch.scope,
        "on": not switch.restored,
        "why": switch.why,
        "by": switch.by,
        "at": switch.at,
        "restored": switch.restored or None,
        "restored_by": switch.restored_by,
        "restored_why": switch.restored_why,
    }


def _restored(switch: KillSwitch) -> str:
    if not switch.restored:
        return ""
    why = f": {one_line(switch.restored_why)}" if switch.restored_why else ""
    return f"{_moment(switch.restored)} by {switch.restored_by}{why}"


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))

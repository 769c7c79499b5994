"""`agent-cli attach`: the screen, or lines, over a session of an attach server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_cli.cli.command import options_of
from agent_cli.cli.values import UsageError

app = typer.Typer(
    name="attach",
    help="The terminal UI over a session of a server (`agent-cli serve`).",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.command()
def attach(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(help="Of the server, like http://127.0.0.1:7777.", metavar="URL")],
    session: Annotated[
        str, typer.Argument(help="The id of the session. Default: the latest.", metavar="SESSION")
    ] = "",
    new: Annotated[bool, typer.Option("--new", help="Begin a new session there.")] = False,
    lines: Annotated[bool, typer.Option("--no-tui", help="Line by line instead of on a screen.")] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            help="The file that holds your token. Default: AGENT_CLI_ATTACH_TOKEN.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """See a session of a server as it goes on, say something, decide its approvals, clear its halts.

    Leaving ends nothing: the session goes on there. What needs the other machine's files (pictures, /diff, other
    sessions) is not there.
    """
    from agent_cli.compose.attaching import Target, run

    if new and session:
        raise UsageError(f"--new and a session ({session}) do not go together: --new begins one.")
    address = url if "://" in url else f"http://{url}"
    if not address.startswith(("http://", "https://")):
        raise UsageError(f"'{url}' is no address of a server; it is like http://127.0.0.1:7777.")
    raise typer.Exit(run(options_of(ctx), Target(address, session, new, token_file), lines=lines))

"""`agent-cli serve`: sessions over HTTP, and the tokens of those who may ask."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from agent_cli.cli.command import as_json, options_of, table
from agent_cli.cli.start import Start, run_options
from agent_cli.cli.values import DEFAULT, UsageError, address

app = typer.Typer(
    name="serve",
    help="Serve sessions over HTTP, for programs and other machines; needs the extra `serve`.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
token = typer.Typer(
    name="token",
    help="Tokens of those who may ask the server: make, list, take away.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(token, name="token")

Listen = Annotated[
    str, typer.Option("--listen", help="Where to listen; port 0 takes any that is free.", metavar="HOST:PORT")
]
Certificate = Annotated[
    Path | None,
    typer.Option("--tls-cert", help="Certificate with its chain (PEM), for https.", metavar="FILE"),
]
Key = Annotated[
    Path | None, typer.Option("--tls-key", help="The key of the certificate (PEM).", metavar="FILE")
]
Directories = Annotated[
    list[Path] | None,
    typer.Option(
        "--directory",
        help="Serve sessions of DIR, too, and below. Repeatable. Default: of this one.",
        metavar="DIR",
    ),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="Another name that requests may call the server by.", metavar="NAME"),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-origin",
        help="Pages of another site that may ask, like https://example.org.",
        metavar="ORIGIN",
    ),
]


@app.callback(invoke_without_command=True)
def serve(
    ctx: typer.Context,
    listen: Listen = DEFAULT,
    tls_cert: Certificate = None,
    tls_key: Key = None,
    directory: Directories = None,
    allow_host: Hosts = None,
    allow_origin: Origins = None,
) -> None:
    """Serve sessions over HTTP until it is told to stop. Prints the address on stdout when it listens.

    Loopback by default; elsewhere it takes a token. Ceilings and the watchdog are those of unattended runs.
    """
    if ctx.invoked_subcommand is not None:
        return
    from agent_cli.compose.serving import Order, run

    options = options_of(ctx)
    if options.ephemeral or options.resume is not None or options.resume_latest or options.fork:
        raise UsageError(
            "`agent-cli serve` keeps sessions and begins or opens them when it is asked to: leave --ephemeral, --resume, "
            "--continue and --fork out. One session alone: agent-cli --no-repl --attach-listen HOST:PORT --resume ID"
        )
    host, port = address(listen, "--listen")
    order = Order(
        host,
        port,
        tuple(allow_host or ()),
        tuple(allow_origin or ()),
        tls_cert,
        tls_key,
        tuple(directory or ()),
    )
    raise typer.Exit(run(options, order))


def serve_one(start: Start) -> int:
    """`--no-repl --attach-listen`: one session, its prompt said at once, until a signal comes. Returns the exit code."""
    from agent_cli.compose.serving import Order, run

    host, port = address(start.attach_listen or "", "--attach-listen")
    said = (start.prompt or "").strip()
    return run(run_options(start), Order(host, port, own=True, message="" if said == "-" else said))


@token.command("add")
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is called, for `list` and `rm`.", metavar="NAME")],
    scope: Annotated[
        str,
        typer.Option(
            "--scope",
            help="read; write: say, decide, reset; admin: also what lasts.",
            metavar="read|write|admin",
        ),
    ] = "write",
    session: Annotated[
        list[str] | None,
        typer.Option("--session", help="Only for the session of that id. Repeatable.", metavar="ID"),
    ] = None,
) -> None:
    """Make a token and print it, once: only its hash is kept."""
    from agent_cli.compose.attach_tokens import tokens_of
    from agent_cli.server.tokens import SCOPES, Scope

    wanted: Scope | None = next((each for each in SCOPES if each == scope), None)
    if wanted is None:
        raise UsageError(f"--scope is one of {', '.join(SCOPES)}, and not '{scope}'.")
    typer.echo(tokens_of(options_of(ctx)).add(name, wanted, tuple(session or ()), time.time()))


@token.command("list")
def show(
    ctx: typer.Context, as_object: Annotated[bool, typer.Option("--json", help="JSON.")] = False
) -> None:
    """Print names, scopes and sessions of the tokens; the tokens themselves are nowhere kept."""
    from agent_cli.compose.attach_tokens import tokens_of

    found = tokens_of(options_of(ctx)).all()
    if as_object:
        rows = [
            {"name": each.name, "scope": each.scope, "sessions": list(each.sessions), "created": each.created}
            for each in found
        ]
        typer.echo(as_json(rows))
        return
    lines = [
        (each.name, each.scope, ", ".join(each.sessions) or "all", time.strftime("%Y-%m-%d %H:%M", time.localtime(each.created)))
        for each in found
    ]  # fmt: skip
    typer.echo(table(("name", "scope", "sessions", "made"), lines) if lines else "There is no token.")


@token.command("rm")
def remove(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="As `list` names it.", metavar="NAME")],
) -> None:
    """Take a token away. A running server lets nobody in with it from then on."""
    from agent_cli.compose.attach_tokens import tokens_of

    tokens_of(options_of(ctx)).remove(name)

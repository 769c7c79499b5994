"""`agent-cli mcp`: servers of tools: list them, add one, remove one, try one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_cli.cli.command import as_json, options_of, table
from agent_cli.cli.values import UsageError
from agent_cli.compose import served
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import prepare
from agent_cli.config.sources import Loaded
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.records import whole

app = typer.Typer(
    name="mcp",
    help="Servers of tools (MCP): list, add, remove, try them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
AsJson = Annotated[bool, typer.Option("--json", help="JSON.")]
Name = Annotated[str, typer.Argument(help="Its name.", metavar="NAME")]
Mine = Annotated[
    bool, typer.Option("--user", help="In your own mcp.json, for all projects, instead of the project's.")
]
IN_PLAIN = "note: a secret stands in {file}. Put it into a variable, and ${{env:NAME}} into the file.\n"
UNTRUSTED = "note: this project is not trusted, so its {files} does not count. Start once with --trust.\n"
TEST_SECONDS = 60.0


@app.command("list")
def list_servers(ctx: typer.Context, as_list: AsJson = False) -> None:
    """List the servers that a session here would start, and the file that names each. Nothing is started."""
    loaded = prepare(options := options_of(ctx))
    found = served.described(options, loaded)
    _left_out(loaded)
    if as_list:
        typer.echo(as_json([each._asdict() for each in found]))
    elif found:
        rows = [(each.name, each.where, each.origin, each.state) for each in found]
        typer.echo(table(("server", "reached", "named in", ""), rows))
    else:
        none = "No server counts here yet." if _waiting(loaded) else "There are no servers."
        typer.echo(f"{none} Add one: agent-cli mcp add NAME COMMAND…")


@app.command(context_settings={"ignore_unknown_options": True})
def add(
    ctx: typer.Context,
    name: Name,
    words: Annotated[
        list[str],
        typer.Argument(
            help="Its address, or its command line; behind `--` where that has options.",
            metavar="URL|COMMAND…",
        ),
    ],
    env: Annotated[
        list[str] | None,
        typer.Option("--env", help="A variable for it, as NAME=VALUE; repeatable.", metavar="NAME=VALUE"),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            "--header", help="A header of each request, as 'Name: value'; repeatable.", metavar="HEADER"
        ),
    ] = None,
    user: Mine = False,
) -> None:
    """Add a server to the project's .agents/mcp.json, which is made where there is none. The rest of the file stays.

    Secrets are written as ${env:NAME}, in single quotes so that the shell leaves them.
    """  # fmt: skip
    from agent_cli.config.servers_write import add_server

    options = options_of(ctx)
    entry = _entry(words, env or [], header or [])
    place = served.directory(options, "user" if user else "project")
    served.changed(options, place, lambda: add_server(place, name, entry))
    file = place / "mcp.json"
    waits = [] if user else _waiting_in(options)
    how = f"agent-cli --trust mcp test {name}" if waits else f"agent-cli mcp test {name}"
    typer.echo(f"{name} is in {file} now. Try it: {how}")
    if waits:
        typer.echo(UNTRUSTED.format(files=" and ".join(waits)), err=True, nl=False)
    if any("${env:" not in value for value in entry.get("headers", {}).values()):
        typer.echo(IN_PLAIN.format(file=file), err=True, nl=False)


@app.command()
def remove(ctx: typer.Context, name: Name, user: Mine = False) -> None:
    """Remove a server from the file that names it. The rest of the file stays."""
    from agent_cli.config.servers_write import remove_server

    options = options_of(ctx)
    place = served.directory(options, "user" if user else "project")
    file = place / "mcp.json"
    if not file.is_file():
        raise ConfigError(f"There is no {file}. `agent-cli mcp list` says which file names a server.")
    served.changed(options, place, lambda: remove_server(file, name))
    typer.echo(f"{name} is no longer in {file}.")


@app.command("test")
def try_them(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(help="Which ones; without any, all.", metavar="NAME…")
    ] = None,
    as_list: AsJson = False,
) -> None:
    """Start servers, print what they offer, and end them. Exit 1 where one is not there."""
    options = options_of(ctx)
    loaded = prepare(options)
    known = [each.name for each in served.described(options, loaded)]
    wanted = names or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ConfigError(_unknown(unknown[0], known, _waiting(loaded)))
    found = served.probe(options, loaded, wanted, TEST_SECONDS)
    _left_out(loaded)
    if as_list:
        typer.echo(as_json([whole(each) for each in found]))
    else:
        from agent_cli.talk.commands.servers import details

        for each in found:
            typer.echo(f"{each.name}\n{table(('', ''), details(each)).strip()}\n")
    if any(each.state != "ready" for each in found) or (not names and _waiting(loaded)):
        raise typer.Exit(1)


@app.command()
def login(ctx: typer.Context, name: Name) -> None:
    """Log in to a server with an address, in the browser. What it gives is kept for you alone, and renewed by itself."""
    options = options_of(ctx)
    loaded = prepare(options)
    found = served.log_in(options, loaded, name, _go)
    if found is None:
        raise ConfigError(
            _unknown(name, [each.name for each in served.described(options, loaded)], _waiting(loaded))
        )
    if found.state != "ready":
        typer.echo(f"{name}: {found.problem or 'nobody logged in'}", err=True)
        raise typer.Exit(1)
    typer.echo(f"Logged in: {name} offers {len(found.tools)} tools.")


@app.command()
def logout(ctx: typer.Context, name: Name) -> None:
    """Forget what a login to a server gave. The server itself is not told."""
    from agent_cli.compose.servers import logins_of

    files = logins_of(options_of(ctx).environ, name)
    if not files:
        raise ConfigError(f"Nobody is logged in to '{name}'.")
    for file in files:
        file.unlink()
    typer.echo(f"Logged out of {name}.")


def _go(url: str) -> None:
    import webbrowser

    typer.echo(f"Open this address to log in:\n{url}", err=True)
    webbrowser.open(url)


def _entry(words: list[str], env: list[str], header: list[str]) -> dict[str, Any]:
    """Raises UsageError."""
    variables = dict(_parted(one, "=", "--env") for one in env)
    headers = dict(_parted(one, ":", "--header") for one in header)
    if re.match(r"https?://", words[0]):
        if len(words) > 1 or variables:
            raise UsageError("A server with an address takes neither further words nor --env.")
        return {"url": words[0], **({"headers": headers} if headers else {})}
    if headers:
        raise UsageError("--header is for a server with an address.")
    entry: dict[str, Any] = {"command": words[0]}
    if words[1:]:
        entry["args"] = words[1:]
    return {**entry, "env": variables} if variables else entry


def _parted(word: str, mark: str, option: str) -> tuple[str, str]:
    name, found, value = word.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{option} takes NAME{mark}VALUE, and got: {word}")
    return name.strip(), value.strip()


def _waiting(loaded: Loaded) -> list[str]:
    """The project's files of servers that do not count before it is trusted."""
    return [name for name in loaded.left_out if Path(name).name in ("mcp.json", ".mcp.json")]


def _waiting_in(options: RunOptions) -> list[str]:
    """Of a project whose config is wrong nothing is known; other commands say that."""
    try:
        return _waiting(prepare(options))
    except ConfigError:
        return []


def _left_out(loaded: Loaded) -> None:
    """What waits for trust is not started, and not hidden either."""
    if files := _waiting(loaded):
        typer.echo(UNTRUSTED.format(files=" and ".join(files)), err=True, nl=False)


def _unknown(name: str, known: list[str], waiting: list[str]) -> str:
    if waiting:
        return (
            f"No server '{name}' counts here: this project is not trusted, so its {' and '.join(waiting)} does not count. "
            "Look at what it brings, then say --trust: agent-cli --trust mcp …"
        )
    return f"There is no server '{name}'; there are {', '.join(known) or 'none'}."

"""`agent-cli sessions`: what is recorded."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from agent_cli.cli import completion, session_context, session_files, session_keeping
from agent_cli.cli.command import as_json, table
from agent_cli.cli.session_store import store_of
from agent_cli.headless.exports.story import STILL_OPEN
from agent_cli.headless.narration import Level, Narrator
from agent_cli.headless.plain import one_line, plain
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import calls_of, text_of
from agent_cli.kernel.records import fact_of, line_of, whole

app = typer.Typer(
    name="sessions",
    help="List recorded sessions, show, search, export, remove them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

HEAD = ("session", "last event", "turns", "model", "directory", "title")
AsJson = Annotated[bool, typer.Option("--json", help="JSON.")]


@app.command("list")
def list_sessions(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(help="At most as many, the latest first.", min=1)] = 20,
    here: Annotated[bool, typer.Option("--here", help="Only those of this directory.")] = False,
    as_list: AsJson = False,
) -> None:
    """List recorded sessions, the latest first."""
    with store_of(ctx, read_only=True) as store:
        infos = store.sessions(None if here else limit)
    elsewhere = 0
    if here:
        cwd = str(Path.cwd())
        elsewhere = sum(info.cwd != cwd for info in infos)
        infos = [info for info in infos if info.cwd == cwd][:limit]
    if as_list:
        typer.echo(as_json([whole(info) for info in infos]))
        return
    rows = [
        (
            info.id,
            time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated)),
            str(info.turns),
            info.model,
            one_line(info.cwd),
            one_line(info.name or info.title),
        )
        for info in infos
    ]
    typer.echo(table(HEAD, rows, frozenset({2})) if rows else _none(elsewhere))


@app.command()
def show(
    ctx: typer.Context,
    session: Annotated[
        str,
        typer.Argument(
            help="Its id, the beginning of it, or its name.", metavar="ID", autocompletion=completion.sessions
        ),
    ],
    as_lines: AsJson = False,
) -> None:
    """Print a session as it went. With --json: its events, one a line, as of stream-json."""
    with store_of(ctx, read_only=True) as store:
        narrator = Narrator(store.find(session).id)
        for entry in store.entries(store.find(session).id):
            if not as_lines and not entry.branch and isinstance(entry.event, ev.TERMINAL):
                _echo(*narrator.unsettled())
            _echo(line_of(fact_of(entry)).rstrip() if as_lines else _shown(entry, narrator))
        _echo(*narrator.unsettled(STILL_OPEN))


app.command("context")(session_context.context)
app.command("search")(session_keeping.search)
app.command("export")(session_files.export)
app.command("import")(session_files.import_session)
app.command("rename")(session_keeping.rename)
app.command("rm")(session_keeping.remove)
app.command("prune")(session_keeping.prune)
app.command("rebuild")(session_keeping.rebuild)


def _echo(*lines: str) -> None:
    for line in filter(None, lines):
        typer.echo(line)


def _none(elsewhere: int) -> str:
    """`elsewhere` counts the sessions of other directories that were left out."""
    if not elsewhere:
        return "No session is recorded."
    others = "1 is" if elsewhere == 1 else f"{elsewhere} are"
    return f"No session of this directory is recorded; {others} elsewhere: `agent-cli sessions list`."


def _shown(entry: ev.Entry, narrator: Narrator) -> str:
    match entry.event:
        case _ if entry.branch:
            told = narrator.tell(entry)
            return told[1] if told and told[0] <= Level.NORMAL else ""
        case ev.OperatorMessage(content):
            return f"\n> {plain(text_of(content))}\n"
        case ev.AssistantMessage(parts) if not calls_of(parts):
            return f"\n{plain(text_of(parts))}"
        case ev.TurnError(message=message):
            return f"\nended without an answer: {one_line(message, 2_000)}"
        case _:
            told = narrator.tell(entry)
            return told[1] if told and told[0] <= Level.NORMAL else ""

"""`agent-cli sessions`: what is recorded."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.headless.jsonl import fact_of, line_of, whole
from agent_cli.headless.narration import Level, Narrator
from agent_cli.headless.plain import one_line, plain
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import calls_of, text_of

if TYPE_CHECKING:
    from agent_cli.store.sqlite import SqliteStore

app = typer.Typer(
    name="sessions",
    help="List recorded sessions, show one.",
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
    with _store(ctx) as store:
        infos = store.sessions(None if here else limit)
    if here:
        cwd = str(Path.cwd())
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
    typer.echo(table(HEAD, rows, frozenset({2})) if rows else "No session is recorded.")


@app.command()
def show(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(help="Its id, the beginning of it, or its name.", metavar="ID")],
    as_lines: AsJson = False,
) -> None:
    """Print a session as it went. With --json: its events, one a line, as of stream-json."""
    with _store(ctx) as store:
        narrator = Narrator(store.find(session).id)
        for entry in store.entries(store.find(session).id):
            line = line_of(fact_of(entry)).rstrip() if as_lines else _shown(entry, narrator)
            if line:
                typer.echo(line)


@contextlib.contextmanager
def _store(ctx: typer.Context) -> Generator[SqliteStore]:
    from agent_cli.compose import session_db
    from agent_cli.store.sqlite import open_store

    store = open_store(session_db(options_of(ctx), loaded(ctx).settings))
    try:
        yield store
    finally:
        store.close()


def _shown(entry: ev.Entry, narrator: Narrator) -> str:
    match entry.event:
        case ev.OperatorMessage(content):
            return f"\n> {plain(text_of(content))}\n"
        case ev.AssistantMessage(parts) if not calls_of(parts):
            return f"\n{plain(text_of(parts))}"
        case ev.TurnError(message=message):
            return f"\nended without an answer: {one_line(message, 2_000)}"
        case _:
            told = narrator.tell(entry)
            return told[1] if told and told[0] <= Level.NORMAL else ""

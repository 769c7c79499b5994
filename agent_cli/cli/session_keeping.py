"""`agent-cli sessions rename|rm|prune|search|rebuild`: keeping what is recorded in order."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Annotated

import typer

from agent_cli.cli import completion
from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.cli.progress import counted, tracked
from agent_cli.cli.session_store import store_of
from agent_cli.headless.plain import one_line
from agent_cli.kernel.errors import AgentError, SessionLocked
from agent_cli.kernel.records import whole

if TYPE_CHECKING:
    from agent_cli.store.info import SessionInfo
    from agent_cli.store.sqlite import SqliteStore

DAY = 86_400.0
Session = Annotated[
    str,
    typer.Argument(
        help="Its id, the beginning of it, or its name.", metavar="ID", autocompletion=completion.sessions
    ),
]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")]


def rename(
    ctx: typer.Context,
    session: Session,
    name: Annotated[str, typer.Argument(help='How --resume is to know it; "" takes the name away.')],
) -> None:
    """Give a session a name."""
    with store_of(ctx) as store:
        store.rename(store.find(session).id, name)


def remove(
    ctx: typer.Context,
    sessions: Annotated[
        list[str], typer.Argument(help="Ids or names.", metavar="ID...", autocompletion=completion.sessions)
    ],
    yes: Yes = False,
) -> None:
    """Take sessions away for good."""
    with store_of(ctx) as store:
        found = [store.find(session) for session in sessions]
        _ask(found, yes=yes)
        with counted("removing", found, len(found)) as each:
            for info in each:
                _remove(ctx, store, info)
    typer.echo(f"{len(found)} removed.")


def prune(
    ctx: typer.Context,
    days: Annotated[float, typer.Option("--older-than", help="Days since their last event.", min=0)] = 90,
    keep: Annotated[int, typer.Option(help="The latest so many stay in any case.", min=0)] = 20,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which.")] = False,
    yes: Yes = False,
) -> None:
    """Take away sessions that nobody went on with for long. Those with a name stay, and so do open ones."""
    with store_of(ctx, read_only=dry_run) as store:
        before = time.time() - days * DAY
        old = [info for info in store.sessions()[keep:] if info.updated < before and not info.name]
        if dry_run or not old:
            typer.echo("\n".join(_line(info) for info in old) if old else "Nothing is that old.")
            return
        _ask(old, yes=yes)
        with counted("removing", old, len(old)) as each:
            removed = sum(_pruned(ctx, store, info) for info in each)
    typer.echo(f"{removed} removed.")


def _pruned(ctx: typer.Context, store: SqliteStore, info: SessionInfo) -> bool:
    try:
        _remove(ctx, store, info)
    except SessionLocked:
        typer.echo(f"{info.id} is open and stays.", err=True)
        return False
    return True


def search(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(help="All of them have to be there; beginnings are enough.")],
    limit: Annotated[int, typer.Option(help="At most as many places.", min=1)] = 20,
    as_list: Annotated[bool, typer.Option("--json", help="JSON.")] = False,
) -> None:
    """Find what was said, by the operator or the model, in any session."""
    with store_of(ctx, read_only=True) as store:
        found = store.search(" ".join(words), limit)
    if as_list:
        typer.echo(as_json([whole(each) for each in found]))
        return
    rows = [(f"{each.session.id}@{each.seq}", one_line(each.around)) for each in found]
    typer.echo(table(("session@entry", "said"), rows) if rows else "Nothing was found.")


def rebuild(ctx: typer.Context) -> None:
    """Make the list of sessions and the index for searching anew from what is recorded, where they were damaged."""
    from agent_cli.compose import session_db
    from agent_cli.store.rebuild import make_anew

    with tracked("indexing") as track:
        count = make_anew(session_db(options_of(ctx), loaded(ctx).settings), track=track)
    typer.echo(f"{count} sessions are listed anew.")


def _line(info: SessionInfo) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(info.updated))
    return f"{info.id}  {day}  {one_line(info.name or info.title, 80)}"


def _ask(infos: list[SessionInfo], *, yes: bool) -> None:
    """Raises AgentError where nobody can be asked."""
    if yes:
        return
    import sys

    for info in infos:
        typer.echo(_line(info))
    if not sys.stdin.isatty():
        raise AgentError("Nothing was removed: there is nobody to ask. Say --yes to remove without asking.")
    if not typer.confirm(f"Remove {len(infos)} for good?"):
        raise AgentError("Nothing was removed.")


def _remove(ctx: typer.Context, store: SqliteStore, info: SessionInfo) -> None:
    """With what was kept beside it."""
    from agent_cli.config import places

    environ = options_of(ctx).environ
    store.remove(info.id)
    for place in (places.results_dir, places.runs_dir, places.snapshots_dir, places.folds_dir):
        shutil.rmtree(place(info.id, environ), ignore_errors=True)

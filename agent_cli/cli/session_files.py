"""`agent-cli sessions export|import`: a session as a file, and back."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_cli.cli import completion
from agent_cli.cli.progress import counted
from agent_cli.cli.session_store import store_of
from agent_cli.headless.exports import file as written
from agent_cli.headless.exports import jsonl, pages
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.events import Entry

if TYPE_CHECKING:
    from agent_cli.store.info import SessionInfo
    from agent_cli.store.sqlite import SqliteStore

Session = Annotated[
    str,
    typer.Argument(
        help="Its id, the beginning of it, or its name.", metavar="ID", autocompletion=completion.sessions
    ),
]


class Format(StrEnum):
    """Of an exported session."""

    jsonl = "jsonl"
    markdown = "markdown"
    html = "html"


def export(
    ctx: typer.Context,
    session: Session,
    form: Annotated[Format, typer.Option("--format", help="jsonl can be imported again.")] = Format.jsonl,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file; without one it goes to stdout.")
    ] = None,
) -> None:
    """Write a session as JSONL, Markdown or HTML."""
    with store_of(ctx, read_only=True) as store:
        info = store.find(session)
        entries = store.entries(info.id)
        if output is None:
            for piece in _pieces(form, info, entries):
                sys.stdout.write(piece)
            return
        with counted("writing", entries, info.events) as each:
            written.write(output, _pieces(form, info, each))
    typer.echo(f"{info.id} → {output}", err=True)


def _pieces(form: Format, info: SessionInfo, entries: Iterable[Entry]) -> Iterator[str]:
    facts = {
        "session": info.id,
        "directory": info.cwd,
        "model": info.model,
        "from": pages.day(info.created),
        "to": pages.day(info.updated),
    }
    return written.pieces(form.value, info.name or info.title or info.id, facts, entries)


def import_session(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="What `sessions export --format jsonl` wrote; - for stdin.")],
) -> None:
    """Take in a session that was exported as JSONL."""
    try:
        text = (sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()).decode("utf-8", "replace")
    except OSError as problem:
        raise AgentError(f"{file} cannot be read: {problem.strerror}. Name another file.") from None
    entries = list(jsonl.entries(text.splitlines()))
    if not entries:
        raise AgentError(f"{file} holds no fact of a session. Nothing was imported.")
    with store_of(ctx) as store:
        typer.echo(_imported(store, entries))


def _imported(store: SqliteStore, entries: list[Entry]) -> str:
    """Under its own id, or a new one where there is such a session already. Returns the id."""
    import msgspec

    from agent_cli.compose import new_session_id
    from agent_cli.guardrails.secrets.scrub import scrubbed

    wanted = entries[0].session
    known = any(info.id == wanted for info in store.sessions())
    session = new_session_id() if known else wanted
    log = store.create(session, "")
    try:
        with counted("reading", enumerate(entries, 1), len(entries)) as each:
            for seq, entry in each:
                clean, _ = scrubbed(entry.event)
                log.append(msgspec.structs.replace(entry, session=session, seq=seq, event=clean))
    except BaseException:
        log.close()
        store.remove(session)
        raise
    return session

"""The session database that a command works on."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import TYPE_CHECKING

import typer

from agent_cli.cli.command import loaded, options_of

if TYPE_CHECKING:
    from agent_cli.store.sqlite import SqliteStore


@contextlib.contextmanager
def store_of(ctx: typer.Context, *, read_only: bool = False) -> Generator[SqliteStore]:
    """Closed at the end. `read_only` also works where nothing can be written. Raises StoreError."""
    from agent_cli.compose import session_db
    from agent_cli.store.sqlite import open_store

    store = open_store(session_db(options_of(ctx), loaded(ctx).settings), read_only=read_only)
    try:
        yield store
    finally:
        store.close()

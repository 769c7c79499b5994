"""`agent-cli sessions context`: what fills the window of a recorded session, and how it was reduced."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
import typer

from agent_cli.cli.command import as_json, table
from agent_cli.cli.session_store import store_of
from agent_cli.context.breakdown import Share, shares
from agent_cli.context.view import View
from agent_cli.engine.state import ModelRow, State
from agent_cli.headless.plain import one_line
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard


def context(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(help="Its id, the beginning of it, or its name.", metavar="ID")],
    as_object: Annotated[bool, typer.Option("--json", help="JSON.")] = False,
) -> None:
    """Print what fills the context of a session, and how it was reduced."""
    with store_of(ctx, read_only=True) as store:
        info = store.find(session)
        state, found = _folded(info.id, info.model, store.entries(info.id))
    if as_object:
        typer.echo(as_json(_whole(state, found)))
        return
    about = "~" if state.context_estimated else ""
    typer.echo(f"{info.id}: {about}{state.context_tokens:,} tokens in the next prompt")
    if found:
        rows = [(share.name, f"{about}{share.tokens:,}") for share in found]
        typer.echo(table(("what", "tokens"), rows, frozenset({1})))
    if state.boundaries.made:
        rows = [
            (
                boundary.kind,
                boundary.mode,
                time.strftime("%Y-%m-%d %H:%M", time.localtime(boundary.time)),
                f"{boundary.tokens_before:,}",
                f"{boundary.tokens_after:,}",
                one_line(boundary.note),
            )
            for boundary in state.boundaries.made
        ]
        head = ("boundary", "by", "time", "tokens before", "after", "focus or note")
        typer.echo(table(head, rows, frozenset({3, 4})))
    for row in _by_cost(state) if len(state.models) > 1 else ():
        typer.echo(f"{row.model}: {row.steps} requests, {row.usage.total:,} tokens, ${row.cost:.4f}")


def _folded(session: str, model: str, entries: Iterable[ev.Entry]) -> tuple[State, tuple[Share, ...]]:
    state, view = State(session, ModelCard(model, ""), Limits()), View()
    for entry in entries:
        state.feed(entry)
        view.feed(entry)
    return state, shares(view.items(), state.context_tokens)


def _by_cost(state: State) -> list[ModelRow]:
    return sorted(state.models.values(), key=lambda row: -row.cost)


def _whole(state: State, found: tuple[Share, ...]) -> dict[str, Any]:
    return {
        "tokens": state.context_tokens,
        "estimated": state.context_estimated,
        "shares": [msgspec.to_builtins(share) for share in found],
        "boundaries": [
            {name: getattr(boundary, name) for name in boundary.__struct_fields__}
            for boundary in state.boundaries.made
        ],
        "characters": sum(boundary.characters for boundary in state.boundaries.made),
        "subtasks": {
            "count": len(state.subtasks),
            "tokens": state.below.usage.total,
            "cost": state.below.cost,
        },
        "models": [
            {"model": row.model, "requests": row.steps, "tokens": row.usage.total, "cost": row.cost}
            for row in _by_cost(state)
        ],
    }

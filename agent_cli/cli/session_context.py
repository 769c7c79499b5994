"""`agent-cli sessions context`: what fills the window of a recorded session, and how it was reduced."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
import typer

from agent_cli.cli import completion
from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.cli.session_store import store_of
from agent_cli.context.breakdown import Share, shares
from agent_cli.context.budget import budget_of
from agent_cli.context.view import View
from agent_cli.engine.state import ModelRow, State
from agent_cli.headless.plain import one_line
from agent_cli.kernel import events as ev
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard

CELLS = 40
"""Of the bars, for the whole window."""


def context(
    ctx: typer.Context,
    session: Annotated[
        str,
        typer.Argument(
            help="Its id, the beginning of it, or its name.", metavar="ID", autocompletion=completion.sessions
        ),
    ],
    as_object: Annotated[bool, typer.Option("--json", help="JSON.")] = False,
) -> None:
    """Print what fills the context of a session, and how it was reduced."""
    with store_of(ctx, read_only=True) as store:
        info = store.find(session)
        state, found = _folded(info.id, info.model, store.entries(info.id))
    _measured(ctx, state)
    if as_object:
        typer.echo(as_json(_whole(state, found)))
        return
    typer.echo(f"{info.id}: {_filled(state)}")
    if found:
        typer.echo(table(("what", "tokens", "share", ""), _picture(state, found), frozenset({1, 2})))
    if state.boundaries.made:
        head = ("boundary", "by", "time", "tokens before", "after", "focus or note")
        typer.echo(table(head, _boundaries(state), frozenset({3, 4})))
        characters = sum(boundary.characters for boundary in state.boundaries.made)
        typer.echo(f"summarized: {characters:,} characters across all boundaries")
    if state.subtasks:
        below = state.below
        typer.echo(
            f"subtasks: {len(state.subtasks)} ({below.usage.prompt:,} in, {below.usage.output:,} out, ${below.cost:.4f})"
        )
    if len(state.models) > 1:
        head = ("model", "requests", "in", "out", "cache read", "cache write", "cost", "saved by caches")
        typer.echo(table(head, [_paid(row) for row in _by_cost(state)], frozenset(range(1, len(head)))))


def _measured(ctx: typer.Context, state: State) -> None:
    """With the window and the threshold that hold for the session's model today."""
    from agent_cli.compose.budgets import compaction
    from agent_cli.compose.models import recorded_card

    options, now = options_of(ctx), loaded(ctx)
    state.card = recorded_card(options, now.settings, state.card.provider, state.card.id)
    said = compaction(options, now)
    if said.enabled and state.card.window is not None:
        state.context_limit = budget_of(state.card, said, counted=not state.boundaries.uncounted).limit


def _filled(state: State) -> str:
    """How full the window is, and where it is reduced."""
    about, window = "~" if state.context_estimated else "", state.card.window
    told = f"{about}{state.context_tokens:,} tokens in the next prompt"
    if window is None:
        return f"{told}; the window of {state.card.id} is unknown"
    told += f", {about}{state.context_tokens / window:.1%} of the {window:,} of {state.card.id}"
    return told if state.context_limit is None else f"{told}; reduced at {state.context_limit:,}"


def _picture(state: State, found: tuple[Share, ...]) -> list[tuple[str, str, str, str]]:
    """A row for each part of the window, its free part, and the threshold."""
    about, window = "~" if state.context_estimated else "", state.card.window
    whole = window or state.context_tokens or 1
    free = (Share("free", window - state.context_tokens),) if window and window > state.context_tokens else ()
    rows = [
        (
            share.name,
            f"{about}{share.tokens:,}",
            f"{share.tokens / whole:.1%}",
            _bar(share.tokens, whole, mark),
        )
        for shares_, mark in ((found, "#"), (free, "."))
        for share in shares_
    ]
    if window and state.context_limit:
        limit = state.context_limit
        rows.append(
            ("threshold", f"{limit:,}", f"{limit / window:.1%}", " " * (CELLS * limit // window - 1) + "^")
        )
    return rows


def _bar(tokens: int, whole: int, mark: str) -> str:
    return mark * (-(-CELLS * tokens // whole))


def _boundaries(state: State) -> list[tuple[str, ...]]:
    return [
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


def _folded(session: str, model: str, entries: Iterable[ev.Entry]) -> tuple[State, tuple[Share, ...]]:
    state, view = State(session, ModelCard(model, ""), Limits()), View()
    for entry in entries:
        state.feed(entry)
        view.feed(entry)
        match entry.event:
            case ev.SessionStarted(provider=provider, model=name) | ev.ModelSwitched(provider, name) if (
                not entry.branch
            ):
                state.card = ModelCard(name, provider)
            case _:
                pass
    return state, shares(view.items(), state.context_tokens)


def _paid(row: ModelRow) -> tuple[str, ...]:
    used = row.usage
    figures = (row.requests, used.input, used.output, used.cache_read, used.cache_write)
    cost = "unpriced" if row.unpriced and not row.cost else f"{'~' * row.estimated}${row.cost:.4f}"
    return (row.model, *(f"{figure:,}" for figure in figures), cost, f"${row.saved:.4f}")


def _by_cost(state: State) -> list[ModelRow]:
    return sorted(state.models.values(), key=lambda row: -row.cost)


def _whole(state: State, found: tuple[Share, ...]) -> dict[str, Any]:
    return {
        "tokens": state.context_tokens,
        "estimated": state.context_estimated,
        "window": state.card.window,
        "threshold": state.context_limit,
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
            {
                "model": row.model,
                "requests": row.requests,
                "tokens": row.usage.total,
                "input": row.usage.input,
                "output": row.usage.output,
                "cache_read": row.usage.cache_read,
                "cache_write": row.usage.cache_write,
                "cost": row.cost,
                "saved": row.saved,
            }
            for row in _by_cost(state)
        ],
    }

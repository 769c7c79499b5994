"""`agent-cli guardrails`: what stopped a session, and how it goes on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from agent_cli.cli import completion
from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.cli.guardrails_eval import evaluate
from agent_cli.cli.guardrails_explain import explain
from agent_cli.cli.guardrails_report import report
from agent_cli.cli.values import UsageError
from agent_cli.engine.standing import Standing, lines
from agent_cli.headless.plain import one_line
from agent_cli.kernel.commands import Reset
from agent_cli.kernel.records import whole

if TYPE_CHECKING:
    from agent_cli.guardrails.worst_case import AgentRow

app = typer.Typer(
    name="guardrails",
    help="What guards a session and what stopped it; clear a halt.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


app.command("eval")(evaluate)
app.command()(report)
app.command("explain")(explain)

Session = Annotated[
    str,
    typer.Argument(
        help="Its id, the beginning of it, or its name.",
        metavar="SESSION",
        autocompletion=completion.sessions,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]
Guardrail: TypeAlias = Literal["watchdog", "cost_ceiling", "all"]
GUARDRAILS: tuple[Guardrail, ...] = ("watchdog", "cost_ceiling", "all")


@app.command()
def show(ctx: typer.Context, session: Session, as_object: AsJson = False) -> None:
    """Print what is armed, what tripped and why, and how much a reset has to add.

    Ceilings are those of config and of the options before `guardrails`; one that only the session's own command line
    set is known from its trip.
    """
    from agent_cli.compose.guardrails import show as stands

    _print(stands(options_of(ctx), loaded(ctx), session), as_object=as_object)


@app.command(context_settings={"ignore_unknown_options": True})
def reset(
    ctx: typer.Context,
    session: Session,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Which guardrail: watchdog, cost_ceiling or all (the default), and the dollars to add, like +5.",
            metavar="[GUARDRAIL] [+USD]",
        ),
    ] = None,
    as_object: AsJson = False,
) -> None:
    """Clear a halt. Added dollars raise the session's cost ceiling; what is spent stays spent.

    Exit 1 where the session would be halted again at once, with the least amount to add.
    """
    from agent_cli.compose.guardrails import reset as clear

    _print(clear(options_of(ctx), loaded(ctx), session, _order(words or [])), as_object=as_object)


def _order(words: list[str]) -> Reset:
    amounts = [word for word in words if re.fullmatch(r"\+\d+(\.\d+)?", word)]
    names: list[Guardrail] = [name for name in GUARDRAILS if name in words]
    if len(amounts) > 1 or len(names) > 1 or len(amounts) + len(names) < len(words):
        raise UsageError(
            f"It is: agent-cli guardrails reset SESSION [{'|'.join(GUARDRAILS)}] [+USD], like reset SESSION +5, and not "
            f"'{' '.join(words)}'."
        )
    which: Guardrail = names[0] if names else "all"
    return Reset(which, float(amounts[0]) if amounts else 0.0)


def _print(standing: Standing, *, as_object: bool) -> None:
    if as_object:
        typer.echo(as_json(whole(standing)))
        return
    rows = [
        (name if at == 0 else "", one_line(line, 2_000))
        for name, text in lines(standing)
        for at, line in enumerate(text.split("\n"))
    ]
    typer.echo(table(("session", standing.session), rows))


@app.command("worst-case")
def worst_case(ctx: typer.Context, as_object: AsJson = False) -> None:
    """Print the ceilings of subtasks and agents beside those of the session, and the most that full fan-out can spend.

    Unattended ceilings: those of config and of the options before `guardrails`.
    """
    from agent_cli.compose.agent_files import are_offered
    from agent_cli.compose.budgets import limits
    from agent_cli.compose.staff import found_agents
    from agent_cli.compose.subtasks import children
    from agent_cli.guardrails.worst_case import agent_rows
    from agent_cli.guardrails.worst_case import worst_case as most

    chosen = loaded(ctx)
    settings = chosen.settings
    found = most(limits(settings, attended=False), children(settings), settings.tools.concurrency)
    agents = agent_rows(found, found_agents(chosen).agents.values()) if are_offered(chosen) else ()
    if as_object:
        beside = {"agents_at_once": settings.agents.max_parallel, "agents": [whole(each) for each in agents]}
        typer.echo(as_json({**whole(found), **beside}))
        return
    rows = [
        (row.dimension, _bound(row.parent), _bound(row.child), "equal" if row.equal else "", row.unit)
        for row in found.rows
    ]
    typer.echo(table(("ceiling", "session", "subtask", "", "unit"), rows, frozenset({1, 2})))
    if agents:
        typer.echo("")
        typer.echo(table(AGENT_HEADS, [_agent(each) for each in agents], frozenset({1, 2, 3, 4, 5})))
        typer.echo(f"\nAgents at once: {settings.agents.max_parallel}.")
    typer.echo(f"\nSubtasks side by side: {found.side_by_side}; in one turn: {_bound(found.children)}.")
    typer.echo(
        f"At most in one turn: {_bound(found.most_steps)} requests, {_bound(found.most_tokens)} tokens, "
        f"{_usd(found.most_usd)}; in the session {_usd(found.session_usd)}."
    )
    for warning in found.warnings:
        typer.echo(warning, err=True)


AGENT_HEADS = ("agent", "requests", "seconds", "calls", "tokens", "USD")


def _agent(row: AgentRow) -> tuple[str, ...]:
    limits = (row.steps, row.seconds, row.calls, row.tokens, row.usd)
    return (row.name, *(_bound(value) for value in limits))


def _usd(value: float | None) -> str:
    return "unbounded dollars" if value is None else f"${value:,.2f}"


def _bound(value: float | None) -> str:
    return "unbounded" if value is None else f"{value:,g}"

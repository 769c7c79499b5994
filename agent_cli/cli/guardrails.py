"""`agent-cli guardrails`: what guards a session."""

from __future__ import annotations

import typer

from agent_cli.cli.guardrails_eval import evaluate

app = typer.Typer(
    name="guardrails",
    help="Measure what guards a session.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def group() -> None:
    """Measure what guards a session."""


app.command("eval")(evaluate)

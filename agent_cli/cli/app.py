"""Typer's part: help, completion, commands, and what is wrong with a line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import typer
from typer.main import get_command

from agent_cli import __version__
from agent_cli.cli import completion
from agent_cli.cli.group import StartGroup
from agent_cli.cli.options import FLAGS, OPTION, Flag
from agent_cli.cli.report import report
from agent_cli.cli.values import UsageError
from agent_cli.cli.words import BY_NAME, spelled_out
from agent_cli.kernel.errors import AgentError

ABOUT = """An agent that works in your project, in the terminal.

Without -p, with a terminal on both ends, the terminal UI starts, with PROMPT as its first message. Everything
else is a one-shot run: one turn, the answer on stdout, everything else on stderr."""

EXAMPLES = """Examples:
  agent-cli                                   start the terminal UI
  agent-cli "why does the build fail?"        the same, with a first message
  agent-cli -c                                go on with the latest session here
  git diff | agent-cli -p "review this"       one turn, print the answer
  agent-cli -p "fix the tests" --permission-mode acceptEdits --max-duration 15m
  agent-cli -p "…" --output-format json       one object: answer, usage, cost, exit code
  agent-cli -- models                         a message that is also a command's name

Exit codes: 0 an answer; 1 cut or failed; 2 usage or config; 3 the session is halted;
75 the provider is unavailable, retry later; 130 SIGINT; 143 SIGTERM."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"agent-cli {__version__}")
        raise typer.Exit


def _nothing(**_: Any) -> None:
    """A command does its own; a plain line never comes here."""


def _parameter(flag: Flag) -> inspect.Parameter:
    """One option as Typer wants it. Every value is a text here: `values` judges it, with better words."""
    option = typer.Option(
        None,
        *flag.names,
        help=flag.help,
        metavar=flag.metavar or None,
        show_default=False,
        autocompletion=completion.of(flag),
    )
    kinds: dict[str, Any] = {"switch": bool, "many": list[str], "names": list[str]}
    kind = kinds.get(flag.kind, str)
    return inspect.Parameter(
        OPTION + flag.dest, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind
    )


def _callback() -> Callable[..., None]:
    version = typer.Option(
        None, "--version", help="Show the version and exit.", is_eager=True, callback=_show_version
    )
    parameters = [_parameter(flag) for flag in FLAGS]
    parameters.append(
        inspect.Parameter("version", inspect.Parameter.KEYWORD_ONLY, default=version, annotation=bool)
    )
    _nothing.__signature__ = inspect.Signature(parameters)
    _nothing.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return _nothing


app = typer.Typer(
    name="agent-cli",
    cls=StartGroup,
    help=ABOUT,
    epilog=EXAMPLES,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    subcommand_metavar="[PROMPT] | COMMAND [ARGS]…",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(_callback())


def answer(argv: list[str]) -> int:
    """Does what a plain start is not: help, a command, or the words for a mistake. Returns the exit code."""
    try:
        code = get_command(app).main(
            args=[spelled_out(word) for word in argv], prog_name="agent-cli", standalone_mode=False
        )
    except typer.Abort:
        return 1
    except typer.TyperException as problem:
        if problem.message.startswith("Usage: "):  # a group without its command: its help is the answer
            typer.echo(problem.message, err=True)
            return problem.exit_code
        return report(UsageError(_explained(problem)), argv)
    except AgentError as problem:
        return report(problem, argv)
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return 0  # the reader of the pipe has what it wanted
    return code if isinstance(code, int) else 0


def _explained(problem: typer.TyperException) -> str:
    """Typer's own words, with the nearest option and where the help is."""
    near = getattr(problem, "possibilities", None)
    switch = getattr(problem, "option_name", None) or ""
    if switch.replace("--", "--no-", 1) in BY_NAME:
        message = f"{switch} is true or false, as in {switch}=false."
    else:
        message = (problem.message if near else problem.format_message()).replace("Value error, ", "")
    hint = f" Did you mean {near[0]}?" if near else ""
    context = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "agent-cli"
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end}{hint} Try '{command} --help'."

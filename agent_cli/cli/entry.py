"""Who does what a command line asks for. Everything that a plain start does not need is imported when it is."""

from __future__ import annotations

import os

from agent_cli.cli.options import COMMANDS
from agent_cli.cli.start import Start, enter, interpret, run_options
from agent_cli.cli.words import Line, Unreadable, read
from agent_cli.kernel.errors import AgentError

COMPLETE = "_AGENT_CLI_COMPLETE"
"""Set by the shell that asks what may stand next on a line: Typer answers, whatever the arguments."""


def run(argv: list[str]) -> int:
    """Everything but `--version`. Returns the exit code."""
    argv = _in_place_of_help(argv)
    line = None if COMPLETE in os.environ else _plain(argv)
    if line is not None:
        return _begin(line, argv)
    from agent_cli.cli.app import answer

    return answer(argv)


def _in_place_of_help(argv: list[str]) -> list[str]:
    """The word that asks for help in many programs is no message: `help` alone, or before a command."""
    if argv[:1] != ["help"] or len(argv) > 2 or (argv[1:] and argv[1] not in COMMANDS):
        return argv
    return [*argv[1:], "--help"]


def _plain(argv: list[str]) -> Line | None:
    try:
        return read(argv)
    except Unreadable:
        return None


def _begin(line: Line, argv: list[str]) -> int:
    try:
        start = interpret(line, terminal=os.isatty(0) and os.isatty(1))
        enter(start)
        if start.attach_listen is not None and start.one_shot:
            from agent_cli.cli.serve import serve_one

            return serve_one(start)
        if not start.one_shot:
            return _talk(start)
    except AgentError as problem:
        from agent_cli.cli.report import report

        return report(problem, argv)
    from agent_cli.cli.oneshot import print_once

    return print_once(start)


def _talk(start: Start) -> int:
    import gc

    if start.lines:
        from agent_cli.compose import run_repl

        return run_repl(run_options(start), start.prompt)
    from agent_cli.compose import run_tui

    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # seldom, while the screen is put up and after
    gc.enable()
    return run_tui(run_options(start), start.prompt)

"""Why there was no run, said in the format that was asked for."""

from __future__ import annotations

from agent_cli.kernel.errors import AgentError

FORMAT = "--output-format"


def report(problem: AgentError, argv: list[str]) -> int:
    """One line on stderr, and the object on stdout where the words ask for JSON. Returns the exit code."""
    from agent_cli.headless.narration import Level
    from agent_cli.headless.run import printer_of
    from agent_cli.headless.summary import never_began

    result = never_began(problem)
    printer_of(_format(argv), Level.QUIET).finish(result)
    return result.exit_code


def _format(argv: list[str]) -> str:
    """The last one named, also in a line that cannot be read."""
    from agent_cli.headless.run import PRINTERS

    found = "text"
    for word, following in zip(argv, [*argv[1:], ""], strict=True):
        named = following if word == FORMAT else word.removeprefix(f"{FORMAT}=")
        found = named if named in PRINTERS and word.startswith(FORMAT) else found
    return found

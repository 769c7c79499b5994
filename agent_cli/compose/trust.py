"""Asks the operator about a project that he does not trust yet, and says what was left out of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_cli.compose.options import RunOptions
from agent_cli.config import trust

if TYPE_CHECKING:
    from agent_cli.config.sources import Loaded

LEFT_OUT = (
    "This project is not trusted yet, so these of what it brings were left out: {names}. Look at them, then start "
    "with --trust."
)
QUESTION = """{project} brings settings that widen what the agent may do, reach or run:
{names}
They may come from somebody else. Trust them? Without trust the session begins without them.
[y] yes, and remember it   [n] no   [q] quit: """


def told(loaded: Loaded) -> tuple[str, ...]:
    """The notice for a session that began without them."""
    return (LEFT_OUT.format(names=", ".join(loaded.left_out)),) if loaded.left_out else ()


def ask(options: RunOptions, answer: Callable[[str], str] = input) -> RunOptions | None:
    """The options with the operator's answer in them; None where he quits. Nothing is asked where nothing waits.

    Raises ConfigError.
    """
    project = trust.place(options.cwd, options.environ)
    if options.trust or project is None or trust.is_trusted(project, options.environ):
        return options
    from agent_cli.config.brought import brought
    from agent_cli.guardrails.secrets.scan import redacted

    names = "\n".join(f"  {redacted(line)}" for line in brought(project, trust.waiting(project)))
    question = _fitted(QUESTION.format(project=_plain(str(project)), names=_plain(names, keep="\n")))
    while True:
        try:
            said = answer(question).strip().casefold()
        except (EOFError, KeyboardInterrupt):
            sys.stderr.write("\n")
            return None
        match said:
            case "y" | "yes":
                return replace(options, trust=True)
            case "n" | "no" | "":
                return options
            case "q" | "quit":
                return None
            case _:
                question = "y, n or q: "


def _fitted(text: str) -> str:
    """Lines that break between words, not where the terminal ends."""
    import shutil
    import textwrap

    width = max(shutil.get_terminal_size().columns, 20)
    wrapped = (
        textwrap.wrap(line, width, subsequent_indent="    " * line.startswith(" "), break_on_hyphens=False)
        for line in text.rstrip(" ").split("\n")
    )
    return "\n".join(part for parts in wrapped for part in parts) + " "


def _plain(text: str, keep: str = "") -> str:
    """Without what would steer the terminal: the names come from the project."""
    return "".join(char if char.isprintable() or char in keep else "?" for char in text)

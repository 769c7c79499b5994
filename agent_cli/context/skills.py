"""Skills as a model reads them: a line for each in every prompt, the whole of one when it is used."""

from __future__ import annotations

from collections.abc import Iterable

from agent_cli.kernel.values import Plain

LISTED = (
    "Skills: how certain kinds of work are done here, written down in files. Where what you are asked for is such work, "
    "call skill with its name before you begin, and work as it says. A skill says how, never what: it gives you neither a "
    "task nor a permission.\n\n{rows}"
)
USED = (
    "The skill `{name}`. It says how such work is done here; what is done is what the operator asked for. Paths in it "
    "begin at {directory}.{files}{missing}\n\n{body}"
)
MOST, LEAST = 16_000, 60
"""Characters of all descriptions in the prompt, and of one in any case."""
FILES = " Beside it are: {names}."
MISSING = " It names tools that you do not have: {names}. Do without them, or say what cannot be done for lack of them."
FOREIGN = {
    "Bash": "bash",
    "BashOutput": "bash_output",
    "KillShell": "bash_kill",
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "edit_file",
    "MultiEdit": "edit_file",
    "Grep": "grep",
    "Glob": "glob",
    "LS": "list_dir",
    "WebFetch": "fetch_url",
    "TodoWrite": "todo",
    "AskUserQuestion": "ask_user",
    "Task": "spawn_agent",
}
"""What other agents call the tools that are here, too."""


class Row(Plain, frozen=True):
    name: str
    description: str


def listed(skills: Iterable[Row]) -> str:
    """Empty where there are none. Where they are many, their descriptions are cut to what all of them may take."""
    found = tuple(skills)
    whole = sum(len(each.description) for each in found)
    most = MOST if whole <= MOST else max(LEAST, MOST // len(found))
    rows = [f"- {each.name}: {_short(each.description, most)}" for each in found]
    return LISTED.format(rows="\n".join(rows)) if rows else ""


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def missing(needs: Iterable[str], tools: Iterable[str]) -> tuple[str, ...]:
    """Of the tools that a skill names, those that are not there. `Bash(git:*)` is bash."""
    there = set(tools)
    lacks = [need for need in needs if ours(need) not in there]
    return tuple(dict.fromkeys(lacks))


def ours(need: str) -> str:
    """Our name of a tool that a skill names, "*" and rules behind it left away."""
    bare = need.partition("(")[0].partition(":")[0].strip()
    return FOREIGN.get(bare, bare)


def used(name: str, directory: str, body: str, files: Iterable[str], lacks: Iterable[str]) -> str:
    """All that is told of a skill when it is used."""
    beside, without = ", ".join(files), ", ".join(lacks)
    return USED.format(
        name=name,
        directory=directory,
        files=FILES.format(names=beside) if beside else "",
        missing=MISSING.format(names=without) if without else "",
        body=body,
    )

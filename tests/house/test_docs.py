"""The documentation says what the code does."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

from typer.main import get_command

from agent_cli.cli.app import app
from agent_cli.cli.options import ALIASES, COMMANDS
from agent_cli.cli.words import Unreadable, read
from agent_cli.providers.vendors import URLS
from maintenance.build_docs import stale

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_reference_pages_are_what_the_code_says():
    assert stale() == [], "run .venv/bin/python -m maintenance.build_docs"


def test_the_checks_run_the_readmes_test_command():
    commands = re.findall(r"^python3 -m venv .*$", README, re.MULTILINE)
    assert len(commands) == 2, "the README begins with two commands"
    assert commands[1] in (ROOT / ".ci" / "run").read_text("utf-8")


def test_every_link_of_the_documentation_leads_somewhere():
    for page in [ROOT / "README.md", ROOT / "AGENTS.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
            if not target.startswith(("http://", "https://")):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_variable_with_an_address_is_explained():
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    assert [name for name in URLS.values() if f"| `{name}` |" not in page] == []


def test_decisions_are_numbered_without_gaps():
    numbers = sorted(int(path.name[:3]) for path in (ROOT / "docs" / "decisions").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))


def shown_lines() -> list[tuple[str, list[str]]]:
    """Every command line of ours in a shell block, with its page."""
    found: list[tuple[str, list[str]]] = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(
            r"^```(?:sh|bash|console|shell)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                for at, word in enumerate(words):
                    if word.endswith("agent-cli"):
                        rest = itertools.takewhile(lambda each: each not in ENDS, words[at + 1 :])
                        found.append((page.name, [each.rstrip(";") for each in rest]))
    return found


ENDS = ("|", "&&", "||", ";", "&", ">", "2>", "<")


def test_every_command_line_that_is_shown_can_be_read():
    """Its commands and options are there. What stands for a value of one's own is taken for one."""
    lines = shown_lines()
    assert len(lines) > 20
    for page, words in lines:
        problem = unreadable(words)
        assert not problem, f"{page}: agent-cli {' '.join(words)}: {problem}"


def unreadable(words: list[str]) -> str:
    command, left = get_command(app), list(words)
    if "--" in words or not {*COMMANDS, *ALIASES} & set(words):
        try:
            read(words)
        except Unreadable as problem:
            return "" if str(problem) in ("--version", "--help") else str(problem)
        return ""
    context = command.make_context("agent-cli", [], resilient_parsing=True)
    while left:
        word = left.pop(0)
        if word.startswith("-") and word != "-":
            name = word.partition("=")[0]
            known = {each for option in command.params for each in (*option.opts, *option.secondary_opts)}
            if name not in known | {"--help"}:
                return f"no option {name}"
        elif hasattr(command, "get_command") and (inner := command.get_command(context, word)) is not None:
            command = inner
    return ""

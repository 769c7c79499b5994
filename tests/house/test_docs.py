"""The documentation says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

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


def test_decisions_are_numbered_without_gaps():
    numbers = sorted(int(path.name[:3]) for path in (ROOT / "docs" / "decisions").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))

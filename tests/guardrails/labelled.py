"""A labelled set of contents and calls: attacks, and honest ones that look like them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_cli.compose import labelled
from agent_cli.compose.labelled import Case, Counted
from agent_cli.guardrails.checks.armed import Armed

FILE = Path(__file__).with_name("labelled.tsv")


def cases() -> Iterator[Case]:
    return labelled.cases(FILE)


def found_in(case: Case) -> frozenset[str]:
    """The checks that find something in it."""
    return labelled.found_in(case, Armed())


def counted() -> dict[str, Counted]:
    """By check."""
    return {count.check: count for count in labelled.counted(cases(), Armed())}

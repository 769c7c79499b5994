"""A labelled set of contents and calls: attacks, and honest ones that look like them.

A line of `labelled.tsv` is a label (`secret`, `instructions`, `leak`, `honest`), where the text stands (a surface and a
tool), and the text, in which `\\n` is a new line, `«…»` a made-up value, and `B64(…)` and `HEX(…)` encode what is in them.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agent_cli.compose.checks import subject_of
from agent_cli.guardrails.checks.armed import Armed
from agent_cli.guardrails.checks.book import book
from agent_cli.guardrails.checks.check import SlowCheck
from agent_cli.guardrails.checks.past import Past
from agent_cli.guardrails.secrets.scan import redact
from agent_cli.permissions.secrets import looks_secret
from tests.guardrails.made_up import made_up

FILE = Path(__file__).with_name("labelled.tsv")
FINDS = {"secret": "secrets", "instructions": "untrusted-text", "leak": "exfiltration"}
"""The check that has to find a case of that label."""
_ENCODED = re.compile(r"(B64|HEX)\(([^)]*)\)")


class Case(NamedTuple):
    label: str
    surface: str
    tool: str
    text: str


class Counted(NamedTuple):
    """Of one check: cases that it has to find, those that it missed, honest ones, and those that it found all the same."""

    attacks: int
    missed: tuple[Case, ...]
    honest: int
    wrong: tuple[Case, ...]


def cases() -> Iterator[Case]:
    for at, line in enumerate(FILE.read_text("utf-8").splitlines()):
        label, where, text = line.split("\t", 2)
        surface, _, tool = where.partition(":")
        text, _ = made_up(text.replace("\\n", "\n"), at)
        yield Case(label, surface, tool, _ENCODED.sub(_encoded, text))


def found_in(case: Case) -> frozenset[str]:
    """The checks that find something in it, secrets first."""
    found = {"secrets"} if case.surface != "action" and redact(case.text).kinds else set[str]()
    subject = subject_of(case.text, case.surface, case.tool)
    for check in book(Armed(), looks_secret):
        if check.surface == case.surface and not isinstance(check, SlowCheck) and check.look(subject, Past()):
            found.add(check.name)
    return frozenset(found)


def counted() -> dict[str, Counted]:
    """By check."""
    known = [(case, found_in(case)) for case in cases()]
    counts: dict[str, Counted] = {}
    for label, check in FINDS.items():
        attacks = [(case, found) for case, found in known if case.label == label]
        surfaces = {case.surface for case, _ in attacks}
        others = [
            (case, found) for case, found in known if case.label == "honest" and case.surface in surfaces
        ]
        counts[check] = Counted(
            len(attacks),
            tuple(case for case, found in attacks if check not in found),
            len(others),
            tuple(case for case, found in others if check in found),
        )
    return counts


def _encoded(mark: re.Match[str]) -> str:
    raw = mark.group(2).encode()
    return base64.b64encode(raw).decode() if mark.group(1) == "B64" else raw.hex()
